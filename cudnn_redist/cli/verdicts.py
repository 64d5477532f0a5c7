"""Findings as people read them: what was seen where, and then, once for each kind, what it means and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import CODES
from .output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..findings import Finding

__all__ = ["tell_findings"]


def tell_findings(findings: Mapping[Path, Sequence[Finding]], output: Output) -> None:
    """Tell what was found at each path: faults also where ``--quiet`` wants to hear nothing else."""
    plain = Output(json=output.json, quiet=False)
    meant: dict[str, Output] = {}
    for path, found in findings.items():
        for finding in found:
            voice = plain if finding.severity == "fault" else output
            begin = "" if finding.severity == "fault" else f"{finding.severity}: "
            voice.note(f"{begin}{path}: {finding}")
            meant.setdefault(finding.code, voice)
    for code, voice in meant.items():
        voice.note(f"  {code}: {CODES[code].meaning}")
        voice.note(f"    to mend it: {CODES[code].remedy}")
