"""Whom we trust with TLS: the system's store, certifi where that is empty, and a file the user names."""

from __future__ import annotations

import re
import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import truststore

from ..errors import UsageError
from ..network import check_certificate_variables
from ..notes import log

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BUNDLES", "refuses_certificate", "trusting_context"]

BUNDLES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)
"""Where truststore looks when OpenSSL was built for places that this machine does not have."""

_HASHED_NAME = re.compile(r"[0-9a-fA-F]{8}\.[0-9]")


def trusting_context(ca_file: Path | None, *, bundles: Sequence[str] = BUNDLES) -> ssl.SSLContext:
    """Return a verifying TLS context; ``ca_file`` (PEM) is trusted in addition to the system's store.

    ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` say where that store is, as for every program that uses OpenSSL. Raises
    ``UsageError`` for a file that is missing or no certificate, also where one of these variables names it.
    """
    check_certificate_variables()
    context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    places = ssl.get_default_verify_paths()
    if places.cafile and places.cafile != places.openssl_cafile:
        # OpenSSL passes over what it cannot read; whoever set the variable must hear of it (C38).
        _trust(context, places.cafile, named_by=f"{places.openssl_cafile_env}: ")
    if _system_store_is_empty(places, bundles):
        import certifi

        log.warning("this machine has no certificate store of its own; using certifi's")
        context.load_verify_locations(certifi.where())
    if ca_file is not None:
        _trust(context, ca_file)
    return context


def refuses_certificate(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, is the refusal of a certificate."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _trust(context: ssl.SSLContext, ca_file: str | Path, *, named_by: str = "") -> None:
    try:
        context.load_verify_locations(ca_file)
    except FileNotFoundError as error:
        raise UsageError(f"{named_by}certificate file is missing", phase="trust", where=ca_file) from error
    except OSError as error:
        raise UsageError(
            f"{named_by}not a readable file of PEM certificates ({error})", phase="trust", where=ca_file
        ) from error


def _system_store_is_empty(places: ssl.DefaultVerifyPaths, bundles: Sequence[str]) -> bool:
    """Whether none of the places has a certificate; Windows and macOS keep their store elsewhere."""
    if sys.platform in ("win32", "darwin"):
        return False
    if places.capath and _holds_certificates(Path(places.capath)):
        return False
    return not places.cafile and not any(Path(bundle).is_file() for bundle in bundles)


def _holds_certificates(directory: Path) -> bool:
    try:
        return any(_HASHED_NAME.fullmatch(path.name) for path in directory.iterdir())
    except OSError:
        return False
