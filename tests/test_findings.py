from __future__ import annotations

import re
from typing import get_args

import pytest

from cudnn_redist import Finding
from cudnn_redist.findings import CODES, Severity, faults


@pytest.mark.parametrize("code", CODES)
def test_every_code_says_what_it_means_and_what_to_do(code: str) -> None:
    severity, meaning, remedy = CODES[code]
    assert severity in get_args(Severity)
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", code)
    assert all(text and not text.endswith(".") for text in (meaning, remedy))


def test_a_finding_is_a_value_with_everything_a_program_needs() -> None:
    finding = Finding(code="file-extra", where="a", detail="a file")
    assert finding == Finding(code="file-extra", where="a", detail="a file")
    assert str(finding) == "file-extra: a: a file"
    assert finding.facts() == {
        "code": "file-extra",
        "severity": "fault",
        "where": "a",
        "detail": "a file",
        "meaning": finding.meaning,
        "remedy": finding.remedy,
    }


def test_notes_and_warnings_make_nothing_unfit() -> None:
    found = [
        Finding(code=code, where="a", detail="b") for code in ("driver-missing", "file-missing", "shadowed")
    ]
    assert [finding.code for finding in faults(found)] == ["file-missing"]
