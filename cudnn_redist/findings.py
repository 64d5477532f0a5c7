"""What may be wrong with a cuDNN: one table of stable codes, each with its meaning and what to do. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = ["CODES", "Code", "Finding", "Severity", "faults"]

Severity = Literal["fault", "warning", "note"]

_REINSTALL = "install it anew: cudnn-redist fetch LABEL --force"


class Code(NamedTuple):
    """How bad a kind of finding is, what it means, and what to do. A ``fault`` fails ``verify`` and ``doctor``."""

    severity: Severity
    meaning: str
    remedy: str


CODES: dict[str, Code] = {
    # A prefix against its record.
    "file-missing": Code("fault", "a file that was installed is gone", _REINSTALL),
    "file-changed": Code("fault", "a file is not what was installed", _REINSTALL),
    "file-extra": Code("fault", "somebody added a file to the prefix", "remove the file, or " + _REINSTALL),
    "file-unreadable": Code(
        "fault", "nobody can tell what is in the file", "mend its permissions, or the disk"
    ),
    "version-differs": Code("fault", "parts of two releases do not work together", _REINSTALL),
    # The libraries of one set, by what they say about themselves.
    "library-damaged": Code("fault", "the loader cannot load this file", _REINSTALL),
    "machine-differs": Code(
        "fault",
        "the library is made for another kind of machine than its prefix says",
        "fetch the archive of the right --platform",
    ),
    "soname-missing": Code(
        "fault",
        "programs look for the library by this name, and it is not there",
        "keep every link of the archive; " + _REINSTALL,
    ),
    "named-not-shipped": Code(
        "note",
        "the library may ask for a part that this archive does not have; a copy from elsewhere would be taken",
        "keep other cuDNNs off LD_LIBRARY_PATH and the loader's cache; preload() does not help here",
    ),
    "glibc-too-old": Code(
        "fault",
        "the C library of this machine lacks functions that the library needs",
        "use an older release of cuDNN, or a newer system",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found: ``where`` (a path), ``detail`` (what was seen there), and a ``code`` of the table."""

    code: str
    where: str
    detail: str

    @property
    def severity(self) -> Severity:
        """``fault``, ``warning`` or ``note``."""
        return CODES[self.code].severity

    @property
    def meaning(self) -> str:
        """A sentence on what findings of this code mean."""
        return CODES[self.code].meaning

    @property
    def remedy(self) -> str:
        """A sentence on what to do about it."""
        return CODES[self.code].remedy

    def __str__(self) -> str:
        return f"{self.code}: {self.where}: {self.detail}"

    def facts(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "where": self.where,
            "detail": self.detail,
            "meaning": self.meaning,
            "remedy": self.remedy,
        }


def faults(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return those that make a prefix, or a machine, unfit."""
    return tuple(finding for finding in findings if finding.severity == "fault")
