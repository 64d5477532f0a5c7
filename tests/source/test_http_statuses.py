"""What each refusal means, with and without a wish when to come back."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest
from redist.faults import Status
from source.ground import QUICK, TAR, archives, get, nothing_left, redist

from cudnn_redist.errors import ArchiveWithdrawn, NotAvailableError, TransferError, TransientTransferError

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer

TRANSIENT = [408, 425, 429, 500, 502, 503, 504, 520, 522, 530, 599]
FINAL = [
    400,
    401,
    402,
    403,
    405,
    406,
    407,
    409,
    411,
    413,
    414,
    416,
    418,
    421,
    426,
    428,
    431,
    451,
    501,
    505,
    511,
]
MANIFEST = ".json"


@pytest.mark.parametrize("suffix", [MANIFEST, TAR])
@pytest.mark.parametrize("status", TRANSIENT)
def test_what_may_pass_is_tried_again(
    status: int, suffix: str, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_server.fail(suffix, Status(status))

    assert get(redist(redist_server), root=tmp_path).verify() == ()
    assert [request.status for request in redist_server.requests(suffix)] == [status, 200]


@pytest.mark.parametrize("suffix", [MANIFEST, TAR])
@pytest.mark.parametrize("status", [*FINAL, 404, 410])
def test_what_will_not_pass_is_told_at_once(
    status: int, suffix: str, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_server.always(suffix, Status(status))
    with pytest.raises((TransferError, NotAvailableError)) as caught:
        get(redist(redist_server), root=tmp_path)

    assert not isinstance(caught.value, TransientTransferError)
    assert isinstance(caught.value, NotAvailableError) is (status in (404, 410))
    assert isinstance(caught.value, ArchiveWithdrawn) is (status in (404, 410) and suffix == TAR)
    assert f" {status}" in caught.value.cause or isinstance(caught.value, NotAvailableError)
    assert len(redist_server.requests(suffix)) == 1
    assert nothing_left(tmp_path)


def in_seconds(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("wish", "least"),
    [
        ("1", 1.0),
        (in_seconds, 0.9),
        ("0", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("soon", 0.0),
        ("-5", 0.0),
        ("1.5", 0.0),
        ("", 0.0),
    ],
    ids=["seconds", "date", "zero", "past", "word", "negative", "fraction", "empty"],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_wish_is_met(
    status: int, wish: object, least: float, redist_server: RedistServer, tmp_path: Path
) -> None:
    told = wish(2) if callable(wish) else str(wish)
    redist_server.fail(TAR, Status(status, {"Retry-After": told}))
    started = time.monotonic()

    get(redist(redist_server), root=tmp_path)

    seconds = time.monotonic() - started
    assert seconds >= least
    assert seconds < least + 20
    assert len(archives(redist_server)) == 2


@pytest.mark.parametrize("wish", ["7200", "999999999999999", in_seconds], ids=["hours", "ages", "date"])
@pytest.mark.parametrize("suffix", [MANIFEST, TAR])
def test_a_wish_too_far_off_is_told_instead(
    suffix: str, wish: object, redist_server: RedistServer, tmp_path: Path
) -> None:
    told = wish(7200) if callable(wish) else str(wish)
    redist_server.always(suffix, Status(429, {"Retry-After": told}))
    with pytest.raises(
        TransientTransferError, match=r"HTTP 429 .*; the server asks to wait [0-9]+ s"
    ) as caught:
        get(redist(redist_server), root=tmp_path)

    assert (caught.value.retry_after or 0) > 7000
    assert len(redist_server.requests(suffix)) == 1


@pytest.mark.parametrize("status", [404, 410, 403])
def test_a_wish_with_a_final_refusal_changes_nothing(
    status: int, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_server.always(TAR, Status(status, {"Retry-After": "1"}))
    with pytest.raises((TransferError, NotAvailableError)):
        get(redist(redist_server), root=tmp_path)

    assert len(archives(redist_server)) == 1


def test_tries_end_though_the_server_wishes_for_more(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always(TAR, Status(503, {"Retry-After": "0"}))
    with pytest.raises(TransientTransferError):
        get(redist(redist_server), root=tmp_path)

    assert len(archives(redist_server)) == 1 + QUICK.retries
