"""Places where a fetch waits for somebody who does not answer, beyond a server that is silent in an answer."""

from __future__ import annotations

import signal
import socket
import threading
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from campaigns.processes import running, until
from redist.faults import Delay, Redirect, Status, Trickle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from redist import RedistServer

    Waiting = Callable[[RedistServer, Path], AbstractContextManager["Wait"]]

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13", "--no-progress")
MANIFEST = "redistrib_9.27.0.json"


@dataclass(frozen=True, kw_only=True)
class Wait:
    """A fetch that waits; ``reached`` tells that it does."""

    source: str
    reached: Callable[[], object]
    label: str = "9.27.0"
    env: Mapping[str, str] = field(default_factory=dict)

    def words(self, root: Path) -> list[str | Path]:
        return ["fetch", self.label, *CHOICE, "--root", root, "--source", self.source]


class Mute:
    """Accepts connections on loopback, says ``greeting`` after the first bytes, and then nothing any more."""

    def __init__(self, greeting: bytes = b"") -> None:
        self.heard = b""
        self._greeting = greeting
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        while self._thread.is_alive():
            # It may have taken another connection meanwhile.
            for each in self._connections:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            self._thread.join(0.01)
        for each in (self._listener, *self._connections):
            each.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                self.heard += connection.recv(4096)
                connection.sendall(self._greeting)


@contextmanager
def tls_without_an_answer(_: RedistServer, __: Path) -> Iterator[Wait]:
    with Mute() as mute:
        yield Wait(source=f"https://{mute.place}/", reached=lambda: mute.heard)


@contextmanager
def tls_that_stops_half_way(_: RedistServer, __: Path) -> Iterator[Wait]:
    """A handshake record of 512 bytes is announced, and two of them come."""
    with Mute(b"\x16\x03\x03\x02\x00\x02\x00") as mute:
        yield Wait(source=f"https://{mute.place}/", reached=lambda: mute.heard)


@contextmanager
def proxy_without_an_answer(_: RedistServer, __: Path) -> Iterator[Wait]:
    with Mute() as mute:
        proxy = {"https_proxy": f"http://{mute.place}"}
        yield Wait(source="https://redist.invalid/", env=proxy, reached=lambda: b"CONNECT" in mute.heard)


@contextmanager
def connection_that_nobody_takes(_: RedistServer, __: Path) -> Iterator[Wait]:
    """The queue of a listener is full: further connections hang in SYN-SENT."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port = listener.getsockname()[1]
        for _each in range(2):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        known = _syn_sent(port)
        yield Wait(source=f"http://127.0.0.1:{port}/", reached=lambda: _syn_sent(port) > known)


@contextmanager
def index_without_an_answer(server: RedistServer, _: Path) -> Iterator[Wait]:
    server.always("/redist/", Delay(60))
    known = len(server.requests("/redist/"))
    source = f"{server.url}cudnn/redist/"
    yield Wait(source=source, label="latest", reached=lambda: len(server.requests("/redist/")) > known)


@contextmanager
def redirect_to_a_mute_place(server: RedistServer, _: Path) -> Iterator[Wait]:
    with Mute() as mute:
        server.always(".tar.xz", Redirect(f"http://{mute.place}/elsewhere"))
        yield Wait(source=server.url, reached=lambda: mute.heard)


@contextmanager
def pause_before_the_manifest(server: RedistServer, _: Path) -> Iterator[Wait]:
    server.always(MANIFEST, Status(503, headers={"Retry-After": "60"}))
    known = len(server.requests(MANIFEST))
    yield Wait(
        source=server.url, reached=lambda: any(each.status for each in server.requests(MANIFEST)[known:])
    )


@contextmanager
def turn_of_a_stopped_process(server: RedistServer, root: Path) -> Iterator[Wait]:
    server.fail(".tar.xz", Trickle(20_000))
    downloads, before = len(server.requests(".tar.xz")), len(server.requests(MANIFEST))
    with running(Wait(source=server.url, reached=bool).words(root)) as holder:
        until(lambda: any(each.sent for each in server.requests(".tar.xz")[downloads:]))
        holder.send_signal(signal.SIGSTOP)
        known = len(server.requests(MANIFEST))
        asked_by_each = known - before
        yield Wait(source=server.url, reached=lambda: len(server.requests(MANIFEST)) == known + asked_by_each)


WAITS: Mapping[str, Waiting] = {
    each.__name__.replace("_", " "): each
    for each in (
        tls_without_an_answer,
        tls_that_stops_half_way,
        proxy_without_an_answer,
        connection_that_nobody_takes,
        index_without_an_answer,
        redirect_to_a_mute_place,
        pause_before_the_manifest,
        turn_of_a_stopped_process,
    )
}


def _syn_sent(port: int) -> int:
    """Count the connections to ``port`` that the other side has not taken (state 02 in the kernel's list)."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(fields[2].endswith(f":{port:04X}") and fields[3] == "02" for fields in lines)
