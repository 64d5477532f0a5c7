"""Count the tests in pytest's JUnit reports, name every skip, fail if one has a reason that is not allowed.

Usage: count_tests.py REPORT...; the last line printed is ``N passed, N failed, N skipped``.
"""
# ruff: noqa: INP001, S314, T201 - a script, no package; it reads what pytest just wrote; it is there to print

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

ALLOWED = ("no ../shared", "no GPU")


def outcome(case: ET.Element) -> str:
    """Return ``failed``, ``skipped`` or ``passed``; an error in a fixture or in collection is a failure."""
    kinds = {child.tag for child in case}
    if kinds & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in kinds else "passed"


def reason(skip: ET.Element) -> str:
    """Return why a test was skipped; for a whole module pytest hides that in the text, as part of a tuple."""
    if skip.get("message") == "collection skipped":
        return (skip.text or "").partition("Skipped: ")[2].rstrip("')\"")
    return skip.get("message", "")


def main(reports: list[Path]) -> int:
    """Print the counts; return 1 if a report is missing, a test failed or a skip is not allowed, else 0."""
    missing = [report.name for report in reports if not report.exists()]
    roots = [ET.parse(report).getroot() for report in reports if report.exists()]
    cases = [case for root in roots for case in root.iter("testcase")]
    counts = Counter(map(outcome, cases))
    reasons = Counter(reason(skip) for case in cases for skip in case.iter("skipped"))
    refused = [why for why in reasons if not why.startswith(ALLOWED)]
    for name in missing:
        print(f"no report: {name}")
    for why, times in reasons.items():
        print(f"skipped {times}, {'NOT ALLOWED' if why in refused else 'allowed'}: {why}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if missing or refused or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
