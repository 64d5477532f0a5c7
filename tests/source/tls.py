"""A private authority made with the openssl command, and a TLS front for a plain server on loopback."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


@dataclass(frozen=True, kw_only=True)
class Certificates:
    """``authority`` signed ``server`` (which has its key in the same file)."""

    authority: Path
    server: Path


def make_certificates(folder: Path, names: str = "IP:127.0.0.1,DNS:localhost") -> Certificates:
    """Make an authority and a certificate for ``names``; skip the test without the openssl command."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command")
    authority, server = folder / "ca.pem", folder / "server.pem"
    _openssl(
        folder, "req", "-x509", *_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=ca"
    )
    _openssl(folder, "req", "-new", *_KEY, "-keyout", "key.pem", "-out", "server.csr", "-subj", "/CN=server")
    (folder / "names").write_text(f"subjectAltName={names}\n")
    signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
    _openssl(folder, "x509", "-req", "-in", "server.csr", "-out", "cert.pem", *signing)
    server.write_bytes((folder / "cert.pem").read_bytes() + (folder / "key.pem").read_bytes())
    return Certificates(authority=authority, server=server)


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=30)


class TlsFront:
    """Speaks TLS on a port of its own and passes the bytes on to ``port``, while the ``with`` block lasts."""

    def __init__(self, port: int, certificate: Path) -> None:
        self._behind = port
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._listener.getsockname()[1]}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                raw, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(raw,), daemon=True).start()

    def _serve(self, raw: socket.socket) -> None:
        with (
            contextlib.suppress(OSError),
            self._context.wrap_socket(raw, server_side=True) as front,
            socket.create_connection(("127.0.0.1", self._behind)) as behind,
        ):
            self._open += [front, behind]
            back = threading.Thread(target=_pump, args=(behind, front), daemon=True)
            back.start()
            _pump(front, behind)
            back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError, ValueError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
