"""A real Apache: a server over plain HTTP or TLS, and a forward proxy that wants a login."""

from __future__ import annotations

import base64
import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from real.nginx import Request
from servers.daemon import program, running

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULES = Path("/usr/lib/apache2/modules")
_COMMON = ("mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic")
_SERVER = ("alias", "autoindex", "deflate", "dir", "filter", "mime", "ssl")
_PROXY = ("proxy", "proxy_http", "proxy_connect")
# Started by root, Apache gives its workers to somebody else.
_NOBODY = 'User "#65534"\nGroup "#65534"\n'

_CONFIGURATION = """\
ServerName 127.0.0.1
ServerRoot "{scratch}"
DefaultRuntimeDir "{scratch}"
PidFile apache.pid
ErrorLog error.log
LogFormat "%m\\t%U%q\\t%>s\\t%B\\t%{{Range}}i" asked
CustomLog access.log asked
Listen 127.0.0.1:{port}
StartServers 1
"""
# The directory is there and may be listed; what can be compressed would be, for who wants it.
_TREE = """\
DocumentRoot "{tree}"
TypesConfig /dev/null
AddType application/json .json
<Directory "{tree}">
    Options Indexes
    DirectoryIndex index.html
    IndexOptions FancyIndexing
    Require all granted
    SetOutputFilter DEFLATE
</Directory>
<Location "/private/">
    AuthType Basic
    AuthName "redist"
    AuthUserFile passwords
    Require valid-user
</Location>
Alias "/private/" "{tree}/"
<Location "/plain/">
    Options -Indexes
</Location>
Alias "/plain/" "{tree}/"
Redirect permanent "/moved/" "/"
"""
_TLS = """\
SSLEngine on
SSLCertificateFile "{certificate}"
"""
_FORWARD = """\
ProxyRequests On
AllowCONNECT 1-65535
<Proxy "*">
    AuthType Basic
    AuthName "proxy"
    AuthUserFile passwords
    Require valid-user
</Proxy>
"""


@dataclass(frozen=True, kw_only=True)
class Apache:
    """A running Apache; ``url`` is its root."""

    url: str
    scratch: Path

    def requests(self) -> list[Request]:
        """Return what was asked for so far; the line of a request is written after its last byte went out."""
        lines = (self.scratch / "access.log").read_text(encoding="utf-8").splitlines()
        asked = [_request(*line.split("\t")) for line in lines]
        return [request for request in asked if request.path != "/ready"]


@contextmanager
def serving(
    tree: Path, scratch: Path, *, login: tuple[str, str], certificate: Path | None = None
) -> Iterator[Apache]:
    """Serve ``tree`` (under ``/private/`` with a ``login``); by TLS with a ``certificate`` and its key in one file.

    ``tree`` must be readable for everybody.
    """
    text = _TREE.format(tree=tree) + (_TLS.format(certificate=certificate) if certificate else "")
    with _started(text, _SERVER, scratch, login) as port:
        yield Apache(url=f"{'https' if certificate else 'http'}://127.0.0.1:{port}/", scratch=scratch)


@contextmanager
def proxying(scratch: Path, *, login: tuple[str, str]) -> Iterator[int]:
    """Be a forward proxy, tunnels included, for who brings the ``login``; yield the port."""
    with _started(_FORWARD, _PROXY, scratch, login) as port:
        yield port


def htpasswd(login: tuple[str, str]) -> str:
    """Return a line of a password file, in the one scheme that is easily made (Apache's and nginx's ``{SHA}``)."""
    user, password = login
    return f"{user}:{{SHA}}{base64.b64encode(hashlib.sha1(password.encode()).digest()).decode()}\n"


@contextmanager
def _started(text: str, modules: tuple[str, ...], scratch: Path, login: tuple[str, str]) -> Iterator[int]:
    apache = program("apache2", "apache2-bin")
    loaded = "".join(f"LoadModule {name}_module {_MODULES}/mod_{name}.so\n" for name in (*_COMMON, *modules))
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "passwords").write_text(htpasswd(login), encoding="utf-8")
    configuration = scratch / "apache.conf"

    def command(port: int) -> list[str | Path]:
        common = _CONFIGURATION.format(scratch=scratch, port=port)
        user = _NOBODY if os.geteuid() == 0 else ""
        configuration.write_text(loaded + common + user + text, encoding="utf-8")
        return [apache, "-D", "FOREGROUND", "-f", configuration]

    with running(command, scratch / "said.log") as port:
        yield port


def _request(method: str, path: str, status: str, sent: str, byte_range: str) -> Request:
    return Request(method=method, path=path, status=int(status), sent=int(sent), range=byte_range)
