"""C38: whom we trust, and what a broken setting says."""

from __future__ import annotations

import os
import ssl
import time
from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from redist.faults import Cut, Redirect, Stall
from source.ground import QUICK, TAR, archives, cut_when_asked, get, nothing_left, redist
from source.tls import Certificates, TlsFront, make_certificates

from cudnn_redist import TransferOptions
from cudnn_redist.errors import TransferError, TransientTransferError, UsageError
from cudnn_redist.source.http import HttpSource
from cudnn_redist.source.trust import trusting_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def front(redist_server: RedistServer, certificates: Certificates) -> Iterator[TlsFront]:
    with TlsFront(redist_server.port, certificates.server) as front:
        yield front


def trusting(certificates: Certificates) -> TransferOptions:
    return TransferOptions(retries=1, retry_delay=0.01, ca_file=certificates.authority)


def test_a_private_authority_is_trusted_when_named(
    front: TlsFront, certificates: Certificates, tmp_path: Path
) -> None:
    prefix = get(f"{front.url}cudnn/redist/", root=tmp_path, transfer=trusting(certificates))

    assert prefix.verify() == ()


@pytest.mark.parametrize("variable", [None, "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_an_unknown_authority_is_refused_at_once(
    variable: str | None,
    front: TlsFront,
    certificates: Certificates,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variable:
        monkeypatch.setenv(variable, str(certificates.authority))
    with pytest.raises(TransferError, match=r"certificate not trusted .*--ca-file") as caught:
        get(f"{front.url}cudnn/redist/", root=tmp_path)

    assert not isinstance(caught.value, TransientTransferError)
    assert nothing_left(tmp_path)


def test_the_systems_variable_is_obeyed(
    front: TlsFront, certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))

    get(f"{front.url}cudnn/redist/", root=tmp_path)


def test_a_certificate_for_another_name_is_refused(
    redist_server: RedistServer, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    other = make_certificates(tmp_path_factory.mktemp("other"), "DNS:elsewhere.example")
    with (
        TlsFront(redist_server.port, other.server) as front,
        pytest.raises(TransferError, match="not trusted"),
    ):
        get(f"{front.url}cudnn/redist/", root=tmp_path, transfer=trusting(other))


@pytest.mark.parametrize("content", [None, b"no certificate", b""], ids=["missing", "garbage", "empty"])
@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_file_without_certificates_is_told(
    how: str, content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    if how == "variable":
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(UsageError) as caught:
        trusting_context(path if how == "option" else None)

    assert caught.value.phase == "trust"
    assert caught.value.where == str(path)
    assert ("SSL_CERT_FILE" in str(caught.value)) == (how == "variable")


def test_of_several_directories_one_that_is_there_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", os.pathsep.join(["/nonexistent", str(tmp_path)]))

    assert trusting_context(None).check_hostname


def test_no_redirect_leaves_tls(
    front: TlsFront, certificates: Certificates, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_server.always(TAR, Redirect(f"{redist_server.url}cudnn/redist/x.tar.xz"))
    with pytest.raises(TransferError, match=r"redirect to http://.* refused"):
        get(f"{front.url}cudnn/redist/", root=tmp_path, transfer=trusting(certificates))

    assert len(archives(redist_server)) == 1


def test_a_redirect_into_tls_is_followed(
    front: TlsFront, certificates: Certificates, redist_server: RedistServer
) -> None:
    redist_server.fail("x.json", Redirect(f"{front.url}cudnn/redist/redistrib_9.27.0.json"))
    with HttpSource(trusting(certificates)) as source:
        assert source.read_manifest(redist(redist_server) + "x.json").startswith(b"{")


def test_a_download_over_tls_is_resumed(
    front: TlsFront, certificates: Certificates, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_server.fail(TAR, Cut(30_000))

    get(f"{front.url}cudnn/redist/", root=tmp_path, transfer=trusting(certificates))

    assert archives(redist_server)[1].range == "bytes=30000-"


def test_a_read_over_tls_is_ended_from_another_thread(
    front: TlsFront, certificates: Certificates, redist_server: RedistServer
) -> None:
    redist_server.always(".json", Stall(10))
    options = TransferOptions(stall_timeout=60, ca_file=certificates.authority)
    with HttpSource(options) as source:
        line = source.line()
        cutter = cut_when_asked(redist_server, line)
        started = time.monotonic()
        url = f"{front.url}cudnn/redist/redistrib_9.27.0.json"
        with pytest.raises(TransferError), source.open_archive(url, line=line) as body:
            list(body)
        cutter.join()

    assert time.monotonic() - started < 20


def test_what_follows_a_cut_over_tls_is_an_error_and_no_cipher(
    certificates: Certificates, tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(bytes(4 << 20))
    with (
        RedistServer(tmp_path) as server,
        TlsFront(server.port, certificates.server) as front,
        HttpSource(trusting(certificates)) as source,
    ):
        line = source.line()
        with source.open_archive(f"{front.url}x", line=line) as body:
            pieces = iter(body)
            taken = [next(pieces)]
            time.sleep(0.1)
            line.cut()
            with pytest.raises(TransferError):
                taken.extend(pieces)

    assert not any(b"".join(taken))


def test_an_empty_store_is_told_and_certifis_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))

    found = trusting_context(None, bundles=())

    assert "no certificate store of its own" in caplog.text
    assert found.verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize("how", ["directory", "bundle"])
def test_a_store_that_holds_something_is_enough(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    path = tmp_path / ("0123abcd.0" if how == "directory" else "bundle.pem")
    path.touch()

    trusting_context(None, bundles=[str(tmp_path / "bundle.pem")])

    assert caplog.text == ""


def test_tls_spoken_to_a_plain_server_ends(redist_server: RedistServer, tmp_path: Path) -> None:
    with pytest.raises(TransferError):
        get(redist(redist_server).replace("http:", "https:"), root=tmp_path, transfer=QUICK)
