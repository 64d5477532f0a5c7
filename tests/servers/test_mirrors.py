"""A mirror is plain files: nginx, Apache and Caddy serve it, with its own index pages and without, behind a login."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from installing import everything
from servers.ground import SITE_LOGIN
from source.ground import QUICK, get, holders_of

from cudnn_redist import TransferOptions, labels
from cudnn_redist.errors import ArchiveWithdrawn, LabelNotFound, TransferError
from cudnn_redist.mirroring.making import mirror

if TYPE_CHECKING:
    from pathlib import Path

    from real.nginx import Nginx
    from redist import RedistTree
    from servers.apache import Apache
    from servers.caddy import Caddy


@pytest.fixture(params=["nginx", "apache", "caddy"])
def server(request: pytest.FixtureRequest) -> Nginx | Apache | Caddy:
    found: Nginx | Apache | Caddy = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def mirrored(own_tree: RedistTree, public: Path, tmp_path: Path) -> Path:
    """A mirror of both releases, where servers can read it."""
    path = public / f"{tmp_path.name}-{os.getpid()}-mirror"
    mirror(path, ">=9.26", sources=[str(own_tree.path)], root=tmp_path / "root")
    return path


def without_pages(mirrored: Path) -> Path:
    for page in mirrored.rglob("index.html"):
        page.unlink()
    return mirrored


def test_its_own_pages_list_it_where_the_server_lists_nothing(
    server: Nginx | Apache | Caddy, mirrored: Path, root: Path
) -> None:
    source = f"{server.url}plain/{mirrored.name}/"

    assert [label.text for label in labels(sources=[source], transfer=QUICK)] == ["9.26.0", "9.27.0"]
    assert get(source, root=root, label="latest").record.label == "9.27.0"


def test_without_pages_a_full_label_is_needed(
    server: Nginx | Apache | Caddy, mirrored: Path, root: Path
) -> None:
    source = f"{server.url}plain/{without_pages(mirrored).name}/"
    with pytest.raises(LabelNotFound, match="give a full label"):
        get(source, root=root, label="9.27")

    assert get(source, root=root).record.label == "9.27.0"


def test_a_server_that_lists_directories_needs_no_pages(
    server: Nginx | Apache | Caddy, mirrored: Path, root: Path
) -> None:
    source = f"{server.url}{without_pages(mirrored).name}/"

    assert get(source, root=root, label="9").record.label == "9.27.0"


def test_a_login_from_netrc_opens_it(
    server: Nginx | Apache | Caddy, mirrored: Path, root: Path, clean_environment: Path
) -> None:
    user, password = SITE_LOGIN
    source = f"{server.url}private/{mirrored.name}/"
    netrc = clean_environment / ".netrc"
    netrc.write_text(f"machine 127.0.0.1 login {user} password {password}\n")
    with pytest.raises(TransferError, match="HTTP 401"):
        get(source, root=root)

    assert (
        get(source, root=root, label="latest", transfer=TransferOptions(netrc=netrc)).record.archive_size > 0
    )
    assert holders_of(password, root) == []


def test_what_is_not_in_it_is_named(server: Nginx | Apache | Caddy, mirrored: Path, root: Path) -> None:
    (archive,) = mirrored.rglob("*-9.27.0.42_cuda13-archive.tar.xz")
    archive.unlink()
    with pytest.raises(ArchiveWithdrawn, match=r"HTTP 404.*cudnn 9\.27\.0 for linux-x86_64"):
        get(f"{server.url}plain/{mirrored.name}/", root=root)

    assert not (root / "cudnn").exists()


def test_it_can_be_mirrored_again(
    server: Nginx | Apache | Caddy, mirrored: Path, tmp_path: Path, root: Path
) -> None:
    again = tmp_path / "again"
    mirror(again, ">=9", sources=[f"{server.url}plain/{mirrored.name}/"], root=root, transfer=QUICK)

    assert everything(again) == everything(mirrored)


def test_every_way_leads_to_the_same_prefix(
    server: Nginx | Apache | Caddy, mirrored: Path, own_tree: RedistTree, tmp_path: Path
) -> None:
    ways = {
        "original": own_tree.path,
        "directory": mirrored,
        "server": f"{server.url}plain/{mirrored.name}/",
    }
    trees = [everything(get(source, root=tmp_path / name).path) for name, source in ways.items()]

    assert trees[0] == trees[1] == trees[2]
