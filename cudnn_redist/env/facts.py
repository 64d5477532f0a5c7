"""What of a prefix decides which variables lead to it, and whether they lead anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..generated.libraries import Contents, contents_of

if TYPE_CHECKING:
    from pathlib import PurePath

__all__ = ["Facts"]

_PACKAGE = "cmake/cudnn"
_PKG_CONFIG = "pkgconfig"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A prefix as its consumers see it.

    ``path`` is absolute and goes through no link that could be moved under a running job; the other directories lie
    below it. ``paths`` are all its files and links, relative to it; ``contents`` is what they say.
    """

    path: PurePath
    include_dir: PurePath
    lib_dir: PurePath
    bin_dir: PurePath | None
    version: str
    paths: frozenset[str]
    contents: Contents = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "contents", contents_of(self.paths))

    @property
    def is_whole(self) -> bool:
        """Whether there is more than the small set that only compiles engines when the program runs (jit)."""
        return "cudnn_ops" in self.contents.names or not self.version.startswith("9.")

    @property
    def link_file(self) -> PurePath | None:
        """The library that a linker takes, ``lib/libcudnn.so`` or ``lib/x64/cudnn.lib``, where there is one."""
        library = self.contents.shared_named("cudnn")
        return self.path / library.link_file if library and library.link_file else None

    @property
    def package_dir(self) -> PurePath | None:
        """The directory of the CMake package; prefixes made by the first versions of this tool have none."""
        return self._holding(_PACKAGE, "cudnn-config.cmake")

    @property
    def pkg_config_dir(self) -> PurePath | None:
        """The directory of the pkg-config files, where there are any."""
        return self._holding(_PKG_CONFIG, "cudnn.pc")

    def _holding(self, directory: str, name: str) -> PurePath | None:
        for lib in ("lib", "lib64"):
            if f"{lib}/{directory}/{name}" in self.paths:
                return self.path / lib / directory
        return None
