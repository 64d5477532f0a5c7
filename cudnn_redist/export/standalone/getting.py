"""An archive's bytes from the first source that gives the promised ones, by the standard library's HTTP."""

from __future__ import annotations

import contextlib
import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, BinaryIO, Final

from ...blame import from_first, reported
from ...digest import Judge
from ...errors import (
    ArchiveWithdrawn,
    IntegrityError,
    TransferError,
    TransientTransferError,
)
from ...locations import is_local, local_path, redacted
from ...notes import log
from .servers import opener, validator, without_login

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...errors import RedistError
    from ...planner import PlannedArchive

__all__ = ["Got", "Patience", "get"]

_PIECE: Final = 1 << 20
_GONE: Final = (404, 410)
_MAY_PASS: Final = (408, 416, 425, 429, 500, 502, 503, 504)
_RANGE: Final = re.compile(r"bytes ([0-9]+)-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often a request is tried again, after how many seconds, and for how many a silent server is waited for."""

    retries: int = 5
    pause: float = 0.5
    stall: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What was got: the archive's size in bytes, and where it came from."""

    size: int
    origin: str


def get(
    archive: PlannedArchive,
    file: BinaryIO,
    patience: Patience,
    landed: Callable[[int], None] = lambda _: None,
) -> Got:
    """Write the archive into ``file``, an empty one, from its URLs in order; judged before this returns.

    ``landed`` is called with the bytes so far. Raises ``ArchiveWithdrawn``, ``TransferError``, ``IntegrityError``, of
    several failures the one that says most; ``OSError`` from the disk.
    """
    return from_first(
        archive.urls,
        lambda url: _Getting(archive, url, file, patience, landed).run(),
        decide=lambda failures: reported(failures, archive),
    )


class _Getting:
    """One archive from one URL."""

    def __init__(
        self,
        archive: PlannedArchive,
        url: str,
        file: BinaryIO,
        patience: Patience,
        landed: Callable[[int], None],
    ) -> None:
        self._archive = archive
        self._url = url
        self._where = str(local_path(url)) if is_local(url) else redacted(url)
        self._file = file
        self._patience = patience
        self._landed = landed
        self._validator: str | None = None
        self._resumed = False
        self._restart()

    def run(self) -> Got:
        try:
            self._get_all()
        except IntegrityError as error:
            if not self._resumed:
                raise
            # Two may have met in one, where a server goes on with another file than it began: a clean start tells.
            log.info("%s; again from the start", error)
            self._restart()
            self._get_all()
        return Got(size=self._judge.received, origin=self._where)

    def _get_all(self) -> None:
        if is_local(self._url):
            self._copy()
        else:
            self._download()
        self._judge.verdict()

    def _restart(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._judge = Judge(self._archive.expected, where=self._where)

    def _copy(self) -> None:
        try:
            source = local_path(self._url).open("rb", buffering=0)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ArchiveWithdrawn("promised, but not here", where=self._where) from error
        except OSError as error:
            raise TransferError(f"cannot be read: {error.strerror}", where=self._where) from error
        with source:
            self._take(source)

    def _download(self) -> None:
        failures = most = 0
        while True:
            try:
                self._request()
            except TransientTransferError as error:
                # What came through, and never had before, counts: only failures in a row are the end of patience.
                failures = 1 if self._judge.received > most else failures + 1
                most = max(most, self._judge.received)
                if failures > self._patience.retries:
                    raise
                log.info("%s; again", error)
                time.sleep(self._patience.pause * failures)
            else:
                return

    def _request(self) -> None:
        """Ask for what is missing, and take it."""
        question = self._question()
        with self._translated():
            answer = opener().open(question, timeout=self._patience.stall)
        with answer:
            if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise TransferError("the server sends an encoding that was not asked for", where=self._where)
            begins = _RANGE.match(answer.headers.get("Content-Range", ""))
            if answer.status != http.client.PARTIAL_CONTENT:
                self._restart()
            elif begins is None or int(begins[1]) != self._judge.received:
                raise TransferError("the server sends another range than was asked for", where=self._where)
            else:
                self._resumed = True
            self._validator = validator(answer.headers)
            end = None if answer.length is None else self._judge.received + answer.length
            self._take(answer)
            self._require_whole(self._archive.size if end is None else end)

    def _question(self) -> urllib.request.Request:
        url, headers = without_login(self._url)
        question = urllib.request.Request(url)
        for name, value in headers.items():
            question.add_unredirected_header(name, value)
        question.add_header("User-Agent", "cudnn-redist-installer")
        question.add_header("Accept-Encoding", "identity")
        if self._judge.received and self._validator is None:
            self._restart()
        if self._judge.received and self._validator is not None:
            question.add_header("Range", f"bytes={self._judge.received}-")
            question.add_header("If-Range", self._validator)
        return question

    def _take(self, source: IO[bytes]) -> None:
        while True:
            with self._translated():
                piece = source.read(_PIECE)
            if not piece:
                return
            self._judge.update(piece)
            self._file.write(piece)
            self._landed(self._judge.received)

    def _require_whole(self, end: int | None) -> None:
        if end is not None and self._judge.received < end:
            cause = f"the connection ended after {self._judge.received} of {end} bytes"
            raise TransientTransferError(cause, where=self._where)

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the standard library raises on the line into ours."""
        try:
            yield
        except urllib.error.HTTPError as error:
            error.close()
            raise self._refused(error) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise TransferError(
                    f"certificate not trusted: {reason.verify_message}", where=self._where
                ) from error
            raise TransientTransferError(f"{type(reason).__name__}: {reason}", where=self._where) from error

    def _refused(self, error: urllib.error.HTTPError) -> RedistError:
        if error.code in _GONE:
            return ArchiveWithdrawn(f"HTTP {error.code}", where=self._where)
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            # So it is another file than before, or a server without ranges: from the start, then.
            self._validator = None
        kind = TransientTransferError if error.code in _MAY_PASS else TransferError
        return kind(f"HTTP {error.code}", where=self._where, status=error.code)
