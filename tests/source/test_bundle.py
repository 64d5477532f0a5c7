"""A bundle is read in place, and one that is cut, damaged or something else is told as such."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING, Any

import pytest
from redist.archives import unpack_tar

from cudnn_redist.errors import ArchiveError, DigestMismatch, RedistError, UsageError
from cudnn_redist.mirroring.packing import content_of, write_bundle
from cudnn_redist.source.bundle import INDEX_NAME, Bundle, is_bundle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = {
    "cudnn/redist/redistrib_9.27.0.json": b"{}" * 300,
    "cudnn/redist/cudnn/linux-x86_64/archive.tar.xz": bytes(range(256)) * 20,
    "cudnn/redist/empty": b"",
    f"cudnn/redist/{'a_long_name_' * 12}": b"more than a hundred letters",
}


def written(files: dict[str, bytes] = FILES) -> bytes:
    """Return a bundle's bytes."""
    out = io.BytesIO()
    write_bundle(out, {place: content_of(data) for place, data in files.items()})
    return out.getvalue()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "some.bundle"
    found.write_bytes(written())
    return found


def indexed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a bundle whose index was changed in place, as a tar that is sound otherwise."""
    data = written()
    size = tarfile.TarInfo.frombuf(data[:512], "ascii", "strict").size
    index = json.loads(data[512 : 512 + size])
    change(index)
    return with_index(json.dumps(index).encode(), data[512 + -(-size // 512) * 512 :])


def with_index(index: bytes, rest: bytes) -> bytes:
    header = tarfile.TarInfo(INDEX_NAME)
    header.size = len(index)
    return header.tobuf() + index + bytes(-len(index) % 512) + rest


def test_every_file_is_found_where_it_lies(path: Path) -> None:
    bundle = Bundle.open(path)

    assert {place: bundle.read(place) for place in bundle.files} == FILES
    assert sorted(bundle.names("cudnn/redist")) == sorted(
        place.removeprefix("cudnn/redist/") for place in FILES if place.count("/") == 2
    )


def test_any_tar_unpacks_it(path: Path, tmp_path: Path) -> None:
    unpack_tar(path, tmp_path / "there")

    assert {place: (tmp_path / "there" / place).read_bytes() for place in FILES} == FILES


def test_the_same_files_give_the_same_bytes() -> None:
    assert written() == written(dict(reversed(FILES.items())))


def test_a_file_of_a_bundle_reads_as_one_of_its_own(path: Path) -> None:
    content = FILES["cudnn/redist/cudnn/linux-x86_64/archive.tar.xz"]
    with Bundle.open(path).open_file("cudnn/redist/cudnn/linux-x86_64/archive.tar.xz") as file:
        assert file.read(10) == content[:10]
        assert (file.tell(), file.seek(-5, io.SEEK_END)) == (10, len(content) - 5)
        assert (file.read(), file.read(1)) == (content[-5:], b"")
        assert (file.seek(7), file.seek(3, io.SEEK_CUR), file.read(2)) == (7, 10, content[10:12])
        assert (file.seek(len(content) + 9), file.read(1)) == (len(content) + 9, b"")


def test_a_bundle_that_was_cut_anywhere_is_damaged(path: Path) -> None:
    whole = path.read_bytes()
    lengths = [*range(512, len(whole), 512), len(whole) - 1, 700]

    for length in lengths:
        path.write_bytes(whole[:length])
        with pytest.raises(ArchiveError, match="cut short") as caught:
            Bundle.open(path)
        assert (caught.value.exit_code, caught.value.where) == (6, str(path))


def _entry(**fields: object) -> Callable[[dict[str, Any]], object]:
    return lambda index: index["files"]["cudnn/redist/empty"].update(fields)


def _named(place: str) -> Callable[[dict[str, Any]], object]:
    return lambda index: index["files"].update({place: index["files"].pop("cudnn/redist/empty")})


@pytest.mark.parametrize(
    ("data", "kind", "cause"),
    [
        (b"", UsageError, "no bundle"),
        (b"x" * 100, UsageError, "no bundle"),
        (b"\0" * 2048, UsageError, "no bundle"),
        (tarfile.TarInfo("other").tobuf() + bytes(1024), UsageError, "no bundle"),
        (written() + b"\0", ArchiveError, "bytes, where its index speaks of"),
        (indexed(lambda index: index.update(schema=2)), ArchiveError, "schema 2"),
        (indexed(lambda index: index.update(files={})), ArchiveError, "names no file"),
        (indexed(lambda index: index.update(files=[])), ArchiveError, "names no file"),
        (indexed(_entry(offset=-1)), ArchiveError, "-1"),
        (indexed(_entry(size=True)), ArchiveError, "True"),
        (indexed(_entry(offset=10**9)), ArchiveError, "cut short"),
        (indexed(_entry(sha256="abc")), ArchiveError, "abc"),
        (indexed(_named("../out")), ArchiveError, "out"),
        (indexed(_named("/etc/passwd")), ArchiveError, "passwd"),
        (indexed(_named("a//b")), ArchiveError, "a//b"),
        (with_index(b"not JSON", b""), ArchiveError, "its index: not JSON"),
        (with_index(b"[]", b""), ArchiveError, "not an object"),
        (with_index(b'{"schema": 1, "schema": 1}', b""), ArchiveError, "twice"),
    ],
    ids=[
        "empty",
        "text",
        "zeros",
        "another tar",
        "longer",
        "schema",
        "no file",
        "no object",
        "negative",
        "no number",
        "far out",
        "no digest",
        "climbing",
        "absolute",
        "empty part",
        "no JSON",
        "a list",
        "a key twice",
    ],
)
def test_what_is_no_sound_bundle_is_told(
    data: bytes, kind: type[RedistError], cause: str, tmp_path: Path
) -> None:
    path = tmp_path / "some.bundle"
    path.write_bytes(data)

    with pytest.raises(kind, match=cause) as caught:
        Bundle.open(path)

    assert caught.value.where == str(path)


def test_a_directory_and_a_missing_file_are_no_bundles(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", tmp_path / "missing" / "below"):
        assert not is_bundle(path)
        with pytest.raises(UsageError, match="no bundle"):
            Bundle.open(path)


def test_a_small_file_must_be_what_the_index_says(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data.replace(b"{}{}", b"{}[]", 1))

    with pytest.raises(DigestMismatch, match="the bundle's index says") as caught:
        Bundle.open(path).read("cudnn/redist/redistrib_9.27.0.json")

    assert caught.value.exit_code == 5
