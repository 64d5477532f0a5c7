from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudnn_redist.errors import UsageError
from cudnn_redist.manifest import ReleaseLabel, label_of, newest


def labels(*texts: str) -> list[ReleaseLabel]:
    return [ReleaseLabel.parse(text) for text in texts]


@pytest.mark.parametrize(
    "text", ["9", "9.27", "9.27.0", "8.9.7.29", "13.3.4.3.1", "24.03", "450.80.02", "0.1.0"]
)
def test_a_label_keeps_its_text(text: str) -> None:
    label = ReleaseLabel.parse(text)
    assert str(label) == label.text == text
    assert label.manifest_name == f"redistrib_{text}.json"


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "9.",
        ".9",
        "9..1",
        "v9",
        "9.27.0 ",
        "9.27.0\n",
        "-1",
        "9.27.x",
        "latest",
        "٩.٢",
        "²",
        "1.2.3.4.5.6",
        "1" * 11,
    ],
)
def test_what_is_not_dotted_numbers_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a release label") as caught:
        ReleaseLabel.parse(text)
    assert caught.value.phase == "label"


def test_an_endless_label_does_not_make_an_endless_message() -> None:
    with pytest.raises(UsageError) as caught:
        ReleaseLabel.parse("9." * 100_000)
    assert len(str(caught.value)) < 200


def test_labels_are_ordered_as_integers_then_text() -> None:
    shuffled = labels("9.10.2", "9.9.0", "9.27.0", "9", "9.10.0", "24.3", "24.03", "9.1.1.17", "9.1.1")
    in_order = ["9", "9.1.1", "9.1.1.17", "9.9.0", "9.10.0", "9.10.2", "9.27.0", "24.03", "24.3"]
    assert [label.text for label in sorted(shuffled)] == in_order


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 10**9), min_size=1, max_size=5), min_size=1))
def test_order_is_that_of_the_numbers(numbers: list[list[int]]) -> None:
    shuffled = [ReleaseLabel.parse(".".join(map(str, parts))) for parts in numbers]
    assert [list(label.numbers) for label in sorted(shuffled)] == sorted(numbers)


@settings(deadline=None)
@given(st.text())
def test_any_text_is_a_label_that_keeps_it_or_a_usage_error(text: str) -> None:
    try:
        label = ReleaseLabel.parse(text)
    except UsageError:
        return
    assert label.text == text
    assert label_of(label.manifest_name) == label


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("9.27.0", ["9.27.0"]),
        ("25.1", ["25.1"]),
        ("9.13.0.50", ["9.13.0.50", "9.13.0"]),
        ("450.80.02.7", ["450.80.02.7", "450.80.02"]),
        ("13.3.4.3.1", ["13.3.4.3.1", "13.3.4"]),
    ],
)
def test_a_version_is_looked_for_under_its_own_name_first(text: str, candidates: list[str]) -> None:
    assert [label.text for label in ReleaseLabel.parse(text).candidates()] == candidates


@pytest.mark.parametrize(
    ("text", "partial"), [("9", True), ("9.27", True), ("9.27.0", False), ("9.27.0.42", False)]
)
def test_one_or_two_parts_may_stand_for_several_releases(text: str, partial: bool) -> None:  # noqa: FBT001 - a table's column
    assert ReleaseLabel.parse(text).is_partial is partial


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("redistrib_9.1.1.json", "9.1.1"),
        ("redistrib_24.03.json", "24.03"),
        ("redistrib-v2.schema.json", None),
        ("redistrib_9.1.1_tar.json", None),
        ("redistrib_10.0.0.form1.json", None),
        ("redistrib_..json", None),
        ("redistrib_9.1.1.json.sig", None),
        ("folder/redistrib_9.1.1.json", None),
        ("", None),
    ],
)
def test_only_a_manifest_s_file_name_has_a_label(name: str, text: str | None) -> None:
    label = label_of(name)
    assert (label and label.text) == text


@pytest.mark.parametrize(
    ("within", "text"),
    [
        ("9", "9.27.0"),
        ("9.10", "9.10.2"),
        (None, "9.27.0"),
        ("9.1", "9.1.1"),
        ("9.10.0", "9.10.0"),
        ("8", None),
    ],
)
def test_newest_compares_numbers_and_never_digits(within: str | None, text: str | None) -> None:
    listed = labels("9.1.1", "9.9.0", "9.27.0", "9.10.0", "9.10.2")
    found = newest(listed, within=ReleaseLabel.parse(within) if within else None)
    assert (found and found.text) == text


def test_there_is_no_newest_of_none() -> None:
    assert newest([]) is None


def test_newest_prefers_the_whole_release_to_the_one_variant_of_it_that_a_longer_label_names() -> None:
    listed = labels("8.9.6", "8.9.7", "8.9.7.29", "2.0.2.1", "2.0.2.5")
    assert newest(listed) == ReleaseLabel.parse("8.9.7")
    assert newest(listed, within=ReleaseLabel.parse("8.9")) == ReleaseLabel.parse("8.9.7")
    assert newest(listed, within=ReleaseLabel.parse("2.0")) == ReleaseLabel.parse("2.0.2.5")
    assert newest(listed, within=ReleaseLabel.parse("8.9.7.29")) == ReleaseLabel.parse("8.9.7.29")
