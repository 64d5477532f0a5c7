"""What may be wrong with a cuDNN: one table of stable codes, and findings that have one each."""

from __future__ import annotations

from .codes import CODES, Code, Severity
from .finding import Finding, faults

__all__ = ["CODES", "Code", "Finding", "Severity", "faults"]
