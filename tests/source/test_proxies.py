"""What the proxy variables may hold, and what comes of each value (C37)."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudnn_redist.errors import TransferError
from cudnn_redist.network import proxy_variables
from cudnn_redist.source.proxies import Proxies

URL = "https://mirror.example/redist/redistrib_9.27.0.json?token=t0ken"


def proxies(**environ: str) -> Proxies:
    return Proxies(proxy_variables(environ))


@pytest.mark.parametrize(
    ("value", "url", "login"),
    [
        ("http://proxy:3128", "http://proxy:3128", None),
        ("http://proxy", "http://proxy", None),
        ("http://proxy:3128/", "http://proxy:3128", None),
        ("  http://proxy:3128\n", "http://proxy:3128", None),
        ("HTTP://Proxy:3128", "http://proxy:3128", None),
        ("proxy:3128", "http://proxy:3128", None),
        ("user:pw@proxy:3128", "http://proxy:3128", ("user", "pw")),
        ("https://proxy:443", "https://proxy:443", None),
        ("socks5h://proxy:1080", "socks5h://proxy:1080", None),
        ("http://[::1]:3128", "http://[::1]:3128", None),
        ("[2001:db8::5]", "http://[2001:db8::5]", None),
        ("http://u%40corp:p%40ss%231%2F@proxy:1", "http://proxy:1", ("u@corp", "p@ss#1/")),
        ("http://u:p@ss@proxy:1", "http://proxy:1", ("u", "p@ss")),
        ("http://u:50%@proxy:1", "http://proxy:1", ("u", "50%")),
        ("http://user@proxy:1", "http://proxy:1", ("user", "")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_can_be_understood_is_honoured(value: str, url: str, login: tuple[str, str] | None) -> None:
    found = proxies(https_proxy=value).of(URL)

    assert found is not None
    assert (found.url, found.login) == (url, login)
    assert "p@ss" not in repr(found)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("socks4://hunter2@proxy:1080", "names a socks4:// proxy, and only http:// and https:// ones"),
        ("gopher://proxy", "names a gopher:// proxy"),
        ("http://::1:3128", "an IPv6 address stands in brackets"),
        ("http://[::1:3128", "cannot be read"),
        ("http://u:hunter2#1@proxy:1", "must be percent-encoded"),
        ("http://u:8/hunter2@proxy:1", "must be percent-encoded"),
        ("http://u:8?hunter2@proxy:1", "must be percent-encoded"),
        ("u:hunter2", "cannot be read"),
        ("http://u:hunter2@", "cannot be read"),
        ("http://u:hunter2@proxy:port", "cannot be read"),
        ("http://u:hunter2@proxy:99999", "cannot be read"),
        ("http://u:hunter2@proxy:0", "cannot be read"),
        ("http://u:hunter2@a proxy:1", "cannot be read"),
        ('"http://u:hunter2@proxy:1"', "cannot be read"),
        ("http://", "cannot be read"),
        ("://hunter2", "cannot be read"),
    ],
)
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
def test_what_cannot_be_honoured_is_told_by_the_name_of_its_variable(
    name: str, value: str, told: str
) -> None:
    with pytest.raises(TransferError) as caught:
        proxies(**{name: value}).of(URL)

    assert caught.value.phase == "proxy"
    assert caught.value.where == URL.partition("?")[0]
    assert caught.value.cause.startswith(f"{name} ")
    assert told in caught.value.cause
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:1"}, "https_proxy"),
        ({"https_proxy": "", "HTTPS_PROXY": "http://b:1"}, None),
        ({"https_proxy": " "}, None),
        ({"HTTPS_PROXY": "http://b:1", "all_proxy": "http://c:1"}, "HTTPS_PROXY"),
        ({"http_proxy": "http://a:1", "ALL_PROXY": "http://c:1"}, "ALL_PROXY"),
        ({"http_proxy": "http://a:1"}, None),
        ({"http_proxy": "socks4://a", "HTTPS_PROXY": "http://b:1"}, "HTTPS_PROXY"),
        ({}, None),
    ],
    ids=["both", "small-empty", "blank", "before-all", "all", "other-scheme", "bad-but-unused", "none"],
)
def test_which_variable_counts(environ: dict[str, str], named: str | None) -> None:
    found = proxies(**environ).of(URL)

    assert (found.named if found else None) == named


@pytest.mark.parametrize(("name", "heeded"), [("HTTP_PROXY", False), ("http_proxy", True)])
def test_a_client_of_a_cgi_script_chooses_no_proxy(*, name: str, heeded: bool) -> None:
    found = proxies(**{name: "http://evil:1", "REQUEST_METHOD": "GET"}).of("http://mirror.example/")

    assert (found is not None) is heeded


@pytest.mark.parametrize(
    ("entry", "direct"),
    [
        ("*", ["name", "below", "port", "v4", "v6"]),
        ("mirror.example", ["name", "below", "port"]),
        ("MIRROR.example.", ["name", "below", "port"]),
        (".mirror.example", ["name", "below", "port"]),
        ("*.mirror.example", ["name", "below", "port"]),
        ("mirror.example:8443", ["port"]),
        ("ample", []),
        ("10.1.2.3", ["v4"]),
        ("10.0.0.0/8", ["v4"]),
        ("10.0.0.1/8:80", ["v4"]),
        ("11.0.0.0/8", []),
        ("fd00::5", ["v6"]),
        ("[fd00::5]", ["v6"]),
        ("[FD00::5]:81", ["v6"]),
        ("[fd00::5]:82", []),
        ("fd00::/8", ["v6"]),
        ("[fd00::]/8", ["v6"]),
        ("localhost, 10.1.2.3", ["v4"]),
        ("localhost 10.1.2.3", ["v4"]),
        (",,10.1.2.3,", ["v4"]),
        ("http://mirror.example", ["name", "below", "port"]),
    ],
)
def test_hosts_to_reach_without(entry: str, direct: list[str], caplog: pytest.LogCaptureFixture) -> None:
    urls = {
        "name": "http://Mirror.example./",
        "below": "http://www.mirror.example/",
        "port": "https://mirror.example:8443/",
        "v4": "http://10.1.2.3/",
        "v6": "http://[fd00::5]:81/",
        "other": "http://badmirror.example/",
    }
    asked = proxies(all_proxy="http://proxy:1", NO_PROXY=entry)

    found = [name for name, url in urls.items() if asked.of(url) is None]

    assert found == direct or found == [*direct, "other"] * (entry == "*")
    assert caplog.text == ""


@pytest.mark.parametrize("entry", ["10.0.0.0/99", "mirror.example:", "mirror*", "1.2.3", ".", "[::1", "/"])
def test_an_exemption_that_makes_no_sense_is_told(entry: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "cudnn_redist")
    asked = proxies(https_proxy="http://proxy:1", no_proxy=f"me:hunter2@{entry},localhost")

    assert asked.of(URL) is not None
    assert asked.of("https://localhost/") is None
    assert f"no_proxy: {entry!r} is no host" in caplog.text
    assert "hunter2" not in caplog.text


def test_exemptions_without_a_proxy_are_nobodys_business(caplog: pytest.LogCaptureFixture) -> None:
    assert proxies(no_proxy="10.0.0.0/99").of(URL) is None
    assert caplog.text == ""


def told_or_found(**environ: str) -> str | None:
    """Return the name of the variable that the proxy, or the error, tells; ``None`` where nothing is proxied."""
    try:
        found = proxies(**environ).of(URL)
    except TransferError as error:
        return error.cause.partition(" ")[0]
    return found.named if found else None


@given(value=st.text(max_size=40), exempt=st.text(max_size=40))
def test_no_value_is_a_bug(value: str, exempt: str) -> None:
    assert told_or_found(https_proxy=value, no_proxy=exempt) in (None, "https_proxy")
