"""Which proxy a request goes through, as the variables of the environment say. Pure.

What they hold was written for many programs, each with a grammar of its own. What can be understood is honoured, and
what cannot is an error that names the variable, never its value: nobody knows which part of that is a password.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ..errors import TransferError
from ..locations import redacted
from ..notes import log
from .logins import origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .logins import Login

__all__ = ["Proxies", "Proxy"]

_KINDS = ("http", "https", "socks5", "socks5h")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,19}", re.IGNORECASE)
_NAME = re.compile(r"[\w-]+(\.[\w-]+)*")
_GRAMMAR = (
    "cannot be read as http://[user:password@]host[:port]; special characters in a login must be percent-encoded, "
    "and an IPv6 address stands in brackets"
)
_WAY_OUT = "and only http:// and https:// ones can be used; hosts that NO_PROXY lists are reached without"
_NO_SOCKS = "names a SOCKS proxy ({}://), for which the package socksio is missing (pip install socksio)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy, and the variable that ``named`` it; ``url`` has no login."""

    url: str
    login: Login | None = field(repr=False)
    named: str

    @property
    def via(self) -> str:
        """What an error adds to its cause: whoever reads it may not know of the proxy at all."""
        return f" (through the proxy of {self.named})"

    def unusable(self, *, missing: bool, url: str) -> TransferError:
        """Return the error for a proxy that cannot be used to get ``url``, or not while a package is ``missing``."""
        why = _NO_SOCKS.format(self.url.partition(":")[0]) if missing else _GRAMMAR
        return _error(self.named, why, url)


class Proxies:
    """Answers from ``variables``: name and value by use, which is ``http``, ``https``, ``all`` or ``no``."""

    def __init__(self, variables: Mapping[str, tuple[str, str]]) -> None:
        self._variables = variables
        name, hosts = variables.get("no", ("", ""))
        self._exempt = list(_exemptions(hosts, name)) if len(variables) > 1 else []

    def of(self, url: str) -> Proxy | None:
        """Return the proxy for ``url``; ``TransferError`` where the variable does not name one that can be used."""
        scheme, host, port = origin(url)
        name, value = self._variables.get(scheme) or self._variables.get("all") or ("", "")
        if not value or any(each.covers(host or "", port) for each in self._exempt):
            return None
        try:
            return _parsed(value.strip(), name)
        except _Unusable as unusable:
            raise _error(name, str(unusable), url) from None


class _Unusable(ValueError):
    """Why the value of a variable cannot be used."""


def _error(name: str, why: str, url: str) -> TransferError:
    """No cause is chained to it: what it comes from may quote a password."""
    return TransferError(f"{name} {why}", phase="proxy", where=redacted(url))


def _parsed(value: str, name: str) -> Proxy:
    if "://" not in value:
        value = f"http://{value}"
    scheme = value.partition("://")[0].lower()
    if _SCHEME.fullmatch(scheme) and scheme not in _KINDS:
        raise _Unusable(f"names a {scheme}:// proxy, {_WAY_OUT}")
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _Unusable(_GRAMMAR) from None
    # An @ behind the host is what is left of a login that has a / or a # in it.
    if not host or port == 0 or re.search(r"[\s%]", host) or "@" in parts.path + parts.query + parts.fragment:
        raise _Unusable(_GRAMMAR)
    place = f"[{host}]" if ":" in host else host
    login = None if parts.username is None else (unquote(parts.username), unquote(parts.password or ""))
    return Proxy(url=f"{scheme}://{place}" + (f":{port}" if port else ""), login=login, named=name)


@dataclass(frozen=True, slots=True)
class _Exemption:
    """Hosts to reach without a proxy: all (``None``), a network, or a name with all names below it."""

    hosts: IPv4Network | IPv6Network | str | None
    port: int | None

    def covers(self, host: str, port: int | None) -> bool:
        if self.port not in (None, port):
            return False
        if isinstance(self.hosts, str):
            host = host.lower().rstrip(".")
            return host == self.hosts or host.endswith(f".{self.hosts}")
        return self.hosts is None or _is_in(host, self.hosts)


def _exemptions(hosts: str, name: str) -> Iterator[_Exemption]:
    """Read a list as curl does, blanks for commas included, and networks besides; what makes no sense is told."""
    for entry in hosts.replace(",", " ").split():
        try:
            yield _exemption(entry)
        except ValueError:
            shown = entry.rpartition("@")[2]
            log.warning("%s: %r is no host, address or network, and is passed over", name, shown)


def _exemption(entry: str) -> _Exemption:
    entry = entry.rpartition("://")[2]
    if entry == "*":
        return _Exemption(None, None)
    bare, colon, port = entry.rpartition(":")
    if not colon or "]" in port or (":" in bare and "]" not in bare):
        # No port, but perhaps an IPv6 address.
        bare, port = entry, ""
    elif not port.isdecimal():
        raise ValueError(entry)
    number = int(port) if port else None
    plain = bare.replace("[", "").replace("]", "")
    if "/" in plain or ":" in plain or re.fullmatch(r"[0-9.]+", plain):
        return _Exemption(ip_network(plain, strict=False), number)
    domain = plain.removeprefix("*").strip(".").lower()
    if not _NAME.fullmatch(domain):
        raise ValueError(entry)
    return _Exemption(domain, number)


def _is_in(host: str, network: IPv4Network | IPv6Network) -> bool:
    try:
        return ip_address(host) in network
    except ValueError:
        return False
