"""What stops an installation, and what is left when it stops."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from installing import everything, leftovers, options, planned
from prefix.ordinary import run_as_ordinary_user
from redist import File, RedistServer, RedistTree
from redist.content import default_content
from redist.faults import Cut, Flipped, Status

from cudnn_redist import Prefix, install
from cudnn_redist.errors import (
    ArchiveError,
    ArchiveWithdrawn,
    DigestMismatch,
    ManifestError,
    PrefixError,
    TransferError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redist.content import Entry

ARCHIVE = ".tar.xz"
HUGE = 10**14


def test_a_failure_leaves_the_old_prefix_and_no_stage(redist_server: RedistServer, root: Path) -> None:
    made = planned(redist_server.url, root)
    (prefix,) = install(made)
    before = everything(root / "cudnn")
    redist_server.always(ARCHIVE, Flipped(at=5000))
    with pytest.raises(DigestMismatch):
        install(made, options=options(force=True))
    assert everything(root / "cudnn") == before
    assert leftovers(root) == []
    assert prefix.verify() == ()


def test_the_first_failure_ends_the_run_and_what_is_published_stays(
    redist_server: RedistServer, root: Path
) -> None:
    made = planned(redist_server.url, root, platform=["linux-x86_64", "linux-sbsa", "windows-x86_64"])
    redist_server.always(made.archives[1].name, Status(404))
    with pytest.raises(ArchiveWithdrawn, match="linux-sbsa"):
        install(made, options=options())
    assert Prefix.open(made.archives[0].prefix).verify() == ()
    assert not made.archives[1].prefix.exists()
    assert not made.archives[2].prefix.exists()
    assert redist_server.requests(made.archives[2].name) == []
    assert leftovers(root) == []
    redist_server.heal()
    fetched = len(redist_server.requests(made.archives[0].name))
    assert [prefix.path for prefix in install(made)] == [archive.prefix for archive in made.archives]
    assert len(redist_server.requests(made.archives[0].name)) == fetched


def test_a_broken_line_leaves_only_what_can_be_resumed(redist_server: RedistServer, root: Path) -> None:
    made = planned(redist_server.url, root)
    redist_server.fail(ARCHIVE, Cut(20_000))
    with pytest.raises(TransferError):
        install(made, options=options())
    assert not made.archives[0].prefix.exists()
    assert all(path.startswith(".partial/") for path in leftovers(root))
    (prefix,) = install(made, options=options())
    assert prefix.verify() == ()
    answered = [request for request in redist_server.requests(ARCHIVE) if request.status != 404]
    assert [(request.status, request.range) for request in answered] == [(200, None), (206, "bytes=20000-")]
    assert leftovers(root) == []


def test_no_digest_no_byte(redist_server: RedistServer, redist_tree: RedistTree, root: Path) -> None:
    """md5 is never enough; the archives before it in the plan are not fetched either."""
    redist_tree.edit_manifest("9.27.0", lambda node: node["cudnn"]["linux-sbsa"]["cuda13"].pop("sha256"))
    made = planned(redist_server.url, root, platform=["linux-x86_64", "linux-sbsa"])
    asked = len(redist_server.log)
    with pytest.raises(ManifestError, match="no sha256"):
        install(made)
    assert len(redist_server.log) == asked
    assert not root.exists()


def test_no_room_no_byte(redist_server: RedistServer, redist_tree: RedistTree, root: Path) -> None:
    redist_tree.edit_manifest(
        "9.27.0", lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].update(size=str(HUGE))
    )
    made = planned(redist_server.url, root)
    asked = len(redist_server.log)
    with pytest.raises(PrefixError, match=r"needs about [\d,]+ bytes, [\d,]+ are free; nothing was fetched"):
        install(made)
    assert len(redist_server.log) == asked
    assert not root.exists()


INSTALL = """
import sys
from pathlib import Path
from cudnn_redist import errors, fetch
try:
    print(fetch("9.27.0", platform="linux-x86_64", cuda="13", sources=[sys.argv[1]], root=sys.argv[2]).path)
except errors.RedistError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("mode", [0o555, 0o000], ids=["unwritable", "closed"])
@pytest.mark.parametrize("below", ["", "not/yet/there"], ids=["itself", "below"])
def test_a_root_that_may_not_be_written(redist_tree: RedistTree, root: Path, mode: int, below: str) -> None:
    root.mkdir()
    root.chmod(mode)
    done = run_as_ordinary_user("-c", INSTALL, redist_tree.path, root / below)
    assert done.stderr == ""
    assert done.stdout.startswith("PrefixError ")
    assert "Permission denied" in done.stdout
    root.chmod(0o755)
    assert everything(root) == {}


def test_an_ordinary_user_installs_over_read_only_files(redist_tree: RedistTree, root: Path) -> None:
    """C43: over a prefix whose directories were made read-only since."""
    root.mkdir()
    (prefix,) = install(planned(redist_tree.path, root))
    (prefix.path / "lib/libcudnn.so.9").unlink()
    for directory in ("lib", "include", "."):
        (prefix.path / directory).chmod(0o555)
    done = run_as_ordinary_user("-c", INSTALL, redist_tree.path, root)
    assert (done.stdout, done.stderr) == (f"{prefix.path}\n", "")
    assert prefix.verify() == ()
    assert leftovers(root) == []


def test_a_root_that_is_a_file(redist_tree: RedistTree, root: Path) -> None:
    root.write_text("precious")
    with pytest.raises(PrefixError) as caught:
        install(planned(redist_tree.path, root))
    assert caught.value.exit_code == 7
    assert root.read_text() == "precious"


def test_a_disk_that_fills_up(redist_tree: RedistTree, tmp_path: Path) -> None:
    """C59: the stage goes, earlier installs stay, needed and free are told. Needs the right to mount."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=700k", "none", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small file system")
    try:
        noise = {"lib/libcudnn.so.9.27.0": File(bytes(2_000_000), 0o755), "include/cudnn.h": File(b"x")}
        redist_tree.add_release("9.27.0", content=lambda *_: noise)
        (earlier,) = install(planned(redist_tree.path, small, "9.26.0"))
        with pytest.raises(PrefixError, match=r"No space left on device: needs about [\d,]+ .* are free"):
            install(planned(redist_tree.path, small))
        assert leftovers(small) == []
        assert earlier.verify() == ()
    finally:
        subprocess.run(["umount", small], check=True)


def test_an_archive_made_from_a_prefix_is_refused(redist_tree: RedistTree, root: Path) -> None:
    """It would bring a record of its own."""

    def content(*words: str) -> Mapping[str, Entry]:
        return {**default_content(*words), ".cudnn-redist.json": File(b"{}")}

    redist_tree.add_release("9.27.0", content=content)
    with pytest.raises(ArchiveError, match="made from an installed prefix") as caught:
        install(planned(redist_tree.path, root))
    assert caught.value.member == ".cudnn-redist.json"
    assert leftovers(root) == []
