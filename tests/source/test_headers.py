from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudnn_redist.source import headers

HUGE = "9" * 5000


@pytest.mark.parametrize(
    ("text", "start", "total"),
    [
        ("bytes 100-199/1000", 100, 1000),
        ("Bytes 0-0/*", 0, None),
        ("bytes */1000", None, 1000),
        ("bytes 100-/1000", None, None),
        ("items 1-2/3", None, None),
        ("bytes 100-99/1000", None, None),
        ("bytes 100-199/199", None, None),
        ("bytes 100-199/200", 100, 200),
        (f"bytes 1-2/{HUGE}", None, None),
        ("", None, None),
    ],
)
def test_content_range(text: str, start: int | None, total: int | None) -> None:
    found = headers.content_range({"content-range": text})

    assert (found.start, found.total) == (start, total)


@pytest.mark.parametrize(
    ("text", "length"), [("12", 12), ("", None), ("-1", None), (HUGE, None), ("x", None)]
)
def test_content_length(text: str, length: int | None) -> None:
    assert headers.content_length({"content-length": text}) == length


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"etag": '"abc"', "last-modified": "Tue"}, '"abc"'),
        ({"etag": 'W/"abc"', "last-modified": "Tue"}, "Tue"),
        ({"last-modified": "Tue"}, "Tue"),
        ({"etag": 'W/"abc"'}, None),
        ({"etag": '"\u00e9"'}, None),
        ({"etag": f'"{HUGE}"'}, None),
        ({}, None),
    ],
    ids=["strong", "weak-and-date", "date", "weak", "not-ascii", "endless", "none"],
)
def test_validator(given: dict[str, str], found: str | None) -> None:
    assert headers.validator(given) == found


@pytest.mark.parametrize(("text", "seconds"), [("0", 0.0), ("120", 120.0), ("soon", None), ("", None)])
def test_retry_after_in_seconds(text: str, seconds: float | None) -> None:
    assert headers.retry_after({"retry-after": text}) == seconds


def test_retry_after_as_a_date() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=60)
    found = headers.retry_after({"retry-after": format_datetime(soon, usegmt=True)})

    assert found == pytest.approx(60, abs=5)
    assert headers.retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


@given(text=st.one_of(st.text(max_size=60), st.from_regex(r"\w{3}, \d+ \w{3} \d+ [\d:]+ [+-]\d+")))
def test_no_retry_after_breaks_it(text: str) -> None:
    found = headers.retry_after({"retry-after": text})

    assert found is None or found >= 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "no content type"),
        ({"content-type": "text/html"}, "text/html, looks like a web page"),
        ({"content-type": "text/plain"}, "text/plain, looks like text"),
        ({"content-type": "a/b", "age": "30", "x-cache": "HIT"}, "a/b, age: 30, x-cache: HIT"),
    ],
)
def test_what_a_server_says_of_itself(given: dict[str, str], told: str) -> None:
    assert headers.description(given) == told


@pytest.mark.parametrize(
    ("given", "validator", "changed"),
    [
        ({"etag": '"a"'}, '"a"', False),
        ({"etag": 'W/"a"'}, '"a"', False),
        ({"etag": '"b"'}, '"a"', True),
        ({"etag": '"b"', "last-modified": "Tue"}, "Tue", False),
        ({"last-modified": "Wed"}, "Tue", True),
        ({}, '"a"', False),
    ],
    ids=["same", "now-weak", "other", "same-date", "other-date", "untold"],
)
def test_only_another_validator_of_the_same_sort_is_a_change(
    *, given: dict[str, str], validator: str, changed: bool
) -> None:
    assert headers.is_changed(given, validator) is changed
