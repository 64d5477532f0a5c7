"""Findings as people read them: what was seen where, and then, once for each kind, what it means and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import CODES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..findings import Finding
    from .output import Output

__all__ = ["tell_findings"]


def tell_findings(findings: Mapping[Path, Sequence[Finding]], output: Output) -> None:
    """Tell what was found at each path: faults also where ``--quiet`` wants to hear nothing else."""
    aloud = output.aloud()
    meant: dict[str, Output] = {}
    for path, found in findings.items():
        for finding in found:
            voice = aloud if finding.severity == "fault" else output
            begin = "" if finding.severity == "fault" else f"{finding.severity}: "
            voice.note(f"{begin}{path}: {finding}")
            meant.setdefault(finding.code, voice)
    for code, voice in meant.items():
        voice.note(f"  {code}: {CODES[code].meaning}")
        voice.note(f"    to mend it: {CODES[code].remedy}")
