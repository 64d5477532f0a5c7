"""A real Caddy over plain HTTP: one directory, listed, not listed, and behind a login."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from real.nginx import Request
from servers.daemon import program, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# What it would keep for later goes nowhere, and no port but ours is opened.
_CONFIGURATION = """\
{
    admin off
    auto_https off
    skip_install_trust
}
http://127.0.0.1:%(port)d {
    root * "%(tree)s"
    log {
        output file "%(scratch)s/access.log"
        format json
    }
    handle_path /private/* {
        basicauth {
            %(user)s %(hash)s
        }
        file_server browse
    }
    handle_path /plain/* {
        file_server
    }
    handle {
        file_server browse
    }
}
"""


@dataclass(frozen=True, kw_only=True)
class Caddy:
    """A running Caddy; ``url`` is its root."""

    url: str
    scratch: Path

    def requests(self) -> list[Request]:
        """Return what was asked for so far."""
        lines = (self.scratch / "access.log").read_text(encoding="utf-8").splitlines()
        asked = [_request(json.loads(line)) for line in lines]
        return [request for request in asked if request.path != "/ready"]


@contextmanager
def serving(tree: Path, scratch: Path, *, login: tuple[str, str]) -> Iterator[Caddy]:
    """Serve ``tree``: listed, under ``/plain/`` without a list, under ``/private/`` with a ``login``."""
    caddy = program("caddy", "caddy")
    scratch.mkdir(parents=True, exist_ok=True)
    user, password = login
    hashed = subprocess.run(
        [caddy, "hash-password", "--plaintext", password], check=True, capture_output=True, text=True
    ).stdout.strip()
    configuration = scratch / "Caddyfile"

    def command(port: int) -> list[str | Path]:
        filled = {"port": port, "tree": tree, "scratch": scratch, "user": user, "hash": hashed}
        configuration.write_text(_CONFIGURATION % filled, encoding="utf-8")
        home = [f"{name}={scratch}" for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")]
        return ["env", *home, caddy, "run", "--adapter", "caddyfile", "--config", configuration]

    with running(command, scratch / f"said-{os.getpid()}.log") as port:
        yield Caddy(url=f"http://127.0.0.1:{port}/", scratch=scratch)


def _request(line: dict[str, object]) -> Request:
    asked = line["request"]
    assert isinstance(asked, dict)
    return Request(
        method=asked["method"],
        path=asked["uri"],
        status=int(str(line["status"])),
        sent=int(str(line["size"])),
        range=asked["headers"].get("Range", ["-"])[0],
    )
