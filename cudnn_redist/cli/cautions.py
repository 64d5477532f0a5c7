"""What is said before a release is fetched: that it may not run on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..doctor.compatibility import Candidate, misfits
from ..errors import NotAvailableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..findings import Finding
    from ..manifest.models import Manifest
    from ..planner import PlannedArchive
    from ..prefix.record import Record
    from .output import Output

__all__ = ["caution", "caution_about"]


def caution(archives: Iterable[PlannedArchive | Record], output: Output, *, strict: bool) -> None:
    """Say which of the archives may not run on this machine, and why; ``NotAvailableError`` where ``strict``."""
    candidates = (Candidate(each.component, each.version, each.platform, each.variant) for each in archives)
    _say(misfits(candidates), output, strict=strict)


def caution_about(manifest: Manifest, output: Output, *, strict: bool) -> None:
    """Say the same of every archive that a manifest has."""
    candidates = (
        Candidate(component.key, component.version or "", archive.platform, archive.variant_name)
        for component in manifest.components.values()
        for archive in component.archives()
    )
    _say(misfits(candidates), output, strict=strict)


def _say(findings: Sequence[Finding], output: Output, *, strict: bool) -> None:
    if findings and strict:
        cause = "; ".join(finding.detail for finding in findings)
        raise NotAvailableError(f"may not run here: {cause}", where=findings[0].where)
    for finding in findings:
        output.note(f"warning: {finding.where} may not run here: {finding.detail}; {finding.remedy}")
