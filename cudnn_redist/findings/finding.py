"""One thing found, with a code of the table. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .codes import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .codes import Severity

__all__ = ["Finding", "faults"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found: ``where`` (a path), ``detail`` (what was seen there), and a ``code`` of the table.

    ``command`` is what mends this very case, where one is known.
    """

    code: str
    where: str
    detail: str
    command: str | None = None

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
            **({"command": self.command} if self.command else {}),
        }


def faults(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return those that make a prefix, or a machine, unfit."""
    return tuple(finding for finding in findings if finding.severity == "fault")
