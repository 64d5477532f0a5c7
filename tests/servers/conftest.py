"""Real servers and forward proxies, one of each for the session, and a tree of one's own behind them for each test."""

from __future__ import annotations

import os
import tempfile  # noqa: TID251 - for servers whose workers are not this user, and the directories of pytest are private
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from real import nginx as real_nginx
from redist import RedistTree
from servers import apache as real_apache
from servers import caddy as real_caddy
from servers import tinyproxy as real_tinyproxy
from servers.ground import ODD_LOGIN, PLAIN_LOGIN, SITE_LOGIN, ForwardProxy, Site
from source.ground import large
from source.tls import Certificates, make_certificates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from real.nginx import Nginx
    from servers.apache import Apache
    from servers.caddy import Caddy

_NGINX = """
gzip on;
gzip_types *;
location /moved/ { rewrite ^/moved/(.*) /$1 permanent; }
location /plain/ { alias "%(tree)s/"; autoindex off; }
location /private/ { alias "%(tree)s/"; autoindex on; auth_basic redist; auth_basic_user_file "%(passwords)s"; }
"""


@pytest.fixture(scope="session")
def public() -> Iterator[Path]:
    """A directory that any user may read."""
    with tempfile.TemporaryDirectory(prefix="cudnn-redist-servers-") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def nginx(public: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    scratch = tmp_path_factory.mktemp("nginx")
    (scratch / "passwords").write_text(real_apache.htpasswd(SITE_LOGIN))
    directives = _NGINX % {"tree": public, "passwords": scratch / "passwords"}
    with real_nginx.serving(public, scratch, directives=directives) as nginx:
        yield nginx


@pytest.fixture(scope="session")
def apache(public: Path) -> Iterator[Apache]:
    with real_apache.serving(public, public / ".apache", login=SITE_LOGIN) as apache:
        yield apache


@pytest.fixture(scope="session")
def caddy(public: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caddy]:
    with real_caddy.serving(public, tmp_path_factory.mktemp("caddy"), login=SITE_LOGIN) as caddy:
        yield caddy


@pytest.fixture(scope="session")
def tls_apache(public: Path, certificates: Certificates) -> Iterator[Apache]:
    scratch = public / ".tls-apache"
    with real_apache.serving(public, scratch, login=SITE_LOGIN, certificate=certificates.server) as apache:
        yield apache


@pytest.fixture(scope="session")
def tinyproxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForwardProxy]:
    with real_tinyproxy.proxying(tmp_path_factory.mktemp("tinyproxy"), login=PLAIN_LOGIN) as port:
        yield ForwardProxy(port=port, login=":".join(PLAIN_LOGIN))


@pytest.fixture(scope="session")
def apache_proxy(public: Path) -> Iterator[ForwardProxy]:
    with real_apache.proxying(public / ".apache-proxy", login=ODD_LOGIN) as port:
        yield ForwardProxy(port=port, login="proxy%20user:p%40ss%231%2F%C3%A9%25")


@pytest.fixture(params=["tinyproxy", "apache_proxy"])
def forward_proxy(request: pytest.FixtureRequest) -> ForwardProxy:
    proxy: ForwardProxy = request.getfixturevalue(request.param)
    return proxy


@pytest.fixture
def own_tree(public: Path, tmp_path: Path) -> RedistTree:
    """A release with an archive of a megabyte, readable for everybody."""
    tree = RedistTree(public / f"{tmp_path.name}-{os.getpid()}")
    tree.add_release("9.26.0", platforms=["linux-x86_64"], variants=["cuda13"])
    tree.add_release("9.27.0", platforms=["linux-x86_64"], variants=["cuda13"], content=large(1 << 20))
    return tree


@pytest.fixture(params=["nginx", "apache"])
def site(request: pytest.FixtureRequest, own_tree: RedistTree) -> Site:
    return Site(server=request.getfixturevalue(request.param), tree=own_tree)


@pytest.fixture
def plain_site(nginx: Nginx, own_tree: RedistTree) -> Site:
    return Site(server=nginx, tree=own_tree)


@pytest.fixture
def tls_site(tls_apache: Apache, own_tree: RedistTree) -> Site:
    return Site(server=tls_apache, tree=own_tree)
