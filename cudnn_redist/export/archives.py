"""The archives of plans as an export needs them: nothing of this machine, and no login."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import __version__
from ..errors import UsageError
from ..locations import is_local, redacted
from ..notes import log

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ..planner import Plan, PlannedArchive

__all__ = ["Exported", "exported", "heading", "one_word", "require_one_release", "require_web"]

_SUFFIX = re.compile(r"\.(?:zip|tar(?:\.\w+)?|tgz|txz)$", re.ASCII)
_NO_WORD = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """One archive; ``urls`` are tried in order, ``size`` is in bytes where it is known."""

    product: str
    label: str
    component: str
    version: str
    platform: str
    variant: str | None
    name: str
    urls: tuple[str, ...]
    sha256: str
    size: int | None

    @property
    def integrity(self) -> str:
        """The digest as Bazel and Nix take it (https://www.w3.org/TR/SRI/, section 3.1)."""
        return f"sha256-{base64.b64encode(bytes.fromhex(self.sha256)).decode('ascii')}"

    @property
    def top_folder(self) -> str:
        """The one folder that an archive of NVIDIA's holds everything in: its own name, without the suffix."""
        return _SUFFIX.sub("", self.name)

    @property
    def key(self) -> str:
        """What tells it from the others of its component: ``linux-x86_64/cuda13``, or the platform alone."""
        return "/".join(filter(None, (self.platform, self.variant)))

    @property
    def identifier(self) -> str:
        """A name for programs: ``cudnn_linux_x86_64_cuda13``."""
        return one_word("_".join(filter(None, (self.component, self.platform, self.variant))))


def one_word(name: str) -> str:
    """Return a name with only letters, digits and underscores, as programs take it."""
    return _NO_WORD.sub("_", name)


def exported(plans: Iterable[Plan]) -> tuple[Exported, ...]:
    """Return the archives of ``plans``.

    A login or a query in a URL is left out, and told: an export is a file that is kept and shared. ``ManifestError``
    for an archive without a sha256, ``UsageError`` where two of them have one file name.
    """
    found = tuple(_exported(archive) for plan in plans for archive in plan.archives)
    names: dict[str, str] = {}
    for archive in found:
        if names.setdefault(archive.name, archive.sha256) != archive.sha256:
            raise UsageError(f"two archives are called {archive.name}; choose one of them", phase="export")
    return found


def _exported(archive: PlannedArchive) -> Exported:
    urls = tuple(dict.fromkeys(map(redacted, archive.urls)))
    if len(urls) == len(archive.urls) and urls != archive.urls:
        log.warning("%s: a login or a query is left out of what is exported", urls[0])
    return Exported(
        product=archive.product,
        label=archive.label,
        component=archive.component,
        version=archive.version,
        platform=archive.platform,
        variant=archive.variant,
        name=archive.name,
        urls=urls,
        sha256=archive.expected.sha256,
        size=archive.size,
    )


def heading(archives: Iterable[Exported], kind: str) -> str:
    """Return the sentence that an export begins with: what it has, and what made it."""
    releases = dict.fromkeys(f"{each.product} {each.label}" for each in archives)
    return f"{', '.join(releases)}. Written by cudnn-redist {__version__}: export {kind}"


def require_web(archives: Sequence[Exported], kind: str) -> None:
    """Refuse, with ``UsageError``, what lies in a directory where ``kind`` fetches from servers alone."""
    for url in (url for archive in archives for url in archive.urls):
        if is_local(url):
            raise UsageError(
                f"{kind} fetches over HTTP; give a --source that is a server", phase="export", where=url
            )


def require_one_release(archives: Collection[Exported], kind: str) -> None:
    """Refuse, with ``UsageError``, two releases of one component where ``kind`` can have one."""
    labels: dict[str, set[str]] = {}
    for archive in archives:
        labels.setdefault(archive.component, set()).add(archive.label)
    for component, several in labels.items():
        if len(several) > 1:
            listed = ", ".join(sorted(several))
            raise UsageError(
                f"{kind} takes one release of {component}: {listed}; choose a LABEL", phase="export"
            )
