"""What goes wrong as a cuDNN is loaded: parts of another copy, parts that are gone, libraries that it needs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ..findings import Finding
from .system import real

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .copies import Copy, Library
    from .loader import Found, Loader, Loading

__all__ = ["copy_of", "faults_of_loading", "missing_companions"]

_COMPANIONS = (("libnvrtc.so.", "nvrtc-missing"), ("libcublasLt.so.", "cublaslt-missing"))


def copy_of(library: Library, copies: Sequence[Copy]) -> Copy | None:
    """Return the copy that a library belongs to, under the name by which it was found or behind its links."""
    homes = (real(library.path.parent), real(library.path).parent)
    return next(
        (copy for home in homes for copy in copies if copy.directory == home and _has(copy, library)), None
    )


def faults_of_loading(loading: Loading, copies: Sequence[Copy]) -> Iterator[Finding]:
    """Yield what goes wrong from the start of ``loading`` on."""
    home = copy_of(loading.start.library, copies)
    where = str(loading.start.library.path)
    for other, names in _strangers(loading, home, copies).items():
        yield from _mixed(loading, home, other, names, copies)
    for name in loading.absent:
        code = "zlib-missing" if name.startswith("libz.") else "part-missing"
        command = home.mend if home and code == "part-missing" else None
        detail = f"{loading.asking[name].path.name} needs {name}, and the loader does not find it"
        yield Finding(code=code, where=where, detail=detail, command=command)


def missing_companions(loading: Loading, copy: Copy, loader: Loader) -> Iterator[Finding]:
    """Yield NVRTC and cuBLASLt where the loader would not find them for ``copy``: cuDNN opens them by name."""
    asking = next((each for name, each in loading.found.items() if "graph" in name), loading.start)
    for prefix, code in _COMPANIONS:
        name = f"{prefix}{copy.cuda or ''}"
        if loader.find_like(name, (asking.library, loading.start.library)) is None:
            detail = f"the loader finds no {name}{'' if copy.cuda else '*'}"
            yield Finding(code=code, where=str(copy.directory), detail=detail)


def _strangers(loading: Loading, home: Copy | None, copies: Sequence[Copy]) -> dict[Copy | Path, list[str]]:
    """Return the parts that come from elsewhere, by the copy, or else the directory, that they come from."""
    strangers: dict[Copy | Path, list[str]] = {}
    # What is refused does no harm where the copy has no such part; where it has one, that is hidden by it.
    hidden = {name: found for name, found in loading.refused.items() if home and name in home.libraries}
    for name, found in sorted((hidden | loading.found).items()):
        other: Copy | Path = copy_of(found.library, copies) or found.library.path.parent
        if "cudnn" in name and other not in (home, loading.start.library.path.parent):
            strangers.setdefault(other, []).append(name)
    return strangers


def _mixed(
    loading: Loading, home: Copy | None, other: Copy | Path, names: list[str], copies: Sequence[Copy]
) -> Iterator[Finding]:
    directory, theirs = (other, None) if isinstance(other, Path) else (other.directory, other.version)
    mine = home.version if home else None
    same = mine is not None and mine == theirs
    parts: dict[str, list[str]] = {}
    for name in names:
        shipped = home is not None and name in home.libraries
        if same and shipped:
            parts.setdefault("shadowed", []).append(name)
        elif not same:
            asked_by = copy_of(loading.asking[name], copies)
            code = "set-mixed" if shipped or asked_by is other else _gap(loading, home, name, asked_by)
            parts.setdefault(code, []).append(name)
    for code, taken in parts.items():
        found = [loading.found.get(name) or loading.refused[name] for name in taken]
        ways = dict.fromkeys(each.way for each in found)
        detail = (
            f"{', '.join(taken)} would come from {theirs or 'an unknown release'} in {directory} "
            f"({', '.join(ways)}), beside {mine or 'an unknown release'}"
        )
        where, command = str(loading.start.library.path), _way_out(found)
        yield Finding(code=code, where=where, detail=detail, command=command)


def _gap(loading: Loading, home: Copy | None, name: str, asked_by: Copy | None) -> str:
    """Return what it means that a part which is not shipped comes from elsewhere.

    The graph library opens its engines before it works at all, while libcudnn itself opens a part only when a program
    calls for it, which one written for cudnn_jit does not.
    """
    is_main = loading.asking[name].path.name.startswith("libcudnn.so")
    return "gap-filled" if home is not None and asked_by is home and not is_main else "gap-open"


def _way_out(found: Sequence[Found]) -> str | None:
    """Return the command that takes what was found out of the loader's way, where a variable led to it."""
    # What a stranger's own RPATH leads to goes with the stranger.
    led = [each for each in found if not each.way.startswith(("RPATH", "RUNPATH"))]
    ways = {each.way for each in led}
    if "LD_PRELOAD" in ways:
        name, listed = "LD_PRELOAD", "tr ' :' '\\n\\n' | grep -v libcudnn | paste -sd:"
    elif ways == {"LD_LIBRARY_PATH"}:
        name, listed = "LD_LIBRARY_PATH", _without(led)
    else:
        return None
    return f'export {name}="$(echo "${name}" | {listed})"'


def _without(found: Sequence[Found]) -> str:
    """Return what filters the directories of libraries out of a list, spelled as there: with what links they have."""
    directories = (str(each.library.path.parent).partition("/glibc-hwcaps/")[0] for each in found)
    patterns = (f"-e {shlex.quote(each)} -e {shlex.quote(each + '/')}" for each in dict.fromkeys(directories))
    return f"tr : '\\n' | grep -vxF {' '.join(patterns)} | paste -sd:"


def _has(copy: Copy, library: Library) -> bool:
    return library.path.name in copy.libraries or real(library.path).name.startswith(tuple(copy.libraries))
