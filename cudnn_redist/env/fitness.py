"""Whether a prefix can serve a consumer: refused where the consumer is known to fail, warned of where it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NotAvailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .consumers import Consumer, Need
    from .facts import Facts

__all__ = ["doubts", "require_fit"]

# What a program finds only when it runs, and what is no consumer of cuDNN's functions at all.
_JUST_LOOKING = frozenset({"cmake", "pkg-config", "compiler", "loader"})


def require_fit(facts: Facts, consumer: Consumer) -> None:
    """Raise ``NotAvailableError``, whose ``available`` are the libraries that are there, where the consumer fails."""
    lacking = [*_unmet(facts, consumer), *_missing_parts(facts, consumer)]
    if lacking:
        raise NotAvailableError(
            f"this prefix cannot serve {consumer.name}: it has no {', no '.join(lacking)}",
            phase="env",
            where=facts.path,
            available=sorted(facts.contents.names),
        )


def doubts(facts: Facts, consumer: Consumer) -> Iterator[str]:
    """Yield what may yet fail, a sentence each."""
    contents = facts.contents
    if not contents.shared and not contents.static:
        yield f"{facts.path} has no library: what includes its headers must load one itself"
    elif consumer.name == "cudnn-frontend" and not facts.is_whole:
        yield f"{facts.path} is not the whole set: the target CUDNN::cudnn works, CUDNN::cudnn_all does not"
    elif consumer.name not in _JUST_LOOKING and not facts.is_whole:
        yield f"{facts.path} is not the whole set: calls outside of the graph API fail when they run"
    if consumer.name in ("cmake", "pkg-config") and not contents.has_headers:
        yield f"{facts.path} has no headers: it can be linked, not compiled against"


def _unmet(facts: Facts, consumer: Consumer) -> Iterator[str]:
    for need in consumer.needs:
        if not _is_met(facts, need):
            yield _NAMES[need]


_NAMES: dict[Need, str] = {
    "headers": "headers",
    "library": "libcudnn to load",
    "link name": "libcudnn.so or cudnn.lib to link",
    "lib64": "lib64, the only place where it looks",
    "package": "lib/cmake/cudnn, which fetch --force adds",
    "pkg-config": "lib/pkgconfig/cudnn.pc, which fetch --force adds",
}


def _is_met(facts: Facts, need: Need) -> bool:
    library = facts.contents.shared_named("cudnn")
    match need:
        case "headers":
            return facts.contents.has_headers
        case "library":
            return library is not None and library.file is not None
        case "link name":
            return library is not None and library.link_file is not None
        case "lib64":
            return facts.contents.windows or any(path.split("/")[0] == "lib64" for path in facts.paths)
        case "package":
            return facts.package_dir is not None
        case "pkg-config":
            return facts.pkg_config_dir is not None


def _missing_parts(facts: Facts, consumer: Consumer) -> Iterator[str]:
    """Yield the parts that are not there; cuDNN 8 was cut otherwise, and no consumer of today names its parts."""
    if facts.version.startswith("9.") and "cudnn" in facts.contents.names:
        yield from (part for part in consumer.parts if part not in facts.contents.names)
