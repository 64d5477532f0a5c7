"""Renames that Windows refuses while a scanner looks."""

from __future__ import annotations

import errno
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.renames import rename, replace

if TYPE_CHECKING:
    from collections.abc import Callable


class Held(type(Path())):  # type: ignore[misc]  # the class that Path makes on this system
    """A path that cannot be renamed before ``refusals`` were handed out."""

    refusals: list[OSError]

    def rename(self, target: Path) -> Path:
        self._refuse()
        return super().rename(target)

    def replace(self, target: Path) -> Path:
        self._refuse()
        return super().replace(target)

    def _refuse(self) -> None:
        if self.refusals:
            raise self.refusals.pop(0)


def refusal(winerror: int | None) -> OSError:
    error = PermissionError(errno.EACCES, "Access is denied")
    if winerror is not None:
        error.winerror = winerror  # type: ignore[attr-defined, unused-ignore]
    return error


def held(folder: Path, *winerrors: int | None) -> Held:
    path = Held(folder / "source")
    path.write_text("moved")
    path.refusals = [refusal(winerror) for winerror in winerrors]
    return path


both = pytest.mark.parametrize("move", [rename, replace])


@both
def test_a_file_that_is_looked_at_is_moved_a_little_later(
    move: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    source = held(tmp_path, 5, 32, 5)
    move(source, tmp_path / "target")
    assert (source.exists(), (tmp_path / "target").read_text()) == (False, "moved")


@both
@pytest.mark.parametrize("winerror", [None, 19], ids=["another system", "write-protected"])
def test_what_is_refused_for_good_is_not_waited_for(
    move: Callable[[Path, Path], None], winerror: int | None, tmp_path: Path
) -> None:
    source = held(tmp_path, winerror, winerror)
    with pytest.raises(PermissionError):
        move(source, tmp_path / "target")
    assert len(source.refusals) == 1


def test_patience_ends_after_some_seconds(tmp_path: Path) -> None:
    source = held(tmp_path, *[32] * 20)
    started = time.monotonic()
    with pytest.raises(PermissionError):
        rename(source, tmp_path / "target")
    assert 2 < time.monotonic() - started < 30
    assert source.exists()
