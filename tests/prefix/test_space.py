from __future__ import annotations

import errno
import shutil
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.errors import PrefixError
from cudnn_redist.prefix.space import disk_errors, full_disk, require_space

if TYPE_CHECKING:
    from pathlib import Path

TOO_MUCH = 1 << 80


def test_what_fits_passes(tmp_path: Path) -> None:
    require_space([(tmp_path / "not/there/yet", 1), (tmp_path, 0)])
    require_space([])


def test_what_does_not_fit_is_told_with_both_numbers(tmp_path: Path) -> None:
    with pytest.raises(PrefixError, match=rf"needs about {TOO_MUCH:,} bytes, [\d,]+ are free") as caught:
        require_space([(tmp_path / "not/there/yet", TOO_MUCH)])
    assert (caught.value.phase, caught.value.where) == ("space", str(tmp_path))


def test_needs_on_one_file_system_add_up(tmp_path: Path) -> None:
    most = shutil.disk_usage(tmp_path).total * 2 // 3
    with pytest.raises(PrefixError, match=f"needs about {2 * most:,} bytes"):
        require_space([(tmp_path / "a", most), (tmp_path / "b", most)])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_is_told_with_both_numbers(number: int, tmp_path: Path) -> None:
    said = r": needs about 1,000 bytes in all, [\d,]+ are free"
    refused = OSError(number, "No space left on device")
    place = tmp_path / "p"
    with (
        pytest.raises(PrefixError, match=said) as caught,
        full_disk(needed=1000),
        disk_errors(place, phase="unpack"),
    ):
        raise refused
    assert (caught.value.phase, caught.value.where) == ("unpack", str(place))
    assert caught.value.__cause__ is refused


def test_other_faults_of_the_disk_are_not_its_size(tmp_path: Path) -> None:
    said = f"unpack: {tmp_path}: Permission denied"
    with pytest.raises(PrefixError) as caught, full_disk(needed=1), disk_errors(tmp_path, phase="unpack"):
        raise PermissionError(errno.EACCES, "Permission denied")
    assert str(caught.value) == said
