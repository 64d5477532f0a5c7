"""C32: redirects, and where a login goes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from redist.faults import (
    Redirect,
    Status,
)
from source.ground import TAR, archive_path, get, nothing_left, read, redist

from cudnn_redist.errors import (
    TransferError,
)
from cudnn_redist.source.base import TransferOptions

if TYPE_CHECKING:
    from pathlib import Path

    from cudnn_redist.source.http import HttpSource


def test_a_redirect_to_another_port_keeps_the_range(file_server: RedistServer, source: HttpSource) -> None:
    with RedistServer(file_server.directory) as other:
        file_server.always("x", Redirect(other.url + "x", 307))

        assert read(source, file_server.url + "x", offset=990) == bytes(range(240, 250))
        assert other.log[0].range == "bytes=990-"


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_relative_redirect(
    code: int, file_server: RedistServer, source: HttpSource, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cudnn_redist")
    file_server.fail("moved", Redirect("../x", code))

    assert len(read(source, file_server.url + "a/moved?token=secret")) == 1000
    assert f"{file_server.url}x" in caplog.text
    assert "secret" not in caplog.text


def test_a_loop_ends(file_server: RedistServer, source: HttpSource) -> None:
    file_server.always("x", Redirect("x"))
    with pytest.raises(TransferError, match="more than 10 redirects"):
        read(source, file_server.url + "x")

    assert len(file_server.log) == 11


@pytest.mark.parametrize(
    "to",
    [
        "ftp://u:secret@h/x",
        "file:///etc/passwd",
        "mailto:x@y",
        "http://[bad",
        "http://h:port/",
        "http://h:99999/",
    ],
)
def test_a_redirect_to_nowhere_is_refused(to: str, file_server: RedistServer, source: HttpSource) -> None:
    file_server.always("x", Redirect(to))
    with pytest.raises(TransferError) as caught:
        read(source, file_server.url + "x")

    assert "secret" not in str(caught.value)
    assert len(file_server.log) == 1


def test_a_redirect_without_a_target_is_no_success(file_server: RedistServer, source: HttpSource) -> None:
    file_server.always("x", Status(302))
    with pytest.raises(TransferError, match="HTTP 302"):
        read(source, file_server.url + "x")


def test_the_body_of_a_redirect_is_never_kept(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always(TAR, Redirect("x.tar.xz"))
    with pytest.raises(TransferError):
        get(redist(redist_server), root=tmp_path)

    assert nothing_left(tmp_path)


def authorized(server: RedistServer) -> list[bool]:
    return ["authorization" in request.headers for request in server.log]


@pytest.mark.parametrize("how", ["url", "netrc"])
def test_a_login_goes_to_its_host_and_port_only(
    how: str, redist_server: RedistServer, tmp_path: Path, clean_environment: Path
) -> None:
    login, netrc = "", clean_environment / ".netrc"
    if how == "url":
        login = "me:s3cret%23@"
    else:
        netrc.write_text("machine 127.0.0.1 login me password s3cret#\n")
    redist_server.auth = ("me", "s3cret#")
    with RedistServer(redist_server.directory) as cdn:
        redist_server.always(TAR, Redirect(f"{cdn.url}cudnn/redist/"))
        path = archive_path(redist_server)
        redist_server.always(TAR, Redirect(cdn.url + path))
        options = TransferOptions(retries=0, netrc=netrc)

        get(redist(redist_server, login), root=tmp_path, transfer=options)

        assert authorized(redist_server) == [True, True]
        assert authorized(cdn) == [False]


def test_a_redirect_back_home_has_the_login_again(file_server: RedistServer, source: HttpSource) -> None:
    file_server.auth = ("me", "pw")
    with RedistServer(file_server.directory) as other:
        file_server.fail("a/x", Redirect(other.url + "b/x"))
        other.always("b/x", Redirect(file_server.url + "x"))

        read(source, file_server.url.replace("//", "//me:pw@") + "a/x")

    assert authorized(file_server) == [True, True]
    assert authorized(other) == [False]


def test_a_wrong_login_is_told_without_it(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.auth = ("me", "right")
    with pytest.raises(TransferError, match="HTTP 401") as caught:
        get(redist(redist_server, "me:wr0ng@"), root=tmp_path)

    assert caught.value.status == 401
    assert "wr0ng" not in str(caught.value)


def test_the_librarys_own_log_has_no_token(
    redist_server: RedistServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    get(redist(redist_server, "me:s3cret@") + "?token=t0ken", root=tmp_path)

    assert "HTTP Request: GET" in caplog.text
    assert "s3cret" not in caplog.text
    assert "t0ken" not in caplog.text
