"""What an archive is for: a platform, and a CUDA variant of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import Final, NewType

from ..errors import UsageError

__all__ = ["HOST_INDEPENDENT", "CudaVariant", "Platform", "is_plain_name", "parse_platform"]

Platform = NewType("Platform", str)

HOST_INDEPENDENT: Final = (Platform("source"), Platform("linux-all"))
"""The platform keys whose archives serve every host."""

# As container builders spell them. 64-bit Arm Linux has two builds that no such name tells apart.
_CONTAINER_SPELLINGS: Final = {
    "linux/amd64": (Platform("linux-x86_64"),),
    "linux/arm64": (Platform("linux-sbsa"), Platform("linux-aarch64")),
    "windows/amd64": (Platform("windows-x86_64"),),
    "windows/arm64": (Platform("windows-arm64"),),
}

_PLAIN_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?")
# Windows takes these for devices in every directory, whatever follows the first dot.
_DEVICE_NAME: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")

# CUDA majors have one or two digits, so that a bare 128 is not read as a major.
_KEY: Final = re.compile(r"cuda([1-9][0-9]?)(?:\.(0|[1-9][0-9]{0,2}))?")
_IN_FILE_NAME: Final = re.compile(r"_(cuda[0-9.]+)-archive\.")
_ASKED: Final = re.compile(r"(?:cuda|cu)?([1-9][0-9]?)(?:\.([0-9]{1,3})(?:\.[0-9]{1,3})?)?")
_ASKED_WHEEL_TAG: Final = re.compile(r"cu([1-9][0-9])([0-9]{1,2})")


def is_plain_name(text: str) -> bool:
    """Tell whether a key of a manifest may become a directory name, on every file system alike.

    Lower-case letters, digits, ``.``, ``_`` and ``-``, at most 64 of them, the first a letter or digit, the
    last no dot (Windows drops it), and not the name of a Windows device.
    """
    return bool(_PLAIN_NAME.fullmatch(text)) and not _DEVICE_NAME.fullmatch(text)


def parse_platform(text: str) -> tuple[Platform, ...]:
    """Return the platforms that a user's spelling may mean; two for ``linux/arm64`` alone.

    Platforms are an open set, so every plain name passes. ``UsageError`` for anything else.
    """
    if text in _CONTAINER_SPELLINGS:
        return _CONTAINER_SPELLINGS[text]
    if not is_plain_name(text):
        known = ", ".join(_CONTAINER_SPELLINGS)
        raise UsageError(
            f"{text!r:.60} is not a platform: a name such as linux-x86_64, or one of {known}",
            phase="platform",
        )
    return (Platform(text),)


@total_ordering
@dataclass(frozen=True, slots=True)
class CudaVariant:
    """The CUDA an archive is built for: a major, or rarely (``cuda13.4``) a major and a minor.

    Ordered by version; a bare major stands below its minors.
    """

    major: int
    minor: int | None = None

    @classmethod
    def of_key(cls, key: str) -> CudaVariant | None:
        """Read a manifest's variant key (``cuda13``, ``cuda13.5``); ``None`` for any other key."""
        match = _KEY.fullmatch(key)
        return None if match is None else cls._of_groups(match)

    @classmethod
    def asked(cls, text: str) -> CudaVariant:
        """Read a CUDA as users hold it: ``12``, ``12.8``, ``12.8.1``, ``cuda12``, ``cu12``, ``cu128``.

        Major and minor are kept. ``UsageError`` for anything else.
        """
        match = _ASKED.fullmatch(text) or _ASKED_WHEEL_TAG.fullmatch(text)
        if match is None:
            raise UsageError(
                f"{text!r:.60} is not a CUDA version: 12, 12.8, 12.8.1, cuda12, cu12 or cu128", phase="cuda"
            )
        return cls._of_groups(match)

    @classmethod
    def in_file_name(cls, relative_path: str) -> CudaVariant | None:
        """Read the variant from an archive's file name (``..._cuda13.4-archive.zip``), if it has one."""
        match = _IN_FILE_NAME.search(relative_path.rpartition("/")[2])
        return None if match is None else cls.of_key(match[1])

    @classmethod
    def _of_groups(cls, match: re.Match[str]) -> CudaVariant:
        major, minor = match.groups()
        return cls(int(major), None if minor is None else int(minor))

    @property
    def version(self) -> str:
        """The version alone: ``13`` or ``13.4``."""
        return str(self.major) if self.minor is None else f"{self.major}.{self.minor}"

    @property
    def alternatives(self) -> tuple[CudaVariant, CudaVariant]:
        """The variants that will do where this is wanted, the better first: with its minor, and the bare major."""
        return (self, CudaVariant(self.major))

    @property
    def name(self) -> str:
        """The manifest's spelling, also a level of every prefix: ``cuda13`` or ``cuda13.4``."""
        return f"cuda{self.version}"

    def within(self, limit: CudaVariant) -> bool:
        """Tell whether a driver for CUDAs up to ``limit`` runs this; a minor left open by either fits."""
        if self.major != limit.major or self.minor is None or limit.minor is None:
            return self.major <= limit.major
        return self.minor <= limit.minor

    def __str__(self) -> str:
        return self.name

    def __lt__(self, other: CudaVariant) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[int, int]:
        return (self.major, -1 if self.minor is None else self.minor)
