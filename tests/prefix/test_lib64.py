from __future__ import annotations

from pathlib import Path

import pytest
from prefix.made import fill, names
from prefix.ordinary import run_as_ordinary_user

from cudnn_redist.prefix.lib64 import add_lib64
from cudnn_redist.prefix.record import Entry

LINK = Entry(path="lib64", kind="link", target="lib")


@pytest.mark.parametrize("platform", ["linux-x86_64", "linux-sbsa", "linux-aarch64"])
def test_a_linux_tree_gets_the_link_once(platform: str, tmp_path: Path) -> None:
    root = fill(tmp_path / "p")
    assert add_lib64(root, platform) == (LINK,)
    assert (root / "lib64").readlink() == Path("lib")
    assert (root / "lib64/libcudnn.so").resolve() == root / "lib/libcudnn.so.9.27.0"
    assert add_lib64(root, platform) == ()


@pytest.mark.parametrize("platform", ["windows-x86_64", "windows-arm64", "source"])
def test_no_other_tree_gets_it(platform: str, tmp_path: Path) -> None:
    root = fill(tmp_path / "p")
    assert add_lib64(root, platform) == ()
    assert names(root) == ["include", "lib"]


def test_a_tree_without_libraries_stays_as_it_is(tmp_path: Path) -> None:
    assert add_lib64(fill(tmp_path / "p", {"src/main.cpp": b""}, {}), "linux-all") == ()
    assert add_lib64(fill(tmp_path / "q", {"lib": b"a file"}, {}), "linux-x86_64") == ()


@pytest.mark.parametrize("there", ["directory", "file", "link", "dangling-link"])
def test_what_the_archive_has_under_that_name_stays(there: str, tmp_path: Path) -> None:
    root = fill(tmp_path / "p")
    match there:
        case "directory":
            (root / "lib64").mkdir()
        case "file":
            (root / "lib64").touch()
        case "link":
            (root / "lib64").symlink_to("include")
        case "dangling-link":
            (root / "lib64").symlink_to("nowhere")
    before = (root / "lib64").lstat()
    assert add_lib64(root, "linux-x86_64") == ()
    assert (root / "lib64").lstat() == before


ADD = """
import sys
from pathlib import Path
from cudnn_redist.prefix.lib64 import add_lib64
print(add_lib64(Path(sys.argv[1]), "linux-x86_64"))
"""


def test_a_place_where_no_link_can_be_made_does_without(tmp_path: Path) -> None:
    root = fill(tmp_path / "p")
    root.chmod(0o555)
    done = run_as_ordinary_user("-c", ADD, root)
    root.chmod(0o755)
    assert (done.stdout, done.stderr) == ("()\n", "")
    assert names(root) == ["include", "lib"]
