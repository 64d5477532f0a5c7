"""A threaded loopback HTTP server for one directory: logs each request, and misbehaves when told to."""

from __future__ import annotations

import base64
import contextlib
import itertools
import posixpath
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from .exchange import Asked, Body, Reply, Resource, answer, page
from .faults import Fault
from .indexes import index_page
from .log import Log, Request
from .wire import HangUp, Wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_JOIN_SECONDS = 60


@dataclass(slots=True)
class _Faults:
    """What is to go wrong at the paths that end in ``suffix``."""

    suffix: str
    queue: deque[Fault] = field(default_factory=deque)
    lasting: Fault | None = None


class RedistServer:
    """Serve ``directory`` on 127.0.0.1 while the ``with`` block lasts.

    ``index`` is ``nvidia``, ``nginx``, ``apache``, ``python``, or ``forbidden`` (403) or ``missing`` (404).
    ``rate`` limits each connection to so many body bytes per second. ``auth`` is the (user, password) that
    Basic authentication must bring. All three may be changed while the server runs.
    """

    def __init__(
        self,
        directory: Path | str,
        *,
        index: str = "nvidia",
        rate: float | None = None,
        auth: tuple[str, str] | None = None,
        port: int = 0,
    ) -> None:
        self.directory = Path(directory)
        self.index = index
        self.rate = rate
        self.auth = auth
        self.port = port
        self._log = Log()
        self._lock = threading.Lock()
        self._faults: dict[str, _Faults] = {}
        self._closing = threading.Event()
        self._connections: dict[int, socket.socket] = {}
        self._numbers = itertools.count(1)
        self._threads: list[threading.Thread] = []
        self._listener: socket.socket | None = None

    @property
    def url(self) -> str:
        """The root, with a trailing slash."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def log(self) -> list[Request]:
        """Every request so far, in order of arrival."""
        return self._log.requests()

    def requests(self, path_suffix: str = "") -> list[Request]:
        """Return the requests whose path ends so."""
        return self._log.requests(path_suffix)

    def wait_for(
        self, path_suffix: str = "", *, count: int = 1, sent: int = 0, timeout: float = 60
    ) -> Request:
        """Wait until ``count`` requests for such a path were answered with at least ``sent`` bytes each.

        Return the last of them; raise TimeoutError if they do not come.
        """
        return self._log.wait_for(path_suffix, count=count, sent=sent, timeout=timeout)

    def settle(self) -> None:
        """Wait until every client has gone: then the log has all that they asked for, and nothing is sent any more."""
        # Connections are accepted in turn: once this one is ended, none that was made before it waits.
        with socket.create_connection(("127.0.0.1", self.port)) as last:
            last.shutdown(socket.SHUT_WR)
            last.recv(1)
        deadline = time.monotonic() + _JOIN_SECONDS
        while self._connections:
            if time.monotonic() > deadline:
                raise RuntimeError("a client of the test server did not go")
            time.sleep(0.001)

    def fail(self, path_suffix: str, *faults: Fault) -> None:
        """Let the next requests whose path ends so meet these faults, one each; then all is well again."""
        with self._lock:
            self._faults.setdefault(path_suffix, _Faults(path_suffix)).queue.extend(faults)

    def always(self, path_suffix: str, fault: Fault) -> None:
        """Let every request whose path ends so meet this fault, once the queue of ``fail`` is used up."""
        with self._lock:
            self._faults.setdefault(path_suffix, _Faults(path_suffix)).lasting = fault

    def heal(self) -> None:
        """Forget all faults."""
        with self._lock:
            self._faults.clear()

    def start(self) -> Self:
        """Listen; after ``close``, on the same port again."""
        self._closing.clear()
        self._threads.clear()
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        self.port = self._listener.getsockname()[1]
        self._start_thread(self._accept, self._listener)
        return self

    def close(self) -> None:
        """End every connection, and wait for the threads; a second call does nothing."""
        if self._listener is None:
            return
        self._closing.set()
        # A blocked accept() is woken by a connection, on every system.
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            pass
        with self._lock:
            for connection in self._connections.values():
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + _JOIN_SECONDS
        for thread in self._threads:
            thread.join(max(0, deadline - time.monotonic()))
        self._listener = None
        if any(thread.is_alive() for thread in self._threads):
            raise RuntimeError("a thread of the test server did not end")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start_thread(self, work: Callable[..., None], *arguments: object) -> None:
        # Daemons, so that a test that fails to close the server cannot keep the interpreter alive.
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        with listener:
            while not self._closing.is_set():
                connection, _ = listener.accept()
                number = next(self._numbers)
                with self._lock:
                    self._connections[number] = connection
                self._start_thread(self._converse, number, connection)

    def _converse(self, number: int, connection: socket.socket) -> None:
        with connection, contextlib.suppress(HangUp, ConnectionError):
            # Without this, small pieces wait for the client's acknowledgement.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire = Wire(connection, self._closing)
            while not self._closing.is_set():
                self._exchange(number, wire)
        with self._lock:
            del self._connections[number]

    def _exchange(self, number: int, wire: Wire) -> None:
        asked = wire.receive()
        line = self._log.begin(asked, number)
        fault = self._fault_for(asked.path)
        asked = fault.request(asked)
        reply = fault.reply(self._answer(asked, fault))
        if reply.rate is None:
            reply = replace(reply, rate=self.rate)
        self._log.answered(line, reply.status)
        wire.send(asked, reply, lambda size: self._log.sent(line, size))

    def _fault_for(self, path: str) -> Fault:
        with self._lock:
            for faults in sorted(self._faults.values(), key=lambda faults: -len(faults.suffix)):
                if not path.endswith(faults.suffix):
                    continue
                if faults.queue:
                    return faults.queue.popleft()
                if faults.lasting is not None:
                    return faults.lasting
        return Fault()

    def _answer(self, asked: Asked, fault: Fault) -> Reply:
        if not self._admits(asked):
            return page(401, "401 Unauthorized", {"WWW-Authenticate": 'Basic realm="redist"'})
        if asked.method not in ("GET", "HEAD"):
            return page(405, "405 Method Not Allowed", {"Allow": "GET, HEAD"})
        path = self._locate(asked.path)
        if path.is_dir():
            return self._index(asked.path, path)
        if not path.is_file():
            return page(404, "404 Not Found")
        return answer(asked, fault.resource(Resource.of_file(path)))

    def _admits(self, asked: Asked) -> bool:
        if self.auth is None:
            return True
        expected = base64.b64encode(":".join(self.auth).encode()).decode()
        return asked.headers.get("authorization") == f"Basic {expected}"

    def _locate(self, url_path: str) -> Path:
        """Dots are resolved as in a URL, so a path cannot climb above the directory."""
        return self.directory / posixpath.normpath(f"/{url_path}").lstrip("/")

    def _index(self, url_path: str, directory: Path) -> Reply:
        if not url_path.endswith("/"):
            return page(301, "301 Moved Permanently", {"Location": quote(f"{url_path}/")})
        if self.index == "forbidden":
            return page(403, "403 Forbidden")
        if self.index == "missing":
            return page(404, "404 Not Found")
        text = index_page(self.index, directory, url_path)
        return Reply(status=200, headers={"Content-Type": "text/html"}, body=Body.of(text.encode()))
