"""Cases of the kind "consumer": what those who build against a prefix and run with it rely on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cases.ground import LABEL
from cli.ground import leftovers, partials, reason
from redist import File, Link
from redist.command import Completed, run_command
from redist.content import default_content, version_header
from redist.libraries import elf_library

from cudnn_redist import Prefix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cases.ground import Fetch
    from redist import RedistTree
    from redist.content import Entry

RECORD = ".cudnn-redist.json"
SUBLIBRARIES = ("", "_adv", "_cnn", "_engines", "_ext", "_graph", "_heuristic", "_jit", "_ops")


def hold(tree: RedistTree, changes: Mapping[str, Entry | None], label: str = LABEL) -> None:
    """Let a release hold what it usually does, with ``changes`` (``None``: without that)."""

    def content(component: str, platform: str, version: str, variant: str | None) -> dict[str, Entry]:
        entries = {**default_content(component, platform, version, variant), **changes}
        return {path: entry for path, entry in entries.items() if entry is not None}

    tree.add_release(label, content=content)


def verified(prefix: Path | str) -> Completed:
    return run_command("verify", prefix)


OLD_HEADER = version_header("9.27.0.42").replace(b"#ifndef", b"#include <stddef.h>\r\n#ifndef")


@pytest.mark.parametrize(
    ("headers", "fault"),
    [
        pytest.param({}, None, id="in cudnn_version.h"),
        pytest.param(
            {"include/cudnn_version.h": None, "include/cudnn.h": File(OLD_HEADER)}, None, id="in cudnn.h"
        ),
        pytest.param({"include/cudnn_version.h": None}, None, id="nowhere"),
        pytest.param(
            {"include/cudnn_version.h": File(version_header("9.26.0"))},
            "include/cudnn_version.h: says 9.26.0, recorded as 9.27.0.42",
            id="another in cudnn_version.h",
        ),
        pytest.param(
            {"include/cudnn_version.h": None, "include/cudnn.h": File(version_header("9.27.1"))},
            "include/cudnn.h: says 9.27.1, recorded as 9.27.0.42",
            id="another in cudnn.h",
        ),
        pytest.param({"include/cudnn.h": File(version_header("8.9.7"))}, None, id="cudnn_version.h is first"),
    ],
)
def test_C79_the_version_of_the_headers_is_found_and_compared(
    fetch_local: Fetch, redist_tree: RedistTree, headers: Mapping[str, Entry | None], fault: str | None
) -> None:
    hold(redist_tree, headers)
    done = fetch_local()
    path = done.out.strip()
    found = verified(path)
    if fault is None:
        assert (found.code, found.out) == (0, f"{path}: as recorded\n"), found.err
    else:
        assert found.code == 9
        assert found.err.splitlines()[0].endswith(fault)
        assert reason(found).startswith(f"verify: {path}: 1 ")


def facts(done: Completed) -> dict[str, Any]:
    assert done.code == 0, done.err
    (prefix,) = json.loads(done.out)["prefixes"]
    return dict(prefix)


def test_C81_lib64_is_a_link_and_the_real_directories_are_told(fetch: Fetch) -> None:
    for words in ((), ("--force",), ()):
        told = facts(fetch(LABEL, "--json", *words))
        prefix = Path(told["path"])
        assert (told["include_dir"], told["lib_dir"]) == (str(prefix / "include"), str(prefix / "lib"))
        assert told["bin_dir"] is None
        assert str((prefix / "lib64").readlink()) == "lib"
        # A consumer that looks in lib64, and wants a file.
        assert (prefix / "lib64/libcudnn.so").read_bytes() == (prefix / "lib/libcudnn.so.9.27.0").read_bytes()
    assert verified(prefix).code == 0


def test_C81_on_windows_there_is_no_lib64_and_the_directories_are_those_of_the_archive(fetch: Fetch) -> None:
    told = facts(fetch(LABEL, "--platform", "windows-x86_64", "--json"))
    prefix = Path(told["path"])
    assert [
        Path(told[name]).relative_to(prefix).as_posix() for name in ("include_dir", "lib_dir", "bin_dir")
    ] == [
        "include",
        "lib/x64",
        "bin/x64",
    ]
    assert not os.path.lexists(prefix / "lib64")


def test_C81_an_archive_with_a_lib64_of_its_own_keeps_it(fetch: Fetch, redist_tree: RedistTree) -> None:
    hold(redist_tree, {"lib64/libother.a": File(b"!<arch>\n")})
    prefix = fetch.installed()
    assert not (prefix.path / "lib64").is_symlink()
    assert sorted(path.name for path in (prefix.path / "lib64").iterdir()) == ["libother.a"]


def library(name: str, version: str = "9.27.0") -> dict[str, Entry]:
    """Return a library with the names that linker and loader look for."""
    body = elf_library(soname=f"{name}.9", payload=name.encode())
    return {
        f"lib/{name}": Link(f"{name}.9"),
        f"lib/{name}.9": Link(f"{name}.{version}"),
        f"lib/{name}.{version}": File(body, 0o755),
    }


@pytest.fixture
def nine_libraries(redist_tree: RedistTree) -> RedistTree:
    """A release with all the libraries that cuDNN 9 opens by bare name."""
    added: dict[str, Entry] = {}
    for sub in SUBLIBRARIES:
        added |= library(f"libcudnn{sub}.so")
    hold(redist_tree, added)
    return redist_tree


@pytest.mark.usefixtures("nine_libraries")
@pytest.mark.parametrize("spoiled", ["missing", "of another release"])
def test_C83_a_set_of_libraries_with_a_wrong_one_is_named(fetch_local: Fetch, spoiled: str) -> None:
    prefix = fetch_local.installed()
    one = prefix.path / "lib/libcudnn_ops.so.9.27.0"
    one.unlink()
    if spoiled == "of another release":
        one.write_bytes(elf_library(soname="libcudnn_ops.so.9", payload=b"9.26.0"))
        one.chmod(0o755)
    found = verified(prefix.path)
    assert found.code == 9
    kind = "missing" if spoiled == "missing" else "changed"
    (line,) = (line for line in found.err.splitlines() if "lib/libcudnn_ops.so.9.27.0: " in line)
    assert kind in line
    # What is not whole is not taken for an installation either.
    again = fetch_local.installed(*((LABEL,) if spoiled == "missing" else (LABEL, "--force")))
    assert len(list(again.lib_dir.glob("libcudnn*.so.9.27.0"))) == len(SUBLIBRARIES)


def test_C83_an_archive_that_mixes_releases_is_found(fetch_local: Fetch, redist_tree: RedistTree) -> None:
    hold(redist_tree, library("libcudnn_cnn.so", "9.26.0"))
    path = fetch_local().out.strip()
    found = verified(path)
    assert found.code == 9
    assert found.err.splitlines()[0].endswith(
        "lib/libcudnn_cnn.so.9.26.0: says 9.26.0, recorded as 9.27.0.42"
    )


@pytest.mark.usefixtures("nine_libraries")
def test_C83_the_environment_puts_this_set_first_and_warns_of_another(
    fetch_local: Fetch, tmp_path: Path
) -> None:
    prefix = fetch_local.installed()
    other = tmp_path / "other"
    other.mkdir()
    (other / "libcudnn.so.9").write_bytes(elf_library(soname="libcudnn.so.9"))
    words = ("env", prefix.path, "--for", "loader", "--json")
    done = run_command(*words, env={"LD_LIBRARY_PATH": str(other)})
    assert done.code == 0, done.err
    paths = json.loads(done.out)["variables"]["LD_LIBRARY_PATH"].split(":")
    assert paths[0] == str(prefix.lib_dir)
    assert str(other) in paths[1:]
    assert any(str(other) in line for line in done.err.splitlines())
    # Of an incomplete set no environment is given.
    (prefix.lib_dir / "libcudnn_ops.so.9.27.0").unlink()
    assert run_command(*words).code == 9


def test_C83_a_set_is_published_complete_or_not_at_all(fetch: Fetch, nine_libraries: RedistTree) -> None:
    """The archive breaks off between the eighth library and the ninth."""
    data = nine_libraries.archive_path(LABEL).read_bytes()
    nine_libraries.replace_archive(data[: len(data) * 8 // 9], LABEL, update_manifest=True)
    assert fetch.refused(6).startswith("unpack: ")


def test_C85_one_directory_holds_one_version_and_one_variant(
    fetch: Fetch, redist_tree: RedistTree, tmp_path: Path
) -> None:
    redist_tree.add_release("9.1.1", version="9.1.1.17")
    redist_tree.add_release("9.2.0", version="9.2.0.82")
    dest = tmp_path / "third_party/cudnn"
    for label, cuda in (("9.1.1", "12"), ("9.1.1", "13"), ("9.2.0", "13")):
        done = fetch(label, "--cuda", cuda, "--dest", dest)
        assert (done.code, done.out) == (0, f"{dest}\n"), done.err
        record = Prefix.open(dest).record
        assert (record.label, record.variant) == (label, f"cuda{cuda}")
        libraries = {
            path.name for path in dest.rglob("libcudnn*") if path.is_file() and not path.is_symlink()
        }
        assert {name for name in libraries if ".so" in name} == {
            f"libcudnn{sub}.so.{label}" for sub in ("", "_graph", "_ops")
        }
        assert verified(dest).code == 0
    assert [path.name for path in dest.parent.iterdir()] == ["cudnn"]
    assert (leftovers(fetch.root), partials(fetch.root)) == ([], [])


def test_C86_the_record_lists_every_name_of_a_library_and_says_which_is_the_file(
    fetch: Fetch, tmp_path: Path
) -> None:
    prefix = fetch.installed().path
    files = {entry["path"]: entry for entry in json.loads((prefix / RECORD).read_bytes())["files"]}
    chain = [files[f"lib/{name}"] for name in ("libcudnn.so", "libcudnn.so.9", "libcudnn.so.9.27.0")]
    assert [(entry["kind"], entry.get("target")) for entry in chain] == [
        ("link", "libcudnn.so.9"),
        ("link", "libcudnn.so.9.27.0"),
        ("file", None),
    ]
    # Whoever copies what is listed gets what the loader asks for.
    copy = tmp_path / "vendored"
    copy.mkdir()
    for path in files:
        name = Path(path).name
        if name.startswith("libcudnn.so"):
            if files[path]["kind"] == "link":
                (copy / name).symlink_to(files[path]["target"])
            else:
                (copy / name).write_bytes((prefix / path).read_bytes())
    assert sorted(path.name for path in copy.iterdir()) == [
        "libcudnn.so",
        "libcudnn.so.9",
        "libcudnn.so.9.27.0",
    ]
    assert (copy / "libcudnn.so.9").read_bytes() == (prefix / "lib/libcudnn.so.9").read_bytes()


def test_C88_pkg_config_files_of_the_vendor_stay_as_they_are_and_that_is_told(
    fetch: Fetch, redist_tree: RedistTree
) -> None:
    vendor = b"cudaroot=/usr/local/cuda-11.7\nlibdir=${cudaroot}/lib64\nName: x\nVersion: 11.7\n"
    hold(redist_tree, {"pkg-config/x-11.7.pc": File(vendor)})
    done = fetch()
    prefix = Path(done.out.strip())
    told = [line for line in done.err.splitlines() if ".pc" in line]
    assert told == [f"{prefix}: the vendor's pkg-config files are not relocated: pkg-config/x-11.7.pc"]
    assert (prefix / "pkg-config/x-11.7.pc").read_bytes() == vendor
    assert verified(prefix).code == 0
    (prefix / "pkg-config/x-11.7.pc").write_bytes(vendor.replace(b"/usr/local/cuda-11.7", bytes(prefix)))
    rewritten = verified(prefix)
    assert rewritten.code == 9
    assert "file-changed: pkg-config/x-11.7.pc: " in rewritten.err


def test_C88_nothing_is_said_of_files_that_are_not_there(fetch: Fetch) -> None:
    assert "pkg-config" not in fetch().err
