"""``preload``: a whole cuDNN loaded into this process before anybody else loads one.

cuDNN opens its parts by bare names, and a name that is loaded already is not looked for. So whoever loads the whole
set by absolute path, before torch, jax or onnxruntime are imported, decides which cuDNN they get, whatever
``LD_LIBRARY_PATH`` and the loader's cache say.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..binaries import NotABinary, read_binary
from ..errors import NotAvailableError
from ..findings import Finding
from ..maps import mapped_files
from ..prefix.installed import Prefix
from ..prefix.libraries import is_library, named_not_shipped
from .loading import unfit_here

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..binaries import Binary

__all__ = ["Preloaded", "preload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preloaded:
    """What ``preload`` has done.

    ``loaded`` are the libraries of the prefix that this process has now, in the order of loading; ``elsewhere`` those
    of cuDNN that it has from other places (told on Linux alone). ``findings`` say what keeps the prefix from being
    the one cuDNN of this process: with none, it is ``promised``.
    """

    loaded: tuple[Path, ...]
    elsewhere: tuple[Path, ...]
    findings: tuple[Finding, ...]

    @property
    def promised(self) -> bool:
        """Whether every part that this cuDNN may ask for is here, loaded, and of the prefix."""
        return not self.findings


def preload(prefix: Prefix | str | Path, *, global_symbols: bool = False) -> Preloaded:
    """Load all of the cuDNN of ``prefix`` into this process, each library after those it needs.

    To be called before torch, jax or onnxruntime are imported. Where this process has a cuDNN from elsewhere already,
    nothing is loaded: two would mix. Where the set names a library that it does not have (``named-not-shipped``), all
    there is is loaded, and nothing promised: cuDNN may take that one from elsewhere. ``global_symbols`` lets
    libraries that are loaded later see those of cuDNN, which few want. On Windows the directory of the DLLs is also
    put first on ``PATH`` and among the DLL directories. Who loads another cuDNN by its absolute path gets that one.

    Raises ``NotInstalled`` or ``PrefixError`` where ``prefix`` is a path that holds no sound one, and
    ``NotAvailableError`` where it has no cuDNN library, or is made for another platform than this machine.
    """
    prefix = prefix if isinstance(prefix, Prefix) else Prefix.open(Path(prefix))
    paths = [entry.path for entry in prefix.record.entries if entry.kind == "file" and is_library(entry.path)]
    unfit = unfit_here(prefix.record) if paths else "it has no library of cuDNN"
    if unfit:
        raise NotAvailableError(f"cannot be loaded: {unfit}", phase="preload", where=prefix.path)
    home = prefix.path.resolve()
    before = _strangers(home)
    if before:
        found = [_finding("loaded-before", path, "this process had it before") for path in before]
        return Preloaded(loaded=(), elsewhere=before, findings=tuple(found))
    findings: list[Finding] = []
    ordered = _in_order(home, paths, findings)
    names = {entry.path.rpartition("/")[2] for entry in prefix.record.entries}
    findings += named_not_shipped(ordered, names)
    _lead_windows(prefix)
    loaded = tuple(_loaded([home / path for path in ordered], findings, global_symbols=global_symbols))
    elsewhere = _strangers(home)
    findings += (
        _finding("shadowed", path, "came along in place of a part of this prefix") for path in elsewhere
    )
    return Preloaded(loaded=loaded, elsewhere=elsewhere, findings=tuple(findings))


def _in_order(home: Path, paths: Sequence[str], findings: list[Finding]) -> Mapping[str, Binary]:
    """Return the libraries, each after those that the loader would bring with it; what is none goes to ``findings``."""
    read: dict[str, Binary] = {}
    for path in paths:
        try:
            read[path] = read_binary(home / path)
        except (NotABinary, OSError) as error:
            findings.append(_finding("load-failed", path, str(error)))
    by_soname = {binary.soname or path.rpartition("/")[2]: path for path, binary in read.items()}
    ordered: dict[str, Binary] = {}
    under_way: set[str] = set()

    def add(path: str) -> None:
        if path in ordered or path in under_way:
            return
        under_way.add(path)
        for name in read[path].needed:
            if name in by_soname:
                add(by_soname[name])
        ordered[path] = read[path]

    for path in read:
        add(path)
    return ordered


def _loaded(paths: Sequence[Path], findings: list[Finding], *, global_symbols: bool) -> Iterator[Path]:
    mode = ctypes.RTLD_GLOBAL if global_symbols else ctypes.RTLD_LOCAL
    for path in paths:
        try:
            ctypes.CDLL(str(path), mode=mode)
        except OSError as error:
            wants_driver = sys.platform != "win32" and "libcuda.so" in str(error)
            findings.append(_finding("driver-missing" if wants_driver else "load-failed", path, str(error)))
        else:
            yield path


def _lead_windows(prefix: Prefix) -> None:
    """Let the DLLs be found by their names too: Python looks among its DLL directories, other code on ``PATH``."""
    directory = prefix.bin_dir
    if sys.platform == "win32" and directory is not None:
        os.add_dll_directory(str(directory))
        os.environ["PATH"] = os.pathsep.join(filter(None, (str(directory), os.environ.get("PATH"))))


def _strangers(home: Path) -> tuple[Path, ...]:
    """Return the libraries of cuDNN that this process has from outside ``home``.

    One that has been replaced since is among them: its path now leads to another file.
    """
    try:
        mapped = mapped_files("self")
    except OSError:
        return ()
    strange = {Path(file.path) for file in mapped if file.deleted or not Path(file.path).is_relative_to(home)}
    return tuple(sorted(path for path in strange if is_library(path.name)))


def _finding(code: str, where: object, detail: str) -> Finding:
    return Finding(code=code, where=str(where), detail=detail)
