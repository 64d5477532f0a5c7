from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from cudnn_redist.source.headers import content_range

SIZES = st.integers(0, 10**15 - 1)
PIECES = st.sampled_from(
    [
        "bytes",
        "BYTES",
        "items",
        " ",
        "\t",
        "-",
        "/",
        "*",
        "0",
        "7",
        "12",
        "9" * 15,
        "9" * 5000,
        "+",
        "\u0663",
        ",",
        "=",
    ]
)


def read(text: str) -> tuple[int | None, int | None]:
    found = content_range({"content-range": text})
    return found.start, found.total


@given(
    numbers=st.lists(SIZES, min_size=3, max_size=3, unique=True).map(sorted),
    known=st.booleans(),
    unit=st.sampled_from(["bytes", "Bytes", "BYTES"]),
)
def test_what_a_server_may_say_of_a_range_is_understood(
    *, numbers: list[int], known: bool, unit: str
) -> None:
    start, last, total = numbers
    size = str(total) if known else "*"
    assert read(f"{unit} {start}-{last}/{size}") == (start, total if known else None)
    assert read(f" {unit}  */{size} ") == (None, total if known else None)
    assert read(f"{unit} {last}-{start}/{size}") == (None, None)
    assert read(f"{unit} {start}-{total}/{last}") == (None, None)


@given(text=st.text(max_size=40) | st.lists(PIECES, max_size=9).map("".join))
def test_any_other_text_says_nothing(text: str) -> None:
    start, total = read(text)
    if (start, total) != (None, None):
        said = re.fullmatch(r"(?ai)bytes +(?:(\d{1,15})-\d{1,15}|\*)/(\d{1,15}|\*)", text.strip())
        assert said
        assert said[1] is None if start is None else int(said[1]) == start
        assert said[2] == "*" if total is None else int(said[2]) == total
