"""A real tinyproxy that wants a login."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from servers.daemon import program, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CONFIGURATION = """\
Listen 127.0.0.1
Port {port}
Timeout 30
MaxClients 50
BasicAuth {login[0]} {login[1]}
"""


@contextmanager
def proxying(scratch: Path, *, login: tuple[str, str]) -> Iterator[int]:
    """Be a forward proxy, tunnels included, for who brings the ``login`` (plain letters and digits); yield the port."""
    scratch.mkdir(parents=True, exist_ok=True)
    configuration = scratch / "tinyproxy.conf"

    def command(port: int) -> list[str | Path]:
        configuration.write_text(_CONFIGURATION.format(port=port, login=login), encoding="utf-8")
        return [program("tinyproxy", "tinyproxy-bin"), "-d", "-c", configuration]

    with running(command, scratch / "said.log") as port:
        yield port
