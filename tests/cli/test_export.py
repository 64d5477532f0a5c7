"""``export``: from a label or a lock to text, exit codes, and what is told, over real processes."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, PREFIX, reason
from export.installer import run_file
from redist import RedistTree
from redist.command import run_command

from cudnn_redist import Prefix, lock
from cudnn_redist.cli.export_options import EXPORT_KINDS
from cudnn_redist.export.kinds import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from redist import RedistServer
    from redist.command import Completed

FILE = "cudnn-redist.lock"


class Ground:
    """A server of two releases, and a working directory with the lock of one of them."""

    def __init__(self, server: RedistServer, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.root = folder / "root"
        made = lock("9.27.0", sources=[server.url], root=self.root)
        (folder / FILE).write_bytes(made.to_bytes())

    def run(self, *words: str | Path, source: str | None = None) -> Completed:
        env = {"CUDNN_REDIST_SOURCE": source or self.server.url, "CUDNN_REDIST_ROOT": str(self.root)}
        return run_command("export", *words, env=env, cwd=self.folder)


@pytest.fixture
def ground(redist_server: RedistServer, tmp_path: Path) -> Ground:
    return Ground(redist_server, tmp_path)


def test_the_help_names_every_kind() -> None:
    assert EXPORT_KINDS == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_and_its_lock_give_the_same(ground: Ground, kind: str) -> None:
    words = ("--platform", "linux-x86_64", "--platform", "linux-sbsa", "--cuda", "13")
    of_label = ground.run(kind, "9.27.0", *words)
    assert (of_label.code, of_label.err) == (0, "cudnn 9.27.0: 2 archives\n")
    of_lock = ground.run(kind, "--lock", FILE, *words)
    assert (of_lock.code, of_lock.out) == (0, of_label.out)


def test_nothing_depends_on_this_machine(ground: Ground) -> None:
    done = ground.run("sha256sums", "9.27.0")
    assert len(done.out.splitlines()) == 6
    assert not ground.root.exists()


def test_a_lock_asks_no_source(ground: Ground) -> None:
    before = len(ground.server.log)
    done = run_command("export", "sha256sums", "--lock", FILE, "--cuda", "13", cwd=ground.folder)
    assert (done.code, len(done.out.splitlines())) == (0, 3)
    assert len(ground.server.log) == before


def test_json_has_the_text_and_what_it_is_of(ground: Ground) -> None:
    text = ground.run("nix", "9.27.0", *CHOICE).out
    told = json.loads(ground.run("nix", "9.27.0", *CHOICE, "--json").out)
    assert (told["kind"], told["text"]) == ("nix", text)
    (release,) = told["releases"]
    manifest = ground.server.directory / "cudnn/redist/redistrib_9.27.0.json"
    assert release["manifest_sha256"] == hashlib.sha256(manifest.read_bytes()).hexdigest()
    (archive,) = release["archives"]
    assert archive["sha256"] in text or archive["url"] in text


def test_the_installer_that_is_exported_installs(ground: Ground) -> None:

    (ground.folder / "install.py").write_text(ground.run("python", "--lock", FILE).out, encoding="utf-8")
    done = run_file(sys.executable, ground.folder / "install.py", "--root", ground.root, *CHOICE)
    assert (done.code, done.out) == (0, f"{ground.root / PREFIX}\n")
    assert Prefix.open(ground.root / PREFIX).verify() == ()
    there = run_command("fetch", "9.27.0", *CHOICE, "--root", ground.root, "--source", "/nowhere")
    assert (there.code, there.out) == (0, done.out)


def test_a_login_stays_at_home(ground: Ground) -> None:
    ground.server.auth = ("user", "hunter2")
    source = ground.server.url.replace("http://", "http://user:hunter2@") + "?word=zxcv1234"
    for kind in KINDS:
        done = ground.run(kind, "9.27.0", *CHOICE, source=source)
        assert done.code == 0, done.err
        assert "hunter2" not in done.out + done.err
        assert "zxcv1234" not in done.out
        assert "a login or a query is left out" in done.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        pytest.param(("spack", "9.27.0"), 2, "invalid choice: 'spack'", id="unknown-kind"),
        pytest.param(("nix",), 2, "a LABEL is needed, or a --lock", id="of-nothing"),
        pytest.param(("nix", "9.28.0"), 3, "9.28.0", id="no-such-label"),
        pytest.param(("nix", "9.27.0", "--cuda", "11"), 3, "cuda12, cuda13", id="no-such-variant"),
        pytest.param(("nix", "--lock", "none.lock"), 2, "no such lock file", id="no-such-lock"),
        pytest.param(("nix", "--lock", FILE, "--refresh"), 2, "have no place beside it", id="lock-refresh"),
        pytest.param(("nix", "9.26.0", "--lock", FILE), 3, "the lock has no 9.26.0", id="not-in-the-lock"),
        pytest.param(
            ("docker", "9.27.0", "--platform", "windows-x86_64"),
            3,
            "nothing of this is for Linux",
            id="docker",
        ),
    ],
)
def test_what_cannot_be_exported(ground: Ground, words: tuple[str, ...], code: int, says: str) -> None:
    done = ground.run(*words)
    assert (done.code, done.out) == (code, "")
    assert says in reason(done)


@pytest.mark.parametrize(
    "spoiled", [b"{", b'{"schema": 2}', b'{"schema": 1, "releases": []}'], ids=["cut", "other", "empty"]
)
@pytest.mark.parametrize("kind", ["nix", "python"])
def test_a_damaged_lock(ground: Ground, kind: str, spoiled: bytes) -> None:
    (ground.folder / FILE).write_bytes(spoiled)
    done = ground.run(kind, "--lock", FILE)
    assert (done.code, done.out) == (6, "")
    assert reason(done).startswith(f"lock: {ground.folder / FILE}: ")


def test_an_archive_without_sha256_is_refused(tmp_path: Path) -> None:
    RedistTree(tmp_path).add_release("8.5.0.96", layout="oldest")
    done = run_command("export", "sha256sums", "8.5.0.96", "--source", tmp_path, "--root", tmp_path / "root")
    assert (done.code, done.out) == (6, "")
    assert "has no sha256 for" in reason(done)


def test_a_bundle_is_no_source_for_others(ground: Ground) -> None:
    bundle = ground.folder / "bundle"
    words = ("bundle", bundle, "9.27.0", *CHOICE, "--source", ground.server.url, "--root", ground.root)
    assert run_command(*words).code == 0
    done = ground.run("nix", "9.27.0", *CHOICE, "--source", bundle)
    assert (done.code, "only cudnn-redist reads a bundle" in reason(done)) == (2, True)


def test_without_a_fallback_a_lock_is_enough_and_a_label_is_not(ground: Ground) -> None:
    words = ("nix", "--no-fallback", *CHOICE)
    of_lock = run_command("export", *words, "--lock", FILE, cwd=ground.folder)
    assert of_lock.code == 0, of_lock.err
    of_label = run_command("export", "nix", "9.27.0", *words[1:], "--root", ground.root)
    assert (of_label.code, "no source is named" in reason(of_label)) == (2, True)
