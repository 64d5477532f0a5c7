from __future__ import annotations

import pytest

from cudnn_redist import TransferOptions
from cudnn_redist.errors import TransientTransferError
from cudnn_redist.source.patience import Pace, Patience


def fail(retry_after: float | None = None) -> TransientTransferError:
    return TransientTransferError("again", retry_after=retry_after)


def test_pauses_double_and_end() -> None:
    waited: list[float] = []
    patience = Patience(TransferOptions(retries=3, retry_delay=1.0), waited.append)
    for _ in range(3):
        patience.after(fail())
    with pytest.raises(TransientTransferError):
        patience.after(fail())

    assert len(waited) == 3
    for pause, longest in zip(waited, (1, 2, 4), strict=True):
        assert longest / 2 <= pause <= longest


def test_no_pause_is_longer_than_half_a_minute() -> None:
    waited: list[float] = []
    patience = Patience(TransferOptions(retries=20, retry_delay=1.0), waited.append)
    for _ in range(20):
        patience.after(fail())

    assert max(waited) <= 30


def test_patience_may_last_for_days() -> None:
    waited: list[float] = []
    patience = Patience(TransferOptions(retries=5000), waited.append)
    for _ in range(5000):
        patience.after(fail())

    assert 15 <= min(waited[1024:]) <= max(waited) <= 30


def test_progress_starts_the_count_anew() -> None:
    patience = Patience(TransferOptions(retries=1), lambda _: None)
    for _ in range(10):
        patience.after(fail(), progressed=True)
    with pytest.raises(TransientTransferError):
        patience.after(fail())


def test_the_servers_wish_is_followed_unless_it_is_too_long() -> None:
    waited: list[float] = []
    patience = Patience(TransferOptions(retries=5, retry_delay=0.01), waited.append)
    patience.after(fail(retry_after=7))
    with pytest.raises(TransientTransferError):
        patience.after(fail(retry_after=121))

    assert waited == [7]


def test_pace_is_judged_over_a_window() -> None:
    pace = Pace(TransferOptions(min_speed=1000, speed_window=10), where="here")
    pace.took(1, now=0)
    pace.took(1, now=9)
    pace.took(20_000, now=10)
    with pytest.raises(TransientTransferError, match="too slow: 9999 bytes in 10 s") as caught:
        pace.took(9_999, now=20)

    assert caught.value.where == "here"


def test_a_minimum_of_zero_takes_any_pace() -> None:
    pace = Pace(TransferOptions(min_speed=0, speed_window=1), where="here")
    for now in range(0, 100, 10):
        pace.took(0, now=now)
