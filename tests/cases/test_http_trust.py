"""C38: which authorities are trusted, and what a broken setting says. An explicit one beats the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cases.ground import LABEL, Fetch
from source.tls import Certificates, TlsFront, make_certificates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from redist import RedistServer


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """A private authority, and a server that it vouches for."""
    return make_certificates(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority that vouches for nobody here."""
    return make_certificates(tmp_path_factory.mktemp("stranger")).authority


@pytest.fixture
def fetch_tls(redist_server: RedistServer, root: Path, certificates: Certificates) -> Iterator[Fetch]:
    with TlsFront(redist_server.port, certificates.server) as front:
        yield Fetch(root, f"{front.url}cudnn/redist/")


def test_C38_an_authority_named_by_option_or_variable_is_trusted(
    fetch_tls: Fetch, certificates: Certificates, stranger: Path
) -> None:
    ours = certificates.authority
    fetch_tls.installed(LABEL, env={"SSL_CERT_FILE": str(ours)})
    fetch_tls.installed(LABEL, "--force", "--ca-file", ours)
    fetch_tls.installed(LABEL, "--force", "--ca-file", ours, env={"SSL_CERT_FILE": str(stranger)})


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"])
def test_C38_without_its_authority_a_server_is_refused_and_asked_nothing(
    *,
    redist_server: RedistServer,
    fetch_tls: Fetch,
    certificates: Certificates,
    stranger: Path,
    variable: str,
) -> None:
    authority = stranger if variable == "SSL_CERT_FILE" else certificates.authority
    told = fetch_tls.refused(4, env={variable: str(authority)})
    assert "TLS certificate not trusted" in told
    assert "--ca-file" in told
    assert redist_server.log == []
    assert not fetch_tls.root.exists()


@pytest.mark.parametrize("content", [None, b"", b"no certificate"], ids=["missing", "empty", "garbage"])
@pytest.mark.parametrize("how", ["--ca-file", "SSL_CERT_FILE"])
def test_C38_a_broken_path_is_told_with_who_named_it(
    *, redist_server: RedistServer, fetch_tls: Fetch, tmp_path: Path, how: str, content: bytes | None
) -> None:
    path = tmp_path / "authority.pem"
    if content is not None:
        path.write_bytes(content)
    words, env = ((), {how: str(path)}) if how.isupper() else ((how, path), {})
    told = fetch_tls.refused(2, LABEL, *words, env=env)
    assert told.startswith(f"trust: {path}: ")
    assert how.isupper() is ("SSL_CERT_FILE" in told)
    assert redist_server.log == []


def test_C38_a_directory_of_certificates_that_is_missing_is_told(fetch_tls: Fetch, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    told = fetch_tls.refused(2, env={"SSL_CERT_DIR": str(missing)})
    assert told.startswith(f"trust: {missing}: SSL_CERT_DIR names a directory that is missing")
