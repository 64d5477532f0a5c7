"""What a cuDNN at hand is: by its name, by what is in it, and by what its owner says; these must not disagree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..binaries import Binary, NotABinary, read_binary
from ..errors import ArchiveError, UsageError
from ..manifest.targets import CudaVariant, is_plain_name, parse_platform
from ..prefix.headers import stated_below
from ..prefix.libraries import is_library

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Claims", "Identity", "identify", "named", "said_claims"]

_ARCHIVE = re.compile(
    r"(?P<component>cudnn(?:[_-]jit)?)-(?P<platform>(?:linux|windows)-[a-z0-9_]+)-(?P<version>[0-9]+(?:\.[0-9]+){2,3})"
    r"(?:_cuda(?P<cuda>[0-9]+(?:\.[0-9]+)?))?-archive(?:\..+)?"
)
_WHEEL = re.compile(
    r"nvidia_(?P<component>cudnn(?:_jit)?)_cu(?P<cuda>[0-9]+)-(?P<version>[0-9]+(?:\.[0-9]+){2,3})-.+-(?P<tag>[a-z0-9_.]+)"
    r"\.whl"
)
_WHEEL_PLATFORMS = {"x86_64": "linux-x86_64", "aarch64": "linux-sbsa", "amd64": "windows-x86_64"}
# Which platforms a library may be for; what ends the choice between two is its name, or what is said.
_PLATFORMS = {
    ("elf", "x86_64"): ("linux-x86_64",),
    ("elf", "aarch64"): ("linux-sbsa", "linux-aarch64"),
    ("elf", "ppc64le"): ("linux-ppc64le",),
    ("pe", "x86_64"): ("windows-x86_64",),
    ("pe", "aarch64"): ("windows-arm64",),
}
_FIRST_WITH_SHORT_LABELS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a name, or an owner, says; ``None`` where it is silent."""

    component: str | None = None
    version: str | None = None
    platform: str | None = None
    variant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a tree is; ``unproven`` are sentences about what had to be believed."""

    component: str
    version: str
    platform: str
    variant: str
    unproven: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The release: since 9 a label has three numbers, and four before."""
        numbers = self.version.split(".")
        return ".".join(numbers[:3]) if int(numbers[0]) >= _FIRST_WITH_SHORT_LABELS else self.version


def named(file_name: str) -> Claims:
    """Return what the name of an archive of NVIDIA's, its top folder, or a wheel says."""
    found = _ARCHIVE.fullmatch(file_name)
    if found is not None:
        component, platform = found["component"].replace("-", "_"), found["platform"]
    else:
        found = _WHEEL.fullmatch(file_name)
        if found is None:
            return Claims()
        ending = (end for end in _WHEEL_PLATFORMS if found["tag"].endswith(end))
        component, platform = found["component"], _WHEEL_PLATFORMS.get(next(ending, ""))
    variant = f"cuda{found['cuda']}" if found["cuda"] else None
    return Claims(component=component, version=found["version"], platform=platform, variant=variant)


def identify(root: Path, paths: Iterable[str], by_name: Claims, said: Claims, *, where: Path) -> Identity:
    """Return what the tree below ``root`` is; ``paths`` are its files and links.

    Raises ``ArchiveError`` for a tree without cuDNN, or one that is not what ``by_name`` has it, and ``UsageError``
    where what is ``said`` is not so, or something must be said.
    """
    libraries = _libraries(root, paths, where)
    component = _agreed("component", _component(libraries), by_name.component, said.component, where)
    platform = _platform(libraries, by_name, said, where)
    version, unproven = _version(_stated(root, libraries.values(), where), by_name, said, where)
    variant = said.variant or by_name.variant
    if variant is None:
        raise UsageError("nothing tells which CUDA it is for; say it with --cuda", phase="adopt", where=where)
    if by_name.variant is None:
        unproven.append(f"that it is for {variant} is only what was said")
    elif said.variant not in (None, by_name.variant):
        raise UsageError(f"is for {by_name.variant}, and not for {said.variant}", phase="adopt", where=where)
    return Identity(
        component=component, version=version, platform=platform, variant=variant, unproven=tuple(unproven)
    )


def _libraries(root: Path, paths: Iterable[str], where: Path) -> dict[str, Binary]:
    found: dict[str, Binary] = {}
    for path in paths:
        if is_library(path) and not (root / path).is_symlink():
            try:
                found[path] = read_binary(root / path)
            except NotABinary as error:
                raise ArchiveError(
                    f"is no library: {error}", phase="adopt", where=where, member=path
                ) from error
    if not found:
        raise ArchiveError("holds no library of cuDNN", phase="adopt", where=where)
    return found


def _component(libraries: Iterable[str]) -> str:
    """Return the component: only ``cudnn_jit`` has the graph library without the operations."""
    parts = [part for path in libraries for part in ("cudnn_ops", "cudnn_graph") if part in path]
    return "cudnn_jit" if "cudnn_graph" in parts and "cudnn_ops" not in parts else "cudnn"


def _platform(libraries: dict[str, Binary], by_name: Claims, said: Claims, where: Path) -> str:
    kinds = {(binary.format, binary.machine) for binary in libraries.values()}
    possible = {platform for kind in kinds for platform in _PLATFORMS.get(kind, ())}
    if len(kinds) != 1 or not possible:
        machines = ", ".join(sorted(f"{machine} ({form})" for form, machine in kinds))
        raise ArchiveError(f"its libraries are for {machines}", phase="adopt", where=where)
    if said.platform not in (None, *possible):
        raise UsageError(
            f"is for {' or '.join(sorted(possible))}, not for {said.platform}", phase="adopt", where=where
        )
    if by_name.platform not in (None, *possible):
        cause = f"is named for {by_name.platform}, and its libraries are for {' or '.join(sorted(possible))}"
        raise ArchiveError(cause, phase="adopt", where=where)
    chosen = {said.platform or by_name.platform} - {None} or possible
    if len(chosen) != 1:
        raise UsageError(
            f"may be for {' or '.join(sorted(possible))}; say it with --platform", phase="adopt", where=where
        )
    return str(chosen.pop())


def _version(stated: str | None, by_name: Claims, said: Claims, where: Path) -> tuple[str, list[str]]:
    found = by_name.version or stated
    if by_name.version and stated and _three(by_name.version) != stated:
        cause = f"is named as {by_name.version}, and what it holds is {stated}"
        raise ArchiveError(cause, phase="adopt", where=where)
    if said.version and found and _three(said.version) != _three(found):
        raise UsageError(f"its version is {found}, and not {said.version}", phase="adopt", where=where)
    version = by_name.version or said.version or stated
    if version is None:
        raise UsageError("nothing tells its version; say it with --as", phase="adopt", where=where)
    if stated is None:
        return version, [
            f"that it is {version} is only what was said"
            if said.version
            else "nothing in it tells its version"
        ]
    return version, []


def _stated(root: Path, libraries: Iterable[Binary], where: Path) -> str | None:
    """Return the release that the header and all libraries that have it among their constants agree on."""
    _, header = stated_below(root) or (None, None)
    releases = sorted({each.release for each in libraries if each.release})
    if len(releases) > 1:
        cause = f"its libraries are of {' and '.join(releases)}, which do not work together"
        raise ArchiveError(cause, phase="adopt", where=where)
    if header and releases and releases != [header]:
        cause = f"its headers say {header}, and its libraries are of {releases[0]}"
        raise ArchiveError(cause, phase="adopt", where=where)
    return header or next(iter(releases), None)


def _three(version: str) -> str:
    return ".".join(version.split(".")[:3])


def _agreed(what: str, found: str, by_name: str | None, said: str | None, where: Path) -> str:
    if said not in (None, found):
        raise UsageError(f"its {what} is {found}, and not {said}", phase="adopt", where=where)
    if by_name not in (None, found):
        raise ArchiveError(f"is named as {by_name}, and holds {found}", phase="adopt", where=where)
    return found


def said_claims(
    *, label: str | None, component: str | None, platform: str | None, cuda: str | None, where: Path
) -> Claims:
    """Return what the owner says; ``UsageError`` for words that make no sense."""
    if label is not None and not re.fullmatch(r"[0-9]+(?:\.[0-9]+){2,3}", label):
        raise UsageError(f"{label!r:.60} is no full version, such as 9.27.0", phase="adopt", where=where)
    if component is not None and not is_plain_name(component):
        raise UsageError(f"{component!r:.60} is no component", phase="adopt", where=where)
    platforms = parse_platform(platform) if platform else ()
    if len(platforms) > 1:
        raise UsageError(f"{platform} is {' or '.join(platforms)}: say which", phase="adopt", where=where)
    return Claims(
        component=component,
        version=label,
        platform=platforms[0] if platforms else None,
        variant=CudaVariant.asked(cuda).name if cuda else None,
    )
