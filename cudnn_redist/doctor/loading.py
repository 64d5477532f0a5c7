"""``verify --load``: the library of a prefix, loaded in a child process, alone and in the user's environment."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..findings import Finding
from ..host import Machine, host_platform
from .child import run_apart, scrubbed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..prefix.installed import Prefix
    from ..prefix.record import Record
    from .child import Told

__all__ = ["TIMEOUT", "library_of", "load", "spelled_version", "unfit_here"]

TIMEOUT = 60.0
"""Seconds for a library to load: 9.27 takes under one from a warm disk."""

_WORK = Path(__file__).with_name("load_work.py")
_LIBRARY = re.compile(r"(?:.*/)?(?:libcudnn\.so\.[0-9]+|cudnn64_[0-9]+\.dll)")
# cudnnStatus_t: of 9 (cudnn_graph.h), and CUDNN_STATUS_VERSION_MISMATCH of 8.
_MIXED = (1002, 14)
_PART_NOT_LOADED = 1008
_DRIVER_WORDS = ("libcuda.so", "nvcuda.dll", "or one of its dependencies")
# What one part calls in another and does not find there.
_OTHER_RELEASE = re.compile(r"undefined symbol: \S+, version libcudnn")
_THREE, _MAJOR = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+"), re.compile(r"[0-9]+")
_FACTOR, _FACTOR_OF_8 = 10000, 1000
_LONGEST = 300
# What a library that only the environment leads to may remedy.
_HELPED = ("load-failed", "driver-missing")


def load(prefix: Prefix, environment: Mapping[str, str], *, timeout: float = TIMEOUT) -> tuple[Finding, ...]:
    """Load the cuDNN of ``prefix`` twice, without and with ``environment``, and return what is to be said of it.

    Compared with the record are the versions of cuDNN and CUDA that the library reports; an empty descriptor shows
    whether its parts are of one release. ``timeout`` is in seconds, for each of the two. Nothing is loaded into this
    process, and no GPU is needed. Raises ``OSError`` where no child can be started.
    """
    library = library_of(prefix.record)
    unfit = unfit_here(prefix.record) if library else "it has no libcudnn to load"
    if library is None or unfit:
        return (Finding(code="load-untried", where=library or ".", detail=unfit),)

    def loaded(variables: Mapping[str, str]) -> _Loaded:
        path = str((prefix.path / library).absolute())
        told = run_apart(_WORK, path, environment=variables, timeout=timeout)
        return _Loaded(prefix=prefix, library=library, told=told)

    alone = loaded(scrubbed(environment))
    if alone.told.ended != "well":
        return tuple(alone.findings())
    return tuple(_compared(alone, loaded(environment)))


def library_of(record: Record) -> str | None:
    """Return the path of what a program loads, by the name that it asks for: ``lib/libcudnn.so.9``."""
    found = (
        entry.path for entry in record.entries if entry.kind != "directory" and _LIBRARY.fullmatch(entry.path)
    )
    return next(found, None)


def unfit_here(record: Record) -> str:
    """Return why a library for this platform cannot be loaded here, an empty text where it can."""
    try:
        here, _ = host_platform(Machine.this())
    except UsageError as error:
        return error.cause
    return "" if here == record.platform else f"made for {record.platform}, and this is {here}"


def _compared(alone: _Loaded, here: _Loaded) -> Iterator[Finding]:
    """Yield what ``alone`` shows of the prefix, then what only the user's environment ``here`` brings about."""
    of_prefix, of_both = tuple(alone.findings()), tuple(here.findings())
    for finding in of_prefix:
        helped = finding.code in _HELPED and here.told.ended == "well" and finding not in of_both
        yield replace(finding, code="environment-needed") if helped else finding
    for finding in of_both:
        if finding not in of_prefix:
            yield replace(finding, detail=f"in this environment, {finding.detail}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """What one child told of the ``library`` of a prefix."""

    prefix: Prefix
    library: str
    told: Told

    @property
    def mapped(self) -> Sequence[str]:
        """The files of cuDNN that were loaded when it had looked for its parts."""
        return tuple(self.told.facts.get("mapped", ()))

    @property
    def refused(self) -> Mapping[str, str]:
        """What the loader said of each library that it could not load, by name."""
        return dict(self.told.facts.get("refused", {}))

    def findings(self) -> Iterator[Finding]:
        if self.told.ended != "well":
            yield self._unfinished()
            return
        strangers = tuple(self._strangers())
        if not strangers:
            # Parts of this set do not fit what was loaded from elsewhere, and that says nothing of them.
            yield from self._refusals()
        yield from self._version()
        yield from self._cuda()
        yield from self._status()
        yield from strangers

    def _found(self, code: str, detail: str, *, where: str | None = None) -> Finding:
        return Finding(code=code, where=where or self.library, detail=detail)

    def _unfinished(self) -> Finding:
        step = self.told.facts.get("step")
        if self.told.ended == "late":
            return self._found("load-timed-out", f"{self.told.how} while {step or 'starting'}")
        if step is None:
            return self._found("load-untried", f"this Python does not start so: {self.told.how}")
        return self._found("load-crashed", f"{self.told.how} while {step}")

    def _refusals(self) -> Iterator[Finding]:
        folder = posixpath.dirname(self.library)
        for name, refusal in self.refused.items():
            where = posixpath.join(folder, name)
            yield self._found(self._code_of(refusal, where), refusal, where=where)

    def _code_of(self, refusal: str, where: str) -> str:
        if _OTHER_RELEASE.search(refusal):
            return "set-mixed"
        # Windows does not say which library it did not find; libcudnn itself does without the driver.
        wants_driver = where != self.library and any(word in refusal for word in _DRIVER_WORDS)
        return "driver-missing" if wants_driver and not self.told.facts.get("driver") else "load-failed"

    def _version(self) -> Iterator[Finding]:
        if "version" not in self.told.facts:
            return
        version, recorded = self.told.facts["version"], _THREE.match(self.prefix.record.version)
        if version is None:
            yield self._found("load-failed", "has no cudnnGetVersion")
        elif recorded and spelled_version(version) != recorded[0]:
            detail = f"reports {spelled_version(version)}, recorded as {self.prefix.record.version}"
            yield self._found("version-loaded-differs", detail)

    def _cuda(self) -> Iterator[Finding]:
        number, variant = self.told.facts.get("cudart"), self.prefix.record.variant
        recorded = _MAJOR.search(variant or "")
        if number and recorded and number // 1000 != int(recorded[0]):
            detail = f"reports CUDA {number // 1000}.{number % 1000 // 10}, recorded as {variant}"
            yield self._found("cuda-loaded-differs", detail)

    def _status(self) -> Iterator[Finding]:
        status = self.told.facts.get("status")
        if status in _MIXED:
            yield self._found("set-mixed", self._words(status))
        elif status == _PART_NOT_LOADED and not self.refused:
            yield self._found("load-failed", self._words(status))

    def _words(self, status: int) -> str:
        """Return the status, cuDNN's name for it, and what it printed meanwhile."""
        printed = " ".join(self.told.facts.get("printed", "").split())[:_LONGEST]
        words = (f"status {status}", self.told.facts.get("named"), printed)
        return ": ".join(word for word in words if word)

    def _strangers(self) -> Iterator[Finding]:
        """Yield the directories elsewhere from which parts came."""
        home = self.prefix.path.resolve()
        strangers: dict[Path, list[str]] = {}
        for path in map(Path, self.mapped):
            if not path.is_relative_to(home):
                strangers.setdefault(path.parent, []).append(path.name)
        for directory, names in strangers.items():
            verb = "comes" if len(names) == 1 else "come"
            yield self._found("shadowed", f"{', '.join(names)} {verb} from {directory}")


def spelled_version(number: int) -> str:
    """Undo cuDNN's packing (``CUDNN_VERSION`` in cudnn_version.h): 1000 times the major up to 8, then 10000 times."""
    factor = _FACTOR if number >= _FACTOR else _FACTOR_OF_8
    return f"{number // factor}.{number % factor // 100}.{number % 100}"
