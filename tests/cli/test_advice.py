"""The last line of a failure says what to do next, wherever its cause does not."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

from cudnn_redist import errors
from cudnn_redist.cli.advice import told
from cudnn_redist.errors import (
    ArchiveError,
    ArchiveWithdrawn,
    DigestMismatch,
    LabelNotFound,
    ManifestChanged,
    ManifestError,
    NotInstalled,
    PrefixError,
    RedistError,
    SizeMismatch,
    TransferError,
    TransientTransferError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

WHERE = "https://mirror.example/redist/x"
PROMISES = {"expected": 1, "actual": 2}


@pytest.mark.parametrize(
    ("error", "step"),
    [
        (TransientTransferError("why", where=WHERE, landed=1), "the same command goes on from there"),
        (TransientTransferError("why", where=WHERE), "try again later"),
        (TransientTransferError("why", where=WHERE, phase="manifest"), "try again later"),
        (TransferError("HTTP 403", where=WHERE, status=403), "give another --source"),
        (SizeMismatch("why", where=WHERE, **PROMISES), "nothing of it is kept"),
        (DigestMismatch("why", where=WHERE, **PROMISES), "nothing of it is kept"),
        (ManifestChanged("why", where=WHERE, **PROMISES), "the sha256 to give"),
        (ManifestError("why", where=WHERE), "give another --source"),
        (ArchiveError("why", where=WHERE), "nothing of it is kept"),
        (NotInstalled("why", where=WHERE), "`list --installed` shows what is"),
        (ArchiveWithdrawn("why", where=WHERE), "`list` shows other releases"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, RedistError) else "",
)
def test_the_next_step_follows_the_cause(error: RedistError, step: str) -> None:
    assert told(error).startswith(f"{error}; ")
    assert step in told(error)


@pytest.mark.parametrize(
    "error",
    [
        UsageError("'x' is no label: dotted numbers such as 9.27.0"),
        LabelNotFound("no such release label; `list` shows the labels there are"),
        NotInstalled("9.27.0 is not installed like that", where="/root", available=["/root/cudnn"]),
        ArchiveError("this is no archive but text", where="/README.md", phase="adopt"),
        PrefixError("needs 7 bytes, 5 are free", where="/root"),
        TransferError("the proxy wants a login", where=WHERE, phase="proxy", status=407),
        TransferError("HTTP 401: the server wants a login", where=WHERE, status=401),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_cause_that_says_what_to_do_stands_alone(error: RedistError) -> None:
    assert told(error) == str(error)


def leaves() -> list[Callable[..., RedistError]]:
    found = inspect.getmembers(errors, inspect.isclass)
    return [each for _, each in found if issubclass(each, RedistError)]


@pytest.mark.parametrize("kind", leaves(), ids=lambda kind: kind.__name__)
def test_every_error_is_one_line_of_ascii(kind: Callable[..., RedistError]) -> None:
    integrity = isinstance(kind, type) and issubclass(kind, errors.IntegrityError)
    line = told(kind("why", where=WHERE, **(PROMISES if integrity else {})))

    assert f"{WHERE}: why" in line
    assert line.isascii()
    assert line.isprintable()
