"""The one-file installer: what the library installs, by Python's own library alone, and how it fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from export.installer import ALONE, interpreters, run_file
from installing import everything
from redist import RedistServer
from redist.faults import (
    Changed,
    Cut,
    Encoded,
    Extra,
    Flipped,
    Headers,
    IgnoreRange,
    Redirect,
    RefuseRange,
    Stall,
    Status,
    Together,
    Truncated,
    WrongRange,
)
from source.tls import TlsFront, make_certificates

from cudnn_redist import Lock, Prefix, install, plan
from cudnn_redist.export.kinds import text_of

if TYPE_CHECKING:
    from export.ground import Exports
    from export.installer import Ended
    from redist.faults import Fault

CHOICE = ("--platform", "linux-x86_64", "--cuda", "13")
PREFIX = "cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
ARCHIVE = "linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"
PYTHON = interpreters()[-1]
"""The oldest that this machine has."""


class Ground:
    """The installer's file, and a root that nobody has made yet."""

    def __init__(self, exports: Exports, folder: Path) -> None:
        self.exports = exports
        self.server = exports.server
        self.root = folder / "root"
        self.prefix = self.root / PREFIX
        self.file = folder / "install_cudnn.py"
        self.write()

    def write(self, **choices: Any) -> None:  # noqa: ANN401 - those of lock
        self.file.write_text(
            self.exports.text("python", **{"cuda": ["12", "13"], **choices}), encoding="utf-8"
        )

    def run(self, *words: str | Path, python: str = PYTHON) -> Ended:
        return run_file(python, self.file, "--root", self.root, *(words or CHOICE))

    def refused(self, *words: str | Path) -> tuple[int, str]:
        """Run it and return code and reason after checking that nothing is left."""
        done = self.run(*words)
        assert done.out == ""
        assert "Traceback" not in done.err
        assert not self.root.exists()
        return done.code, done.err.splitlines()[-1]


@pytest.fixture
def ground(exports: Exports, tmp_path: Path) -> Ground:
    return Ground(exports, tmp_path)


@pytest.mark.parametrize("python", interpreters(), ids=lambda python: Path(python).name)
@pytest.mark.parametrize("platform", ["linux-x86_64", "windows-x86_64"])
def test_the_prefix_has_the_bytes_of_the_library_s_own(
    ground: Ground, tmp_path: Path, platform: str, python: str
) -> None:
    done = ground.run("--platform", platform, "--cuda", "13", python=python)
    assert done.code == 0, done.err
    prefix = ground.root / f"cudnn/9.27.0/cudnn/{platform}/cuda13"
    assert done.out == f"{prefix}\n"
    made = plan(
        "9.27.0", platform=platform, cuda="13", sources=[ground.server.url], root=tmp_path / "library"
    )
    (own,) = install(made)
    assert everything(prefix) == everything(own.path)
    assert Prefix.open(prefix).verify() == ()


def test_the_root_holds_the_prefix_and_nothing_else(ground: Ground) -> None:
    assert ground.run().code == 0
    below = {path for path in everything(ground.root) if not path.startswith(PREFIX)}
    assert below == {PREFIX.rsplit("/", depth)[0] for depth in range(1, 5)}


def test_what_is_there_is_not_fetched_again_unless_forced_or_damaged(ground: Ground) -> None:
    assert ground.run().code == 0
    again = ground.run()
    assert (again.code, again.out) == (0, f"{ground.prefix}\n")
    assert len(ground.server.requests(ARCHIVE)) == 1
    assert ground.run(*CHOICE, "--force").code == 0
    (ground.prefix / "include/cudnn.h").unlink()
    assert ground.run().code == 0
    assert len(ground.server.requests(ARCHIVE)) == 3
    assert Prefix.open(ground.prefix).verify() == ()


def test_without_a_choice_it_is_what_fits_this_machine(ground: Ground) -> None:
    done = run_file(PYTHON, ground.file, "--root", ground.root, env={"PATH": ""})
    assert done.code == 0, done.err
    assert "this machine" in done.err
    assert Path(done.out.strip()).is_dir()


def test_the_root_may_be_a_variable_and_quiet_is_quiet(ground: Ground) -> None:
    done = run_file(PYTHON, ground.file, "-q", *CHOICE, env={"CUDNN_REDIST_ROOT": str(ground.root)})
    assert done == (0, f"{ground.prefix}\n", "")


def test_into_one_directory(ground: Ground, tmp_path: Path) -> None:
    dest = tmp_path / "third_party" / "cudnn"
    done = run_file(PYTHON, ground.file, "--dest", dest, *CHOICE)
    assert (done.code, done.out) == (0, f"{dest}\n")
    assert Prefix.open(dest).verify() == ()
    twelve = run_file(PYTHON, ground.file, "--dest", dest, *CHOICE[:2], "--cuda", "12")
    assert (twelve.code, Prefix.open(dest).record.variant) == (0, "cuda12")
    both = run_file(PYTHON, ground.file, "--dest", dest, *CHOICE, "--cuda", "12")
    assert (both.code, "this asks for 2" in both.err) == (2, True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    mine = run_file(PYTHON, ground.file, "--dest", tmp_path / "mine", *CHOICE)
    assert (mine.code, "is no installed prefix" in mine.err) == (7, True)


def test_sources_are_tried_in_order(ground: Ground, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    tree = ground.exports.tree.path
    done = ground.run(*CHOICE, "--source", tmp_path / "empty", "--source", tree)
    assert (done.code, done.out) == (0, f"{ground.prefix}\n")
    assert "trying the next source" in done.err
    assert ground.server.requests(ARCHIVE) == []


def test_sources_of_the_export_count_and_the_urls_of_the_lock_do_not(ground: Ground) -> None:
    with RedistServer(ground.exports.tree.path) as mirror:
        text = text_of("python", ground.exports.lock(), sources=[mirror.url])
        ground.file.write_text(text, encoding="utf-8")
        assert ground.run().code == 0
        assert [request.status for request in mirror.requests(ARCHIVE)] == [404, 200]
    assert ground.server.requests(ARCHIVE) == []


def test_a_login_of_a_source_is_for_its_host_and_in_no_message(ground: Ground) -> None:
    ground.server.auth = ("user", "secret")
    place = ground.server.url.removeprefix("http://")
    done = ground.run(*CHOICE, "--source", f"http://user:secret@{place}")
    assert done.code == 0
    wrong = ground.run(*CHOICE, "--force", "--source", f"http://user:wrong-one@{place}")
    assert (wrong.code, "HTTP 401" in wrong.err) == (4, True)
    assert "secret" not in done.err + wrong.err + "wrong-one" * ("wrong-one" in wrong.err)


def test_a_login_does_not_follow_a_redirect_to_another_server(ground: Ground) -> None:
    ground.server.auth = ("user", "secret")
    tree = ground.exports.tree
    path = tree.archive_path("9.27.0").relative_to(tree.path).as_posix()
    with RedistServer(tree.path) as other:
        ground.server.always(ARCHIVE, Redirect(other.url + path))
        place = ground.server.url.removeprefix("http://")
        assert ground.run(*CHOICE, "--source", f"http://user:secret@{place}").code == 0
        (request,) = other.requests(ARCHIVE)
    assert "authorization" not in request.headers


def test_a_cut_line_goes_on_where_it_ended(ground: Ground) -> None:
    ground.server.fail(ARCHIVE, Cut(20_000), Cut(10_000))
    assert ground.run().code == 0
    first, *later = ground.server.requests(ARCHIVE)
    assert [request.range for request in (first, *later)] == [None, "bytes=20000-", "bytes=30000-"]
    assert all(request.headers["if-range"] for request in later)


@pytest.mark.parametrize(
    ("faults", "count"),
    [
        pytest.param((Cut(20_000), IgnoreRange()), 2, id="ignored"),
        pytest.param((Cut(20_000), RefuseRange()), 3, id="refused"),
        pytest.param(
            (Together(Cut(20_000), Headers(without=("ETag", "Last-Modified"))),), 2, id="no-validator"
        ),
        pytest.param((Cut(20_000), Changed(bytes(90_000), deaf=True)), 3, id="another-file"),
    ],
)
def test_where_no_range_helps_it_starts_again(ground: Ground, faults: tuple[Fault, ...], count: int) -> None:
    ground.server.fail(ARCHIVE, *faults)
    done = ground.run()
    assert (done.code, done.out) == (0, f"{ground.prefix}\n"), done.err
    assert len(ground.server.requests(ARCHIVE)) == count


def test_patience_has_an_end_where_every_start_is_cut(ground: Ground) -> None:
    nothing_to_go_on = Headers(without=("ETag", "Last-Modified"))
    cuts = [Together(Cut(after), nothing_to_go_on) for after in (20_000, 25_000) * 10]
    ground.server.fail(ARCHIVE, *cuts)
    assert ground.refused(*CHOICE, "--retries", "1")[0] == 4
    assert len(ground.server.requests(ARCHIVE)) == 3


@pytest.mark.parametrize(
    ("fault", "code", "says"),
    [
        pytest.param(Status(404), 3, "HTTP 404: cudnn 9.27.0 for linux-x86_64", id="withdrawn"),
        pytest.param(Status(403), 4, "HTTP 403", id="forbidden"),
        pytest.param(Status(503), 4, "HTTP 503", id="overloaded"),
        pytest.param(Cut(0), 4, "the connection ended after 0 of", id="cut"),
        pytest.param(Encoded("gzip"), 4, "an encoding that was not asked for", id="encoded"),
        pytest.param(Redirect("file:///etc/passwd"), 4, "", id="to-a-file"),
        pytest.param(Flipped(1_000), 5, "sha256 is ", id="flipped"),
        pytest.param(Truncated(1_000), 5, "1000 bytes, expected ", id="truncated"),
        pytest.param(Extra(b"more"), 5, "more bytes than the promised ", id="too-long"),
    ],
)
def test_a_source_that_fails(ground: Ground, fault: Any, code: int, says: str) -> None:  # noqa: ANN401
    ground.server.always(ARCHIVE, fault)
    found, reason = ground.refused(*CHOICE, "--retries", "0")
    assert (found, says in reason) == (code, True), reason
    assert reason.startswith("install_cudnn.py: ")


def test_another_range_than_was_asked_for_is_refused(ground: Ground) -> None:
    ground.server.fail(ARCHIVE, Cut(20_000))
    ground.server.always(ARCHIVE, WrongRange(start_by=7))
    assert ground.refused()[0] == 4


def test_nobody_listens(ground: Ground) -> None:
    ground.server.close()
    code, reason = ground.refused(*CHOICE, "--retries", "0")
    assert (code, "refused" in reason) == (4, True)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        pytest.param(("--platform", "linux-ppc64le"), 3, "linux-sbsa", id="no-such-platform"),
        pytest.param((*CHOICE[:2], "--cuda", "11"), 3, "cuda12, cuda13", id="no-such-variant"),
        pytest.param((*CHOICE, "--component", "cudnn_jit"), 3, "has no 'cudnn_jit'", id="no-such-component"),
        pytest.param((*CHOICE, "9.26.0"), 3, "it has cudnn 9.27.0", id="no-such-label"),
        pytest.param((*CHOICE, "--nonsense"), 2, "see --help", id="unknown-word"),
        pytest.param((*CHOICE, "--dest", ""), 2, "is empty", id="unset-variable"),
        pytest.param(("--cuda", "twelve"), 2, "is not a CUDA version", id="no-cuda"),
    ],
)
def test_a_choice_that_is_not_there(ground: Ground, words: tuple[str, ...], code: int, says: str) -> None:
    found, reason = ground.refused(*words)
    assert (found, says in reason) == (code, True), reason


def test_no_place_to_go(ground: Ground) -> None:
    done = run_file(PYTHON, ground.file, *CHOICE)
    assert (done.code, done.err) == (
        2,
        "install_cudnn.py: usage: give --root or --dest (or set CUDNN_REDIST_ROOT)\n",
    )


def test_a_root_that_cannot_be_one(ground: Ground) -> None:
    ground.root.write_text("a file")
    done = ground.run()
    assert (done.code, done.out) == (7, "")
    assert ground.root.read_text() == "a file"


def test_another_archive_under_the_same_label_is_refused(ground: Ground) -> None:
    assert ground.run().code == 0
    ground.exports.tree.replace_archive(ground.exports.data(variant="cuda12"), "9.27.0", update_manifest=True)
    ground.write()
    done = ground.run()
    assert (done.code, "but the lock names" in done.err) == (8, True)
    assert ground.run(*CHOICE, "--force").code == 0


def test_a_tree_that_the_lock_does_not_promise(ground: Ground) -> None:
    made = json.loads(ground.exports.lock().to_bytes())
    for archive in made["releases"][0]["archives"]:
        archive["tree"] = "0" * 64

    lock = Lock.parse(json.dumps(made).encode(), origin="test")
    ground.file.write_text(text_of("python", lock), encoding="utf-8")
    code, reason = ground.refused()
    assert (code, "unpacks to a tree with digest" in reason) == (5, True)


def test_damaged_pins(ground: Ground) -> None:
    text = ground.file.read_text(encoding="utf-8")
    ground.file.write_text(text.replace('"lock": {', '"lick": {', 1), encoding="utf-8")
    assert ground.refused() == (
        6,
        "install_cudnn.py: lock: the pins in this file are damaged; export it again",
    )


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_a_signal_ends_it_and_leaves_nothing(ground: Ground, number: int, code: int) -> None:
    ground.server.always(ARCHIVE, Stall(20_000))
    command = [PYTHON, *ALONE, str(ground.file), "--root", str(ground.root), *CHOICE]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env={}) as process:
        ground.server.wait_for(ARCHIVE, sent=20_000)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert not ground.root.exists()


def test_help_tells_the_exit_codes(ground: Ground) -> None:
    done = run_file(PYTHON, ground.file, "--help")
    assert done.code == 0
    assert "8 not as locked" in " ".join(done.out.split())


def test_another_python_than_this_may_use_it_as_a_module(ground: Ground) -> None:
    program = "import install_cudnn, sys; sys.exit(install_cudnn.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, "--root", str(ground.root), *CHOICE],
        cwd=ground.file.parent,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{ground.prefix}\n"), done.stderr


def test_https_is_trusted_only_with_a_certificate_and_never_leads_to_http(
    ground: Ground, tmp_path: Path
) -> None:
    certificates = make_certificates(tmp_path)
    trusting = {"SSL_CERT_FILE": str(certificates.authority)}
    with TlsFront(ground.server.port, certificates.server) as front:
        words = ("--root", ground.root, *CHOICE, "--source", front.url, "--retries", "0")
        stranger = run_file(PYTHON, ground.file, *words, env={"SSL_CERT_FILE": str(tmp_path / "none")})
        assert (stranger.code, "certificate not trusted" in stranger.err) == (4, True), stranger.err
        assert run_file(PYTHON, ground.file, *words, env=trusting).code == 0
        ground.server.always(ARCHIVE, Redirect(f"{ground.server.url}elsewhere"))
        led = run_file(PYTHON, ground.file, *words, "--force", env=trusting)
    assert (led.code, "redirected from https to something else" in led.err) == (4, True), led.err
    assert ground.server.requests("elsewhere") == []
