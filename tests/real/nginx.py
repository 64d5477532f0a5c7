"""A real nginx over one directory, as a child on a free loopback port; no system service is touched."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from servers.daemon import stop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Every path but the tree's is relative to -p, the scratch directory. The readiness answer stays out of the
# log, which thus holds what the program under test asked for and nothing else.
_CONFIGURATION = """\
daemon off;
pid nginx.pid;
{user}
events {{ worker_connections 256; }}
http {{
    types {{ application/json json; }}
    default_type application/octet-stream;
    log_format asked '$request_method\t$request_uri\t$status\t$body_bytes_sent\t$http_range';
    access_log access.log asked;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    sendfile on;
    server {{
        listen 127.0.0.1:{port};
        root "{tree}";
        autoindex on;
        limit_rate {limit_rate};
        location = /ready {{ access_log off; return 204; }}
        {directives}
    }}
}}
"""
_START_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """One line of the access log; ``sent`` counts the body's bytes, ``range`` is ``-`` where absent."""

    method: str
    path: str
    status: int
    sent: int
    range: str


@dataclass(frozen=True, kw_only=True)
class Nginx:
    port: int
    scratch: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def requests(self) -> list[Request]:
        """Return what was asked for so far; complete once the server has stopped."""
        lines = (self.scratch / "access.log").read_text(encoding="utf-8").splitlines()
        return [_request(*line.split("\t")) for line in lines]


@contextmanager
def serving(tree: Path, scratch: Path, *, limit_rate: str = "0", directives: str = "") -> Iterator[Nginx]:
    """Serve ``tree`` while the block runs.

    ``limit_rate`` is nginx's own, per connection: ``20m`` is 20 MiB/s, ``0`` no limit. ``directives`` are added to
    those of the server.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        text = _CONFIGURATION.format(
            user=_user_line(), port=port, tree=tree, limit_rate=limit_rate, directives=directives
        )
        (scratch / "nginx.conf").write_text(text, encoding="utf-8")
        child = _start(scratch, listener)
    server = Nginx(port=port, scratch=scratch)
    try:
        _wait_until_ready(server, child)
        yield server
    finally:
        stop(child)


def _user_line() -> str:
    # Started by root, nginx gives its workers to "nobody", who cannot read a private temporary directory.
    return "user root root;" if os.geteuid() == 0 else ""


def _start(scratch: Path, listener: socket.socket) -> subprocess.Popen[bytes]:
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")
    if program is None:
        raise RuntimeError("nginx is not installed; on Debian: apt-get install nginx")
    # nginx takes over the sockets this variable names (its way of upgrading itself), so that no other process
    # can take the port between choosing and binding it.
    environment = {**os.environ, "NGINX": f"{listener.fileno()};"}
    command = [program, "-p", str(scratch), "-c", "nginx.conf", "-e", "error.log"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        command, env=environment, pass_fds=[listener.fileno()], stdin=quiet, stdout=quiet, stderr=quiet
    )


def _wait_until_ready(server: Nginx, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while child.poll() is None and time.monotonic() < deadline:
        if _answers(server):
            return
        time.sleep(0.05)
    log = server.scratch / "error.log"
    reason = log.read_text(encoding="utf-8") if log.exists() else "it left no log"
    raise RuntimeError(f"nginx did not start: {reason}")


def _answers(server: Nginx) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == http.HTTPStatus.NO_CONTENT
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _request(method: str, path: str, status: str, sent: str, byte_range: str) -> Request:
    return Request(method=method, path=path, status=int(status), sent=int(sent), range=byte_range)
