"""File systems mounted for one test: small ones, full ones, layered ones. The right to mount is needed."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self

import pytest

if TYPE_CHECKING:
    from pathlib import Path

BALLAST = "ballast"


class Mounts:
    """Mounts that end with the ``with`` block, the last one first."""

    def __init__(self) -> None:
        self._ends = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._ends.close()

    def tmpfs(self, place: Path, size: str, *options: str) -> Path:
        """Mount an empty file system in memory at ``place`` and return that; sizes as in tmpfs(5)."""
        return self._mount(place, "-t", "tmpfs", "-o", ",".join((f"size={size}", *options)), "none")

    def ext4(self, place: Path, image: Path, size: int) -> Path:
        """Mount a file system of 1 KiB blocks, made in a file; its directories grow block by block."""
        with image.open("wb") as file:
            file.truncate(size)
        plain = ("-O", "^has_journal,^dir_index,^inline_data", "-m", "0", "-b", "1024")
        subprocess.run(["mkfs.ext4", "-q", *plain, str(image)], check=True)
        return self._mount(place, "-o", "loop", str(image))

    def overlay(self, place: Path, *, lower: Path, scratch: Path) -> Path:
        """Lay an empty upper layer over ``lower``, as a container does with its image."""
        for name in ("upper", "work"):
            (scratch / name).mkdir()
        layers = f"lowerdir={lower},upperdir={scratch / 'upper'},workdir={scratch / 'work'}"
        return self._mount(place, "-t", "overlay", "-o", layers, "none")

    def read_only(self, place: Path) -> None:
        """Let nobody write below a place that was mounted here."""
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)

    def _mount(self, place: Path, *words: str) -> Path:
        place.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["mount", *words, str(place)], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no right to mount here: {done.stderr}")
        self._ends.callback(_unmount, place)
        return place


def _unmount(place: Path) -> None:
    """Unmount; where somebody still looks, the place is free at once and the file system ends with the last look."""
    if subprocess.run(["umount", str(place)], capture_output=True, check=False).returncode:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> None:
    """Leave no block free on the file system of the directory ``place``."""
    with (place / BALLAST).open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    with (place / BALLAST).open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(512))


def fill_names(directory: Path) -> None:
    """Leave no room for another name in the blocks that ``directory`` has; there must be no block free."""
    for length in (200, 50, 10, 1):
        with suppress(OSError):
            for number in range(10_000):
                (directory / f"{number:0{length}}"[:length]).touch(exist_ok=False)
