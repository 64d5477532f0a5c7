"""Ending a request from another thread."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Line"]

_CONNECTED = (".connect_tcp.complete", ".start_tls.complete")


class Line:
    """The connections under some requests: ``streams``, shared by all lines of one client.

    ``cut`` ends the request under way, and every later one on this line. Only connecting itself is waited for.
    """

    def __init__(self, streams: list[Any]) -> None:
        self._streams = streams
        self._is_cut = False

    def cut(self) -> None:
        """Shut the sockets down: a blocked read returns at once, which closing them would not do."""
        self._is_cut = True
        for stream in tuple(self._streams):
            line = stream.get_extra_info("socket")
            if line is not None:
                with contextlib.suppress(OSError):
                    # Not TLS's own shutdown: it would leave the reader with nothing, or with the cipher.
                    socket.socket.shutdown(line, socket.SHUT_RDWR)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of a connection as it is made; the client calls this (httpx's ``trace`` extension)."""
        if event.endswith(_CONNECTED):
            self._streams.append(info["return_value"])
            if self._is_cut:
                self.cut()
