from __future__ import annotations

import json

from fuzz import manifests
from fuzz.damage import ANYWHERE, Damage
from fuzz.strategies import LABELS, Published, labels_and_page, published
from hypothesis import given, settings
from hypothesis import strategies as st

from cudnn_redist.manifest import ReleaseLabel, newest
from cudnn_redist.source.index import labels_of_page


@settings(deadline=None, max_examples=60)
@given(published())
def test_every_archive_of_a_manifest_is_found_whatever_its_shape_and_order(sent: Published) -> None:
    data = json.dumps(sent.document).encode()
    manifests.check(data)
    found = {(a.component, a.platform, a.variant, a.relative_path) for a in manifests.parse(data).archives()}
    assert found == sent.archives


@settings(deadline=None, max_examples=100)
@given(sent=published(), damages=st.lists(ANYWHERE, min_size=1, max_size=3))
def test_a_damaged_manifest_is_refused_or_still_says_one_thing(
    sent: Published, damages: list[Damage]
) -> None:
    data = json.dumps(sent.document).encode()
    for damage in damages:
        data = damage.to(data) or b"{"
    manifests.check(data)


@settings(deadline=None)
@given(labels_and_page())
def test_every_link_of_a_page_counts_and_nothing_else(sent: tuple[list[str], str]) -> None:
    labels, page = sent
    assert {label.text for label in labels_of_page(page)} == set(labels)


@given(st.lists(LABELS, min_size=1))
def test_the_newest_of_some_labels_is_one_of_them_and_within_what_was_asked(texts: list[str]) -> None:
    labels = [ReleaseLabel.parse(text) for text in texts]
    for label in labels:
        found = newest(labels, within=label)
        assert found in labels
        assert found is not None
        assert found.numbers[: len(label.numbers)] == label.numbers
