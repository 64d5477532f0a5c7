from __future__ import annotations

import copy
import inspect
import json
import pickle

import pytest

from cudnn_redist import errors
from cudnn_redist.errors import (
    ArchiveError,
    DigestMismatch,
    LabelNotFound,
    LockMismatch,
    ManifestError,
    RedistError,
    SizeMismatch,
    TransientTransferError,
    VerificationFailed,
)

EXIT_CODES = {
    "UsageError": 2,
    "NotAvailableError": 3,
    "LabelNotFound": 3,
    "ComponentNotFound": 3,
    "PlatformNotFound": 3,
    "VariantNotFound": 3,
    "VersionNotFound": 3,
    "ChannelNotFound": 3,
    "ArchiveWithdrawn": 3,
    "NotInstalled": 3,
    "TransferError": 4,
    "TransientTransferError": 4,
    "OfflineError": 4,
    "IntegrityError": 5,
    "SizeMismatch": 5,
    "DigestMismatch": 5,
    "ManifestChanged": 5,
    "ManifestError": 6,
    "ArchiveError": 6,
    "LockError": 6,
    "PrefixError": 7,
    "LockMismatch": 8,
    "VerificationFailed": 9,
}


def classes() -> dict[str, type[RedistError]]:
    found = inspect.getmembers(errors, inspect.isclass)
    return {name: each for name, each in found if issubclass(each, RedistError) and each is not RedistError}


def test_every_class_has_its_exit_code() -> None:
    assert {name: each.exit_code for name, each in classes().items()} == EXIT_CODES
    assert RedistError.exit_code == 1


def test_every_class_is_exported_and_drawn_in_the_tree() -> None:
    assert sorted(errors.__all__) == sorted([*classes(), "RedistError"])
    assert errors.__doc__ is not None
    assert [name for name in errors.__all__ if name not in errors.__doc__] == []


@pytest.mark.parametrize("name", sorted(EXIT_CODES))
def test_the_tree_is_by_blame(name: str) -> None:
    """A class shares its exit code with the branch it hangs on: one ``except`` is one exit code."""
    base = classes()[name].__bases__[0]
    assert base is RedistError or base.exit_code == classes()[name].exit_code


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RedistError("it broke", phase="unpack", where="/x"), "unpack: /x: it broke"),
        (RedistError("it broke"), "run: it broke"),
        (ArchiveError("is cut short", where="a.tar.xz", member="lib/x"), "unpack: a.tar.xz: is cut short"),
        (LabelNotFound("no such label", available=["9.27.0"]), "label: no such label"),
    ],
)
def test_an_error_reads_phase_where_cause(error: RedistError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    "error",
    [
        SizeMismatch("short", where="http://h/x", expected=2, actual=1),
        TransientTransferError("busy", status=503, retry_after=2.0),
        LockMismatch("differs", where="a.lock", differences=["x"]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_comes_whole_out_of_a_worker_process(error: RedistError) -> None:
    twin = pickle.loads(pickle.dumps(error))
    assert (type(twin), str(twin), twin.args) == (type(error), str(error), error.args)
    assert twin.facts() == copy.copy(error).facts() == error.facts()


def test_facts_are_for_programs() -> None:
    error = DigestMismatch("differs", where="http://h/x", expected="aa", actual="bb")
    assert json.loads(json.dumps(error.facts())) == {
        "type": "DigestMismatch",
        "exit_code": 5,
        "phase": "verify",
        "where": "http://h/x",
        "cause": "differs",
        "expected": "aa",
        "actual": "bb",
    }


def test_the_facts_of_each_branch() -> None:
    assert ManifestError("bad", faults=["a.b"]).facts()["faults"] == ("a.b",)
    assert VerificationFailed("2 differences", findings=["x", "y"]).facts()["findings"] == ("x", "y")
    transient = TransientTransferError("busy", status=503, retry_after=2.0).facts()
    assert (transient["status"], transient["retry_after"], transient["phase"]) == (503, 2.0, "download")
