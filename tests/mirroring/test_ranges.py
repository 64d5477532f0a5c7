from __future__ import annotations

import pytest

from cudnn_redist.errors import LabelNotFound, UsageError
from cudnn_redist.manifest.labels import ReleaseLabel
from cudnn_redist.mirroring.ranges import LabelRange, is_range, within

LABELS = [ReleaseLabel.parse(text) for text in ("8.9.7.29", "9.9.0", "9.10.0", "9.10.1", "9.27.0", "10.0.0")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (">=9.10,<10", "9.10.0 9.10.1 9.27.0"),
        (">9.10", "9.27.0 10.0.0"),
        ("<=9.10", "8.9.7.29 9.9.0 9.10.0 9.10.1"),
        ("== 9.10", "9.10.0 9.10.1"),
        (" >= 9 , != 9.10.1 , < 10.0 ", "9.9.0 9.10.0 9.27.0"),
        ("<9", "8.9.7.29"),
    ],
)
def test_conditions_hold_as_far_as_their_own_numbers_go(text: str, found: str) -> None:
    assert is_range(text)
    assert [label.text for label in within(LABELS, LabelRange.parse(text), text=text)] == found.split()


@pytest.mark.parametrize("text", ["9.27.0", "9", "latest", ""])
def test_a_label_is_no_range(text: str) -> None:
    assert not is_range(text)


@pytest.mark.parametrize("text", [">=", ">=9,", ">=9 <10", "~=9", ">=latest", ">=9..1", "=9", ">=9;rm"])
def test_what_is_no_list_of_conditions_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        LabelRange.parse(text)


def test_an_empty_range_tells_what_there_is() -> None:
    with pytest.raises(LabelNotFound, match="no release in >=11") as caught:
        within(LABELS, LabelRange.parse(">=11"), text=">=11")

    assert caught.value.available[-1] == "10.0.0"
