"""Install pinned archives of NVIDIA's, each into a verified, versioned prefix: python3 FILE --help.

One file that needs Python 3.8 or later and nothing else, on Linux and Windows. Written by `cudnn-redist export python`;
to change what it installs, export it again.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

# What is put in: the lock and its sources, as JSON, and the modules that install by them, as cudnn_redist has them.
PINS = ""
MODULES = {"": ""}
# The end of what is put in.

__all__ = ["main"]

_PACKAGE = "_cudnn_redist_installer"
_OLDEST = (3, 8)


class _Carried(importlib.abc.InspectLoader, importlib.abc.MetaPathFinder):
    """Finds and loads the modules that this file carries, under a package name of their own."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the import system's own
        target: ModuleType | None = None,  # noqa: ARG002 - the same
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != _PACKAGE or name not in MODULES:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=self.is_package(fullname))

    def get_source(self, fullname: str) -> str:
        return MODULES[fullname.partition(".")[2]]

    def is_package(self, fullname: str) -> bool:
        below = f"{fullname}.".partition(".")[2]
        return any(name.startswith(below) for name in MODULES if name != below[:-1])


def main(words: Sequence[str]) -> int:
    """Install what is pinned and return the exit code; ``words`` are those of the command line."""
    if sys.version_info < _OLDEST:
        sys.exit(f"{sys.argv[0]}: Python {'.'.join(map(str, _OLDEST))} or later is needed")
    if not any(isinstance(finder, _Carried) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Carried())
    try:
        command = importlib.import_module(f"{_PACKAGE}.export.standalone.command")
    except ModuleNotFoundError as error:
        sys.exit(f"{sys.argv[0]}: this Python was built without {error.name}, which is needed")
    code: int = command.main(PINS, words)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
