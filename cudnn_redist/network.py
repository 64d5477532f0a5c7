"""What this machine's variables say of its network: who is trusted, and which proxies stand between."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["check_certificate_variables", "proxy_variables"]


def check_certificate_variables(environ: Mapping[str, str] | None = None) -> None:
    """Raise ``UsageError`` when a variable that OpenSSL obeys names nothing: OpenSSL itself would stay silent.

    ``SSL_CERT_FILE`` is one file, ``SSL_CERT_DIR`` a list of directories of which OpenSSL uses those there are.
    """
    environ = os.environ if environ is None else environ
    file, directories = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
    if file and not Path(file).is_file():
        raise UsageError("SSL_CERT_FILE names a file that is missing", phase="trust", where=file)
    if directories and not any(Path(part).is_dir() for part in directories.split(os.pathsep)):
        raise UsageError("SSL_CERT_DIR names a directory that is missing", phase="trust", where=directories)


def proxy_variables(environ: Mapping[str, str] | None = None) -> dict[str, tuple[str, str]]:
    """Return name and value of what names a proxy (``http``, ``https``, ``all``) or hosts to reach without (``no``).

    Of two spellings the small letters count, even when empty, as for curl. In a CGI script whoever asks its server
    chooses ``HTTP_PROXY``, which is not heeded there. Windows and macOS have settings for where no variable is set.
    """
    environ = os.environ if environ is None else environ
    found = {}
    for use in ("http", "https", "all", "no"):
        name = f"{use}_proxy" if f"{use}_proxy" in environ else f"{use.upper()}_PROXY"
        if environ.get(name, "").strip() and not (name == "HTTP_PROXY" and "REQUEST_METHOD" in environ):
            found[use] = (name, environ[name])
    if not found and sys.platform in ("win32", "darwin"):
        from urllib.request import getproxies

        return {use: ("the system's settings", value) for use, value in getproxies().items()}
    return found
