"""C78: Ctrl-C and a runner's SIGTERM, wherever the run is: over in a moment, nothing half-made, and resumable."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from campaigns.processes import open_files
from cases.ground import soon
from cli.ground import CHOICE, PREFIX, leftovers, partials, snapshot
from prefix.made import entries, installed
from redist import File
from redist.archives import pack
from redist.command import Completed, run_command, start_command
from redist.faults import Delay, Stall, Status, Trickle
from stopwatch import Stopwatch

from cudnn_redist.prefix.record import Entry

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from redist import RedistServer, RedistTree
    from redist.faults import Fault

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

ARCHIVE = "_cuda13-archive.tar.xz"
MANIFEST = "cudnn/redist/redistrib_9.27.0.json"
LIBRARIES, LIBRARY_BYTES = 4, 6 << 20


class Sent(NamedTuple):
    """A signal, and what the command makes of it."""

    number: int
    code: int
    told: str


class Stalled(NamedTuple):
    """A server that keeps the command waiting after ``sent`` body bytes for the path that ends in ``suffix``."""

    suffix: str
    fault: Fault
    sent: int
    resumable: bool


BOTH = pytest.mark.parametrize(
    "sent",
    [Sent(signal.SIGINT, 130, "interrupted"), Sent(signal.SIGTERM, 143, "terminated")],
    ids=["SIGINT", "SIGTERM"],
)


@pytest.fixture(autouse=True)
def _nobody_ignores_signals() -> Iterator[None]:
    """Let children have SIGINT though the suite itself runs as some shell's background job."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ended(process: subprocess.Popen[bytes], *numbers: int, pause: float = 0.1) -> Completed:
    """Send the signals and wait for the end; ``seconds`` counts from the first."""
    with Stopwatch() as watch:
        for position, number in enumerate(numbers):
            time.sleep(pause if position else 0)
            process.send_signal(number)
        out, err = process.communicate(timeout=60)
    return Completed(code=process.returncode, out=out.decode(), err=err.decode(), seconds=watch.seconds)


def last_words(done: Completed) -> str:
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err
    assert done.err.count("cudnn-redist: ") == 1
    return done.err.splitlines()[-1].removeprefix("cudnn-redist: ")


STALLS = {
    "manifest, no answer": Stalled(MANIFEST, Delay(60), 0, False),
    "manifest, half": Stalled(MANIFEST, Stall(100), 100, False),
    "archive, no answer": Stalled(ARCHIVE, Delay(60), 0, False),
    "archive, first byte": Stalled(ARCHIVE, Stall(1), 1, True),
    "archive, trickling": Stalled(ARCHIVE, Trickle(2_000), 1_000, True),
}


@BOTH
@pytest.mark.parametrize("stalled", STALLS.values(), ids=STALLS)
def test_C78_a_silent_or_slow_server(
    redist_server: RedistServer, root: Path, stalled: Stalled, sent: Sent
) -> None:
    end_while_it_waits(redist_server, root, stalled, sent)


@BOTH
@pytest.mark.parametrize("percent", [10, 50, 99])
def test_C78_in_the_middle_of_a_download(
    redist_tree: RedistTree, redist_server: RedistServer, root: Path, percent: int, sent: Sent
) -> None:
    size = redist_tree.archive_path("9.27.0").stat().st_size * percent // 100
    end_while_it_waits(redist_server, root, Stalled(ARCHIVE, Stall(size), size, True), sent)


def end_while_it_waits(redist_server: RedistServer, root: Path, stalled: Stalled, sent: Sent) -> None:
    """Send the signal while the server keeps the run waiting; then let a plain run go on where that ended."""
    redist_server.fail(stalled.suffix, stalled.fault)
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    with start_command(*words) as process:
        if stalled.sent:
            redist_server.wait_for(stalled.suffix, sent=stalled.sent)
        else:
            soon(lambda: redist_server.requests(stalled.suffix))
        # The server tells what it sends; what has come lies in a partial.
        soon(lambda: not stalled.resumable or any(path.stat().st_size for path in partials(root)))
        time.sleep(0.05)
        done = ended(process, sent.number)

    assert (done.code, done.out, last_words(done)) == (sent.code, "", sent.told)
    assert done.seconds < 2
    assert not (root / PREFIX).exists()
    assert leftovers(root) == []
    assert bool(partials(root)) is stalled.resumable

    again = run_command(*words)
    assert (again.code, again.out) == (0, f"{root / PREFIX}\n")
    ranges = [request.range for request in redist_server.requests(ARCHIVE)]
    assert (ranges[-1] is not None) is stalled.resumable
    assert partials(root) == []


@BOTH
def test_C78_between_two_tries(redist_server: RedistServer, root: Path, sent: Sent) -> None:
    redist_server.always(ARCHIVE, Status(503, headers={"Retry-After": "60"}))
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    with start_command(*words) as process:
        redist_server.wait_for(ARCHIVE)
        time.sleep(0.1)
        done = ended(process, sent.number)
    assert (done.code, last_words(done)) == (sent.code, sent.told)
    assert done.seconds < 2
    assert (leftovers(root), partials(root)) == ([], [])


@pytest.fixture(scope="module")
def slow_archive() -> bytes:
    """An archive that takes seconds to unpack with one thread: noise, which xz cannot make smaller."""
    # Of seven bits a byte: xz neither shrinks it much nor stores it as it is, which would be fast.
    seven_bits = bytes(range(128)) * 2
    noise = random.Random(1)
    entries = {
        f"lib/libnoise{number}.so": File(noise.randbytes(LIBRARY_BYTES).translate(seven_bits))
        for number in range(LIBRARIES)
    }
    return pack("tar.xz", "cudnn-archive", {"include/cudnn.h": File(b"x"), **entries})


@pytest.fixture
def slow_tree(redist_tree: RedistTree, slow_archive: bytes) -> RedistTree:
    redist_tree.replace_archive(slow_archive, "9.27.0", update_manifest=True)
    return redist_tree


TRIES = 4
"""On a busy machine the one who watches may come when all is unpacked."""


def ended_at(percent: float, words: list[str | Path], root: Path, number: int) -> Completed:
    """Send the signal when so much is unpacked; the end may come before."""
    with start_command(*words, "--root", root) as process:
        soon(lambda: unpacked(root) >= percent or process.poll() is not None)
        return ended(process, number)


def unpacked(root: Path) -> float:
    """Return how much of the slow archive is in a stage, in percent."""
    libraries = root.glob("cudnn/9.27.0/cudnn/linux-x86_64/.cudnn-redist-*.stage/**/*.so")
    return sum(path.stat().st_size for path in libraries) / (LIBRARIES * LIBRARY_BYTES) * 100


@BOTH
@pytest.mark.parametrize(
    ("way", "percent"),
    [
        ("over HTTP", 10),
        ("over HTTP", 50),
        ("over HTTP, --verify-first", 50),
        ("in place", 60),
        ("in place, --verify-first", 10),
    ],
)
def test_C78_a_long_unpacking(
    slow_tree: RedistTree, redist_server: RedistServer, tmp_path: Path, way: str, percent: int, *, sent: Sent
) -> None:
    source = slow_tree.path if way.startswith("in place") else redist_server.url
    words = ["fetch", "9.27.0", *CHOICE, "--source", source, "--threads", "1"]
    words += [word for word in way.split() if word.startswith("--")]
    for root in (tmp_path / str(each) for each in range(TRIES)):
        done = ended_at(percent, words, root, sent.number)
        if done.code:
            break
    assert (done.code, done.out, last_words(done)) == (sent.code, "", sent.told)
    assert done.seconds < 2
    assert not (root / PREFIX).exists()
    assert leftovers(root) == []
    sha256 = hashlib.sha256(slow_tree.archive_path("9.27.0").read_bytes()).hexdigest()
    assert all(path.name.startswith(sha256) for path in partials(root))


@BOTH
def test_C78_while_another_process_has_its_turn(redist_server: RedistServer, root: Path, sent: Sent) -> None:
    redist_server.fail(ARCHIVE, Stall(40_000))
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    with start_command(*words) as holder:
        redist_server.wait_for(ARCHIVE, sent=40_000)
        with start_command(*words) as waiting:
            assert waiting.stderr is not None
            assert any(b"waiting for process" in line for line in waiting.stderr)
            done = ended(waiting, sent.number)
        assert (done.code, done.out, last_words(done)) == (sent.code, "", sent.told)
        assert done.seconds < 2
        ended(holder, signal.SIGTERM)
    again = run_command(*words)
    assert again.out == f"{root / PREFIX}\n", again.err


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_C78_twice_in_a_row(redist_server: RedistServer, root: Path, first: int, second: int) -> None:
    redist_server.fail(ARCHIVE, Stall(40_000))
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    with start_command(*words) as process:
        redist_server.wait_for(ARCHIVE, sent=40_000)
        done = ended(process, first, second, pause=0.001)
    assert done.code in (128 + first, 128 + second)
    assert done.seconds < 2
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err
    assert not (root / PREFIX).exists()
    again = run_command(*words)
    assert again.out == f"{root / PREFIX}\n", again.err


@BOTH
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks at the files that a process has open")
def test_C78_while_a_large_file_is_hashed(root: Path, sent: Sent) -> None:
    large = Entry(path="lib/large", kind="file", size=1 << 40, sha256="0" * 64)
    prefix = installed(root, entries=(large, *entries()))
    (prefix.path / "lib/large").touch()
    # A hole, which takes no room and minutes to hash.
    os.truncate(prefix.path / "lib/large", large.size)
    with start_command("verify", root) as process:
        soon(lambda: open_files(process.pid) & {prefix.path / "lib/large"})
        done = ended(process, sent.number)
    assert (done.code, done.out, last_words(done)) == (sent.code, "", sent.told)
    assert done.seconds < 2


def test_C78_what_was_installed_before_stands(redist_server: RedistServer, root: Path) -> None:
    words = (*CHOICE, "--root", root, "--source", redist_server.url)
    run_command("fetch", "9.26.0", *words)
    before = snapshot(root / "cudnn/9.26.0")
    redist_server.fail(ARCHIVE, Stall(40_000))
    with start_command("fetch", "9.27.0", *words) as process:
        redist_server.wait_for(ARCHIVE, sent=40_000)
        ended(process, signal.SIGTERM)
    assert snapshot(root / "cudnn/9.26.0") == before


def deaf(folder: Path) -> dict[str, str]:
    """Let the main thread hear nothing for long, as in a name lookup: a dependency that works in C as it loads."""
    (folder / "truststore.py").write_text(
        "import hashlib, sys; print('deaf', file=sys.stderr, flush=True)\n"
        "hashlib.pbkdf2_hmac('sha256', b'', b'', 1_000_000_000)\n"
    )
    return {"PYTHONPATH": str(folder)}


@BOTH
def test_C78_a_main_thread_that_hears_nothing(
    redist_server: RedistServer, root: Path, tmp_path: Path, sent: Sent
) -> None:
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    with start_command(*words, env=deaf(tmp_path)) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"deaf\n"
        done = ended(process, sent.number)
    assert (done.code, last_words(done)) == (sent.code, sent.told)
    assert done.seconds < 2
    assert not root.exists()


def test_C78_an_ignored_signal_stays_ignored(redist_server: RedistServer, root: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    redist_server.fail(ARCHIVE, Trickle(100_000))
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url)
    with start_command(*words) as process:
        redist_server.wait_for(ARCHIVE, sent=1)
        done = ended(process, signal.SIGINT)
    assert (done.code, done.out) == (0, f"{root / PREFIX}\n")


def test_C78_json_tells_it_as_an_error(redist_server: RedistServer, root: Path) -> None:
    redist_server.fail(MANIFEST, Delay(60))
    words = ("fetch", "9.27.0", *CHOICE, "--root", root, "--source", redist_server.url, "--json")
    with start_command(*words) as process:
        soon(lambda: redist_server.requests(MANIFEST))
        done = ended(process, signal.SIGTERM)
    assert done.code == 143
    assert '"type": "Terminated"' in done.out
