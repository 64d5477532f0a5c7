"""What an ordinary user may not do is exit 7 with a reason, and stops nothing that need not stop."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, leftovers, reason
from redist.command import Completed, run_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from redist import RedistServer, RedistTree

SETPRIV = shutil.which("setpriv")
AS_ROOT = hasattr(os, "getuid") and os.getuid() == 0

pytestmark = pytest.mark.skipif(
    os.name == "nt" or (AS_ROOT and SETPRIV is None), reason="needs the rights of an ordinary user"
)


def as_ordinary_user(*words: str | Path) -> Completed:
    """Run the command without the privilege to pass over permissions, which root has."""
    # Not as "nobody": the interpreter may lie where only its owner looks.
    bare = [SETPRIV or "setpriv", "--bounding-set=-all", "--inh-caps=-all"] if AS_ROOT else []
    kept = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    kept |= {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    command = [*bare, sys.executable, "-m", "cudnn_redist", *map(str, words)]
    done = subprocess.run(command, env=kept, capture_output=True, check=False, timeout=60)
    return Completed(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode(), seconds=0)


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A directory whose permissions a test takes away; they are given back."""
    folder = tmp_path / "closed"
    folder.mkdir()
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)


@pytest.mark.parametrize("below", ["", "below", "be/low"], ids=["root itself", "its parent", "further up"])
@pytest.mark.parametrize("mode", [0o555, 0o000], ids=["read-only", "no rights"])
def test_an_unwritable_root(redist_server: RedistServer, closed: Path, below: str, mode: int) -> None:
    root = closed / below
    closed.chmod(mode)
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    done = as_ordinary_user(*words)
    assert (done.code, done.out) == (7, "")
    assert str(closed) in reason(done)
    assert "Permission denied" in reason(done)
    if mode == 0o555:
        assert reason(done).endswith("; give a place that may be written to, by --root or --dest")
    assert redist_server.requests(".tar.xz") == []
    closed.chmod(0o755)
    assert list(closed.iterdir()) == []


@pytest.mark.parametrize("words", [("--dest",), ("--link",)], ids=["--dest", "--link"])
def test_an_unwritable_place_of_the_users_own(
    redist_tree: RedistTree, root: Path, closed: Path, words: tuple[str, ...]
) -> None:
    closed.chmod(0o555)
    source = ("--root", root, "--source", redist_tree.path)
    done = as_ordinary_user("fetch", "9.27.0", *CHOICE, *source, *words, closed / "here")
    assert (done.code, done.out) == (7, "")
    assert f"{closed / 'here'}: Permission denied" in reason(done)
    assert leftovers(root) == []
    assert list(closed.iterdir()) == []


def test_a_home_that_may_not_be_looked_into(
    redist_server: RedistServer, root: Path, clean_environment: Path
) -> None:
    clean_environment.chmod(0o000)
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    done = as_ordinary_user(*words)
    clean_environment.chmod(0o755)
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n"), done.err


def test_a_prefix_that_may_only_be_read_serves(redist_tree: RedistTree, closed: Path) -> None:
    words = ("--root", closed / "root", "--source", redist_tree.path)
    run_command("fetch", "9.27.0", *CHOICE, *words)
    for path in (closed / "root").rglob("*"):
        path.chmod(path.lstat().st_mode & 0o555) if not path.is_symlink() else None
    for command in ("fetch", "where"):
        done = as_ordinary_user(command, "9.27.0", *CHOICE, *words[: 4 if command == "fetch" else 2])
        assert (done.code, done.out) == (0, f"{closed / 'root' / PREFIX}\n")


def test_what_may_not_be_removed_stays_whole(redist_tree: RedistTree, closed: Path) -> None:
    root = closed / "root"
    run_command("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    (root / PREFIX).parent.chmod(0o555)
    done = as_ordinary_user("remove", "9.27.0", "--root", root)
    assert (done.code, done.out) == (7, "")
    assert reason(done).startswith(f"remove: {root / PREFIX}: ")
    assert run_command("verify", "9.27.0", "--root", root).code == 0


def test_a_file_that_may_not_be_read_is_found(redist_tree: RedistTree, closed: Path) -> None:
    root = closed / "root"
    run_command("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_tree.path)
    (root / PREFIX / "LICENSE").chmod(0o000)
    done = as_ordinary_user("verify", "9.27.0", "--root", root)
    assert done.code == 9
    assert "unreadable: LICENSE: Permission denied" in done.err
