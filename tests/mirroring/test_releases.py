"""Which releases labels and ranges mean, and what of each is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mirroring.ground import ONE

from cudnn_redist import labels
from cudnn_redist.errors import (
    ComponentNotFound,
    LabelNotFound,
    PlatformNotFound,
    UsageError,
)
from cudnn_redist.mirroring.making import mirror

if TYPE_CHECKING:
    from mirroring.ground import Ground


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (("9.27",), "9.27.0"),
        (("latest", "9.27.0"), "9.27.0"),
        (("9.27.0.42",), "9.27.0"),
        ((">=9.10,<10",), "9.26.0 9.27.0"),
        (("9.9.0", ">9.26"), "9.9.0 9.27.0"),
    ],
    ids=["partial", "twice", "four-parts", "range", "both"],
)
def test_labels_and_ranges_are_found_in_the_index(asked: tuple[str, ...], found: str, ground: Ground) -> None:
    assert ground.make(*asked, **ONE).labels == tuple(found.split())
    assert [label.text for label in labels(sources=[str(ground.mirror)])] == found.split()


def test_of_a_range_each_release_gives_what_it_has(ground: Ground, caplog: pytest.LogCaptureFixture) -> None:
    found = ground.make(">=9.26", component=["cudnn", "cudnn_jit"], cuda="13", platform="linux-x86_64")

    assert sorted(place.rpartition("/")[2] for place in found.fetched) == [
        "cudnn-linux-x86_64-9.26.0.42_cuda13-archive.tar.xz",
        "cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz",
        "cudnn_jit-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz",
    ]
    assert "9.26.0 has no component 'cudnn_jit'" in caplog.text


def test_a_release_of_a_range_that_has_nothing_of_the_choice_is_left_out(
    ground: Ground, caplog: pytest.LogCaptureFixture
) -> None:
    assert ground.make(">=9.26", component="cudnn_jit").labels == ("9.27.0",)
    assert "9.26.0 has no component 'cudnn_jit'" in caplog.text


@pytest.mark.parametrize(
    ("asked", "choice", "kind"),
    [
        ("9.26.0", {"component": "cudnn_jit"}, ComponentNotFound),
        (">=9.9,<9.27", {"component": "cudnn_jit"}, ComponentNotFound),
        ("9.27.0", {"platform": ["linux-x86_64", "windows-arm64"]}, PlatformNotFound),
        ("9.99.0", {}, LabelNotFound),
        (">=10", {}, LabelNotFound),
        (">=x", {}, UsageError),
    ],
    ids=["component", "of-a-whole-range", "one-platform", "label", "range", "no-range"],
)
def test_what_is_not_there_leaves_no_mirror(
    asked: str, choice: dict[str, object], kind: type[Exception], ground: Ground
) -> None:
    with pytest.raises(kind):
        ground.make(asked, **choice)

    assert not ground.mirror.exists()


def test_no_label_is_no_question(ground: Ground) -> None:
    with pytest.raises(UsageError, match="no label"):
        mirror(ground.mirror, [], sources=[str(ground.tree.path)])
