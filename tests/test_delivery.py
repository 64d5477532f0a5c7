"""Wrong, cut and damaged archives: what arrives as what error, after how many requests, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from redist.faults import (
    Changed,
    Cut,
    Extra,
    Fault,
    Flipped,
    Headers,
    IgnoreRange,
    NoLength,
    Page,
    Reset,
    Stall,
    Together,
    Truncated,
)
from source.ground import (
    TAR,
    archives,
    get,
    nothing_left,
    partials,
    patience_with,
    redist,
    stages,
)

from cudnn_redist.errors import (
    ArchiveError,
    DigestMismatch,
    IntegrityError,
    SizeMismatch,
)

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer, RedistTree

WINDOWS = {"platform": "windows-x86_64"}


def damaged_zip(data: bytes) -> bytes:
    """Break the directory at the end."""
    return data[:-60] + bytes(38) + data[-22:]


@pytest.mark.parametrize("fault", [Cut(30_000), Reset(30_000), Stall(30_000), NoLength(30_000)], ids=repr)
@pytest.mark.parametrize("choice", [{}, WINDOWS], ids=["tar", "zip"])
def test_unpacking_goes_on_where_the_line_failed(
    fault: Fault, choice: dict[str, str], redist_server: RedistServer, root: Path
) -> None:
    redist_server.fail("-archive." + ("zip" if choice else "tar.xz"), fault, fault)

    prefix = get(redist(redist_server), root=root, transfer=patience_with(fault), **choice)

    assert prefix.verify() == ()
    assert partials(root) == stages(root) == []


def test_a_whole_answer_to_a_range_starts_again_in_the_same_answer(
    redist_server: RedistServer, root: Path
) -> None:
    redist_server.fail(TAR, Cut(30_000), IgnoreRange())

    assert get(redist(redist_server), root=root).verify() == ()
    assert [request.range for request in archives(redist_server)] == [None, "bytes=30000-"]


def test_the_tail_of_another_file_costs_one_clean_start(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    size = redist_tree.archive_path("9.27.0").stat().st_size
    redist_server.fail(TAR, Cut(30_000), Changed(bytes(size), etag=None, deaf=True))

    assert get(redist(redist_server), root=root).verify() == ()
    assert [request.range for request in archives(redist_server)] == [None, "bytes=30000-", None]


def test_a_digest_that_is_wrong_after_a_resume_is_told_after_one_clean_start(
    redist_server: RedistServer, root: Path
) -> None:
    redist_server.fail(TAR, Together(Flipped(100), Cut(30_000)))
    redist_server.always(TAR, Flipped(100))
    with pytest.raises(DigestMismatch) as caught:
        get(redist(redist_server), root=root)

    cut, resumed, clean = archives(redist_server)
    assert (cut.range, resumed.range, clean.range) == (None, "bytes=30000-", None)
    assert clean.headers["cache-control"] == "no-cache"
    assert "cache-control" not in resumed.headers
    assert caught.value.exit_code == 5
    assert nothing_left(root)


@pytest.mark.parametrize(
    "fault",
    [
        Truncated(1000),
        Extra(),
        Flipped(0),
        Flipped(40000),
        Flipped(-1),
        Page(),
        Page("TLS handshake failed", "text/plain"),
        Together(Extra(), NoLength()),
    ],
    ids=["short", "long", "first-byte", "middle", "last-byte", "html", "text", "surplus"],
)
@pytest.mark.parametrize("choice", [{}, WINDOWS], ids=["tar", "zip"])
def test_a_stale_edge_is_asked_past_its_cache_once(
    fault: Fault, choice: dict[str, str], redist_server: RedistServer, root: Path
) -> None:
    suffix = ".zip" if choice else TAR
    redist_server.fail(suffix, fault)

    assert get(redist(redist_server), root=root, **choice).verify() == ()
    stale, good = redist_server.requests(suffix)
    assert "cache-control" not in stale.headers
    assert good.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        (Flipped(40_000), DigestMismatch, "sha256 is"),
        (Flipped(0), DigestMismatch, "sha256 is"),
        (Truncated(1000), SizeMismatch, "offers 1000 bytes"),
        (Truncated(0), SizeMismatch, "offers 0 bytes"),
        (Extra(), SizeMismatch, "offers"),
        (Page(), SizeMismatch, "looks like a web page"),
        (Together(Extra(), NoLength()), SizeMismatch, "more bytes than"),
    ],
    ids=["middle", "first", "short", "empty", "long", "html", "surplus"],
)
@pytest.mark.parametrize(
    "how", [{}, WINDOWS, {"options": {"verify_first": True}}], ids=["tar", "zip", "first"]
)
def test_wrong_bytes_are_a_fault_of_integrity_whatever_they_look_like(
    *,
    fault: Fault,
    kind: type[IntegrityError],
    told: str,
    how: dict[str, Any],
    redist_server: RedistServer,
    root: Path,
) -> None:
    suffix = ".zip" if how is WINDOWS else TAR
    redist_server.always(suffix, Together(fault, Headers({"Age": "77", "Via": "edge-3"})))
    with pytest.raises(kind, match=told) as caught:
        get(redist(redist_server), root=root, **how)

    assert len(redist_server.requests(suffix)) == 2
    assert "age: 77, via: edge-3" in str(caught.value)
    assert str(caught.value.where).startswith(redist(redist_server))
    assert nothing_left(root)


@pytest.mark.parametrize(
    "how", [{}, {"options": {"verify_first": True}}], ids=["overlapped", "verified-first"]
)
@pytest.mark.parametrize("place", ["http", "directory", "store"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_damaged_archive_with_the_right_digest_is_the_archives_fault(
    *,
    kind: str,
    place: str,
    how: dict[str, Any],
    redist_tree: RedistTree,
    redist_server: RedistServer,
    root: Path,
    tmp_path: Path,
) -> None:
    platform = "windows-x86_64" if kind == "zip" else "linux-x86_64"
    whole = redist_tree.archive_path("9.27.0", platform=platform).read_bytes()
    data = damaged_zip(whole) if kind == "zip" else whole[:20_000] + whole[20_100:]
    path = redist_tree.replace_archive(data, "9.27.0", platform=platform, update_manifest=True)
    source: object = redist_tree.path if place == "directory" else redist(redist_server)
    options = dict(how.get("options", {}))
    if place == "store":
        options["archives"] = tmp_path / "store"
        put_in_store(tmp_path / "store", redist_tree, path, platform=platform)
    with pytest.raises(ArchiveError) as caught:
        get(source, root=root, platform=platform, options=options)

    assert caught.value.exit_code == 6
    assert nothing_left(root)


def put_in_store(store: Path, tree: RedistTree, archive: Path, platform: str = "linux-x86_64") -> Path:
    sha256 = tree.manifest("9.27.0")["cudnn"][platform]["cuda13"]["sha256"]
    path = store / "sha256" / sha256[:2] / sha256
    path.parent.mkdir(parents=True)
    path.write_bytes(archive.read_bytes())
    return path


def test_a_wrong_kind_with_the_right_digest_is_the_archives_fault(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    redist_tree.replace_archive(b"<html>Please log in</html>", "9.27.0", update_manifest=True)
    with pytest.raises(ArchiveError, match="HTML"):
        get(redist(redist_server), root=root)

    assert nothing_left(root)


def test_the_error_names_the_manifest_that_promised(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path
) -> None:
    """C07: the manifest may be the one that is wrong, and a rerun must not trust the one it had."""
    good = redist_tree.manifest_path("9.27.0").read_bytes()
    redist_tree.edit_manifest("9.27.0", spoil_digest)
    with pytest.raises(DigestMismatch, match="its manifest of 2026-09-29 has sha256") as caught:
        get(redist(redist_server), root=root)
    redist_tree.manifest_path("9.27.0").write_bytes(good)

    assert (caught.value.expected, len(str(caught.value.actual))) == ("0" * 64, 64)
    assert get(redist(redist_server), root=root).verify() == ()


def spoil_digest(manifest: dict[str, Any]) -> None:
    manifest["cudnn"]["linux-x86_64"]["cuda13"]["sha256"] = "0" * 64
