from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from prefix.made import fill, names

from cudnn_redist.errors import PrefixError
from cudnn_redist.prefix.link import point_link

if TYPE_CHECKING:
    from pathlib import Path


def test_a_link_is_made_with_its_directory_and_moved_on(tmp_path: Path) -> None:
    link = tmp_path / "opt/cudnn"
    for name in ("one", "two", "two"):
        point_link(link, tmp_path / name)
        assert link.readlink() == tmp_path / name
    assert names(link.parent) == ["cudnn"]


def test_a_dangling_link_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    point_link(tmp_path / "link", tmp_path)
    assert (tmp_path / "link").resolve() == tmp_path


def test_a_relative_prefix_is_linked_by_its_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prefix = fill(tmp_path / "p").relative_to(tmp_path)
    point_link(tmp_path / "deep/er/link", prefix)
    assert (tmp_path / "deep/er/link").resolve() == tmp_path / "p"


@pytest.mark.parametrize("there", ["file", "directory", "full-directory"])
def test_what_is_no_link_is_left_alone(there: str, tmp_path: Path) -> None:
    link = tmp_path / "link"
    match there:
        case "file":
            link.write_text("precious")
        case "directory":
            link.mkdir()
        case "full-directory":
            fill(link)
    before = names(tmp_path)
    with pytest.raises(PrefixError, match="exists and is no link") as caught:
        point_link(link, tmp_path)
    assert (caught.value.phase, caught.value.where) == ("link", str(link))
    assert names(tmp_path) == before
    assert not link.is_symlink()


def test_a_place_where_no_link_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PrefixError) as caught:
        point_link(tmp_path / "file/link", tmp_path)
    assert caught.value.phase == "link"
