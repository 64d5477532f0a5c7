from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.errors import UsageError
from cudnn_redist.source.logins import Logins, origin

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def netrc(tmp_path: Path) -> Path:
    path = tmp_path / "netrc"
    path.write_text("machine mirror.example login me password s3cret\ndefault login any password where\n")
    return path


@pytest.mark.parametrize(
    ("url", "login"),
    [
        ("https://u:p@h/x", ("u", "p")),
        ("https://u%40x:p%40%23@h/x", ("u@x", "p@#")),
        ("https://token@h/x", ("token", "")),
        ("https://u:p@mirror.example/x", ("u", "p")),
        ("https://mirror.example/x", ("me", "s3cret")),
        ("https://MIRROR.example:8443/x", ("me", "s3cret")),
        ("https://other.example/x", None),
    ],
    ids=["url", "encoded", "user-only", "url-first", "netrc", "netrc-any-port", "no-default"],
)
def test_whose_login(url: str, login: tuple[str, str] | None, netrc: Path) -> None:
    bare, found = Logins(netrc).of(url)

    assert found == login
    assert "@" not in bare


@pytest.mark.parametrize("file", [None, "missing", "file/below"])
def test_without_a_file_nobody_has_a_login(file: str | None, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    logins = Logins(tmp_path / file if file else None)

    assert logins.of("https://mirror.example/x") == ("https://mirror.example/x", None)


def test_a_damaged_file_is_told_without_its_words(tmp_path: Path) -> None:
    path = tmp_path / "netrc"
    path.write_text("machine mirror.example login me\nhunter2 x\n")
    with pytest.raises(UsageError, match="line 2") as caught:
        Logins(path).of("https://mirror.example/")

    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("make", ["bytes", "directory"])
def test_a_file_that_is_none_is_told(make: str, tmp_path: Path) -> None:
    path = tmp_path / "netrc"
    if make == "directory":
        path.mkdir()
    else:
        path.write_bytes(b"\xff\xfe\x81")
    with pytest.raises(UsageError) as caught:
        Logins(path).of("https://mirror.example/")

    assert caught.value.where == os.fspath(path)


def test_the_origin_has_the_usual_port() -> None:
    assert origin("https://h/x") == origin("https://H:443/y") == ("https", "h", 443)
    assert origin("http://h/x") != origin("http://h:8080/x")
