"""Whom we trust with TLS: the system's store, certifi where that is empty, and a file the user names."""

from __future__ import annotations

import logging
import ssl
import sys
from functools import cache
from pathlib import Path

import truststore

from ..errors import UsageError
from ..host import check_certificate_variables

__all__ = ["trusting_context"]

_log = logging.getLogger("cudnn_redist")


@cache
def trusting_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return a verifying TLS context; ``ca_file`` (PEM) is trusted in addition to the system's store.

    Raises ``UsageError`` for a file that is missing or no certificate, also where a variable names it.
    """
    check_certificate_variables()
    context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if _system_store_is_empty():
        import certifi

        _log.warning("this machine has no certificate store of its own; using certifi's")
        context.load_verify_locations(certifi.where())
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except FileNotFoundError as error:
            raise UsageError("certificate file is missing", phase="trust", where=ca_file) from error
        except OSError as error:
            raise UsageError(
                f"not a file of PEM certificates: {error}", phase="trust", where=ca_file
            ) from error
    return context


def _system_store_is_empty() -> bool:
    """Whether OpenSSL's default places hold nothing; Windows and macOS keep their store elsewhere."""
    if sys.platform in ("win32", "darwin"):
        return False
    places = ssl.get_default_verify_paths()
    if places.cafile is not None and Path(places.cafile).stat().st_size > 0:
        return False
    return places.capath is None or not any(Path(places.capath).iterdir())
