"""What the tests of real servers share: a tree behind a server, a proxy with its login, and one way to fetch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redist.command import Completed, run_command

if TYPE_CHECKING:
    from pathlib import Path

    from real.nginx import Nginx, Request
    from redist import RedistTree
    from servers.apache import Apache

SITE_LOGIN = ("me", "s3cret#1")
PLAIN_LOGIN = ("proxyuser", "pr0xypass")
ODD_LOGIN = ("proxy user", "p@ss#1/\u00e9%")


@dataclass(frozen=True, kw_only=True)
class Site:
    """A tree behind a server; ``url`` is its root, ``path`` the part of it that no other test has."""

    server: Nginx | Apache
    tree: RedistTree

    @property
    def path(self) -> str:
        return f"{self.tree.path.name}/"

    @property
    def url(self) -> str:
        return self.server.url + self.path

    def requests(self, suffix: str = "") -> list[Request]:
        """Return the requests for this tree that are in the log by now."""
        return [
            each for each in self.server.requests() if self.path in each.path and each.path.endswith(suffix)
        ]


@dataclass(frozen=True, kw_only=True)
class ForwardProxy:
    """A running proxy and the login that it wants, as it must be spelled in a URL."""

    port: int
    login: str

    @property
    def url(self) -> str:
        return f"http://{self.login}@127.0.0.1:{self.port}"


def fetched(url: str, root: Path, *words: str | Path, **env: str) -> Completed:
    """Run ``fetch`` with the root of a site as its source, without a second try."""
    choice = ["--platform", "linux-x86_64", "--cuda", "13", "--root", root, "--retries", "0"]
    return run_command("fetch", "9.27.0", "--source", f"{url}cudnn/redist/", *choice, *words, env=env)
