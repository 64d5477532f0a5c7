"""nginx and Apache as they are: index pages, ranges under a validator, compression, redirects and logins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from campaigns.processes import until
from servers.ground import SITE_LOGIN
from source.ground import QUICK, TAR, get, holders_of, nothing_left, partials

from cudnn_redist import Progress, TransferOptions, install, labels, plan
from cudnn_redist.errors import ArchiveWithdrawn, TransferError

if TYPE_CHECKING:
    from pathlib import Path

    from real.nginx import Request
    from servers.ground import Site


def logged(site: Site, count: int, suffix: str = TAR) -> list[Request]:
    """Return the requests once there are ``count``: their lines are written a moment after their last bytes."""
    until(lambda: len(site.requests(suffix)) >= count, every=0.01)
    return site.requests(suffix)


def interrupted(site: Site, root: Path) -> int:
    """Begin a fetch, end it as Ctrl-C does once bytes are there, and return how many stayed."""

    def stop(progress: Progress) -> None:
        if progress.phase == "download" and progress.done > 100_000:
            raise KeyboardInterrupt

    choice: dict[str, Any] = {"platform": "linux-x86_64", "cuda": "13"}
    made = plan("9.27.0", sources=[site.url], root=root, **choice)
    with pytest.raises(KeyboardInterrupt):
        install(made, progress=stop)
    (left,) = partials(root)
    return left.stat().st_size


def test_a_fetch_is_one_manifest_and_one_whole_answer(site: Site, root: Path) -> None:
    prefix = get(f"{site.url}cudnn/redist/", root=root)

    assert prefix.verify() == ()
    (request,) = logged(site, 1)
    assert (request.status, request.sent, request.range) == (200, prefix.record.archive_size, "-")
    assert len(logged(site, 1, ".json")) == 1


def test_the_index_page_lists_the_labels(site: Site) -> None:
    found = labels(sources=[f"{site.url}cudnn/redist/"], transfer=QUICK)

    assert [label.text for label in found] == ["9.26.0", "9.27.0"]


def test_the_rest_is_fetched_under_its_validator(site: Site, root: Path) -> None:
    left = interrupted(site, root)

    prefix = get(site.url, root=root)

    assert prefix.verify() == ()
    (rest,) = (each for each in logged(site, 2) if each.range != "-")
    assert (rest.status, rest.range) == (206, f"bytes={left}-")
    assert rest.sent == prefix.record.archive_size - left


def test_an_archive_that_was_touched_is_sent_whole(site: Site, root: Path) -> None:
    left = interrupted(site, root)
    os.utime(site.tree.archive_path("9.27.0"), (1, 1))

    assert get(site.url, root=root).verify() == ()
    (again,) = (each for each in logged(site, 2) if each.range != "-")
    assert (again.status, again.range) == (200, f"bytes={left}-")


def test_a_permanent_redirect_is_followed(site: Site, root: Path) -> None:
    moved = f"{site.server.url}moved/{site.path}cudnn/redist/"

    assert get(moved, root=root).verify() == ()
    assert {request.status for request in logged(site, 2)} == {200, 301}


@pytest.mark.parametrize("how", ["url", "netrc"])
def test_a_login_opens(how: str, site: Site, root: Path, clean_environment: Path) -> None:
    user, password = SITE_LOGIN
    private = f"{site.server.url}private/{site.path}cudnn/redist/"
    netrc = clean_environment / ".netrc"
    if how == "url":
        private = private.replace("//", f"//{user}:{password.replace('#', '%23')}@", 1)
    else:
        netrc.write_text(f"machine 127.0.0.1 login {user} password {password}\n")

    prefix = get(private, root=root, transfer=TransferOptions(netrc=netrc))

    assert prefix.verify() == ()
    assert holders_of(password, root) == []


@pytest.mark.parametrize("login", ["", "me:wr0ng@"], ids=["none", "wrong"])
def test_without_the_right_login_it_is_told_what_is_missing(login: str, site: Site, root: Path) -> None:
    private = f"{site.server.url}private/{site.path}cudnn/redist/".replace("//", f"//{login}", 1)
    with pytest.raises(TransferError, match=r"HTTP 401 .*wants a login") as caught:
        get(private, root=root)

    assert caught.value.status == 401
    assert "wr0ng" not in str(caught.value)
    assert nothing_left(root)


def test_an_archive_that_is_gone(site: Site, root: Path) -> None:
    site.tree.archive_path("9.27.0").unlink()
    with pytest.raises(ArchiveWithdrawn, match="HTTP 404"):
        get(f"{site.url}cudnn/redist/", root=root)

    assert nothing_left(root)


def test_an_archive_that_nobody_may_read_is_a_refusal(site: Site, root: Path) -> None:
    path = site.tree.archive_path("9.27.0")
    path.unlink()
    # Not even root can follow it.
    path.symlink_to(path.name)
    with pytest.raises(TransferError) as caught:
        get(f"{site.url}cudnn/redist/", root=root)

    assert caught.value.status in (403, 500)
    assert nothing_left(root)
