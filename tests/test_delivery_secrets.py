"""A login, a token or a cookie goes to whom it was given for, and is in no file, line or record."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from redist import RedistServer
from redist.faults import Before, Cut, Flipped, Headers, Page, Redirect, Status, Together
from source.ground import TAR, partials
from source.tls import Certificates, TlsFront, make_certificates

from cudnn_redist.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from redist import RedistTree, Request
    from redist.faults import Fault

USER, PASSWORD, TOKEN, COOKIE = "me", "hunter2#/", "t0ken", "c00kie"
SECRETS = (PASSWORD, "hunter2", TOKEN, COOKIE, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode())


@dataclass(frozen=True, kw_only=True)
class Told:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Where one run works: everything that it may write lies in ``folder``."""

    server: RedistServer
    folder: Path
    source: str
    heard: pytest.CaptureFixture[str]

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def fetch(self, *words: str | Path) -> Told:
        choice = ["--platform", "linux-x86_64", "--cuda", "13", "--retries", "0", "--root", self.root]
        places = ["--archives", self.folder / "store", "--link", self.folder / "link"]
        return self.run("fetch", "9.27.0", "--source", self.source, *choice, *places, *words)

    def run(self, *words: str | Path) -> Told:
        """Run the command in this process: there are many to run, and what they say is all that counts."""
        code = main([str(word) for word in words])
        out, err = self.heard.readouterr()
        return Told(code=code, out=out, err=err)

    def holders(self) -> list[Path]:
        """Return the files of which name or content has a secret, links and all."""
        files = [path for path in self.folder.rglob("*") if path.is_file() or path.is_symlink()]
        return [path for path in files if any(_holds(path, secret) for secret in SECRETS)]


def _holds(path: Path, secret: str) -> bool:
    named = secret in str(path) or (path.is_symlink() and secret in str(path.readlink()))
    return named or (path.is_file() and secret.encode() in path.read_bytes())


@pytest.fixture
def other(redist_tree: RedistTree) -> Iterator[RedistServer]:
    """The same tree at another port."""
    with RedistServer(redist_tree.path) as other:
        yield other


@pytest.fixture(params=["url", "netrc"])
def ground(
    request: pytest.FixtureRequest,
    redist_server: RedistServer,
    tmp_path: Path,
    clean_environment: Path,
    capsys: pytest.CaptureFixture[str],
) -> Ground:
    """A server that wants a login and gives a cookie; the login stands in the URL or in a netrc file."""
    redist_server.auth = (USER, PASSWORD)
    redist_server.always(".json", Headers({"Set-Cookie": f"session={COOKIE}"}))
    login = "me:hunter2%23%2F@" if request.param == "url" else ""
    (clean_environment / ".netrc").write_text(f"machine 127.0.0.1 login {USER} password {PASSWORD}\n")
    folder = tmp_path / "all"
    folder.mkdir()
    source = f"http://{login}127.0.0.1:{redist_server.port}/cudnn/redist/?token={TOKEN}"
    return Ground(server=redist_server, folder=folder, source=source, heard=capsys)


def untold(done: Told) -> bool:
    return not any(secret in done.out + done.err for secret in SECRETS)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (None, 0),
        (Cut(30_000), 4),
        (Status(403), 4),
        (Status(404), 3),
        (Flipped(40_000), 5),
        (Page(), 5),
        (Redirect("ftp://127.0.0.1/"), 4),
        (Redirect("http://[bad"), 4),
    ],
    ids=["good", "cut", "403", "404", "digest", "page", "bad-redirect", "unreadable-redirect"],
)
def test_nothing_tells_a_secret_however_it_ends(fault: Fault | None, code: int, ground: Ground) -> None:
    if fault is not None:
        ground.server.always(TAR, fault)

    done = ground.fetch("--debug", "--json")

    assert done.code == code, done.err
    assert untold(done)
    assert ground.holders() == []
    assert bool(partials(ground.root)) is isinstance(fault, Cut)
    assert all("authorization" in request.headers for request in ground.server.log)
    assert all(request.target.endswith(f"?token={TOKEN}") for request in ground.server.log)


def test_what_a_killed_run_leaves_tells_no_secret(ground: Ground) -> None:
    seen: list[list[Path]] = []
    ground.server.fail(TAR, Together(Before(lambda: seen.append(ground.holders())), Cut(60_000)))

    assert ground.fetch().code == 4
    assert ground.fetch("--debug").code == 0
    assert seen == [[]]
    assert ground.holders() == []
    assert (ground.root / ".log.jsonl").is_file()


def test_the_next_command_needs_no_secret_and_tells_none(ground: Ground) -> None:
    assert ground.fetch().code == 0
    asked = len(ground.server.log)

    for command in (["where", "9.27.0"], ["list", "--installed"], ["verify", "9.27.0"]):
        done = ground.run(*command, "--root", ground.root, "--json")
        assert (done.code, untold(done)) == (0, True)
    assert len(ground.server.log) == asked


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=["port", "host", "scheme"])
def elsewhere(
    request: pytest.FixtureRequest, other: RedistServer, certificates: Certificates
) -> Iterator[Callable[[str], str]]:
    """Return the URL of a path at an origin that differs in one thing; who serves it is ``other``."""
    with TlsFront(other.port, certificates.server) as front:
        roots = {"port": other.url, "host": f"http://localhost:{other.port}/", "scheme": front.url}
        yield lambda path: roots[request.param] + path


def test_a_redirect_elsewhere_carries_nothing_along(
    *,
    elsewhere: Callable[[str], str],
    other: RedistServer,
    certificates: Certificates,
    ground: Ground,
    redist_tree: RedistTree,
) -> None:
    path = redist_tree.archive_path("9.27.0").relative_to(redist_tree.path).as_posix()
    ground.server.always(TAR, Redirect(elsewhere(path)))

    done = ground.fetch("--debug", "--ca-file", certificates.authority)

    assert done.code == 0, done.err
    assert elsewhere(path) in done.err
    (request,) = other.log
    assert "authorization" not in request.headers
    assert TOKEN not in request.target
    assert not tells(request, PASSWORD, TOKEN)
    assert untold(done)
    assert ground.holders() == []


def tells(request: Request, *secrets: str) -> bool:
    told = [request.target, *request.headers.values()]
    return any(secret in each for secret in secrets for each in told)


def test_a_signed_target_is_used_and_not_told(
    ground: Ground, other: RedistServer, redist_tree: RedistTree
) -> None:
    """What a redirect adds (a signature, a login) is as secret as what was given; a cut makes it a part of an error."""
    path = redist_tree.archive_path("9.27.0").relative_to(redist_tree.path).as_posix()
    target = f"http://cdn:{TOKEN}@127.0.0.1:{other.port}/{path}?signature={COOKIE}"
    ground.server.always(TAR, Redirect(target))
    other.fail(TAR, Cut(30_000))

    failed = ground.fetch("--debug")
    left = ground.holders()
    done = ground.fetch("--debug", "--json")

    assert (failed.code, done.code) == (4, 0)
    assert f"{other.url}{path}: incomplete" in failed.err
    assert all(request.target.endswith(f"?signature={COOKIE}") for request in other.log)
    assert left == ground.holders() == []
    assert untold(failed)
    assert untold(done)
