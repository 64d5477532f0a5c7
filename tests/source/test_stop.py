"""C78, as far as sources answer for it: a signal at any moment leaves a partial that the next run goes on with."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import pytest
from campaigns.processes import until
from redist import File, RedistServer, RedistTree
from redist.command import run_command, start_command
from redist.faults import Delay, Stall, Status, Trickle
from source.ground import TAR, archives, partials, prefixes, redist, stages
from stopwatch import Stopwatch

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from redist.content import Entry
    from redist.faults import Fault

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def words(server: RedistServer, root: Path) -> list[str | Path]:
    choice: list[str | Path] = [
        "fetch",
        "9.27.0",
        "--platform",
        "linux-x86_64",
        "--cuda",
        "13",
        "--root",
        root,
    ]
    return [*choice, "--source", redist(server)]


def interrupted(running: subprocess.Popen[bytes], number: signal.Signals) -> tuple[int, float, str]:
    """Send the signal; return exit code, seconds until the end and what was said."""
    with Stopwatch() as watch:
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
    return running.returncode, watch.seconds, said.decode()


@pytest.mark.parametrize("number", list(CODES), ids=lambda number: number.name)
@pytest.mark.parametrize("fault", [Stall(40_000), Trickle(100_000)], ids=["stall", "trickle"])
def test_a_signal_while_bytes_are_missing(
    fault: Fault, number: signal.Signals, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_server.fail(TAR, fault)
    with start_command(*words(redist_server, tmp_path)) as running:
        redist_server.wait_for(TAR, sent=20_000)
        # The server tells what it sends; what has come lies in a partial.
        assert until(lambda: any(path.stat().st_size for path in partials(tmp_path)))
        time.sleep(0.1)
        code, seconds, said = interrupted(running, number)

    assert (code, seconds < 2) == (CODES[number], True)
    assert "Traceback" not in said
    assert len(partials(tmp_path)) == 1
    assert stages(tmp_path) == prefixes(tmp_path) == []

    assert run_command(*words(redist_server, tmp_path)).code == 0
    _, second = archives(redist_server)
    assert (second.status, second.range is not None) == (206, True)
    assert stages(tmp_path) == partials(tmp_path) == []


@pytest.mark.parametrize(
    "fault", [Delay(20), Status(503, headers={"Retry-After": "60"})], ids=["answer", "pause"]
)
@pytest.mark.parametrize("suffix", [TAR, ".json"])
def test_a_signal_while_waiting_for_an_answer(
    suffix: str, fault: Fault, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_server.always(suffix, fault)
    with start_command(*words(redist_server, tmp_path)) as running:
        redist_server.wait_for(suffix)
        time.sleep(0.2)
        code, seconds, _ = interrupted(running, signal.SIGINT)

    assert (code, seconds < 2) == (130, True)
    assert not list((tmp_path / ".partial").glob("*"))
    assert stages(tmp_path) == []


@pytest.fixture
def bulky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedistServer]:
    """A server of an archive that is fetched in a moment and takes much longer to unpack."""

    def content(*_: str | None) -> Mapping[str, Entry]:
        return {"lib/libcudnn.so.9": File(bytes(96 << 20), 0o755)}

    tree = RedistTree(tmp_path_factory.mktemp("bulky"))
    tree.add_release("9.27.0", platforms=["linux-x86_64"], variants=["cuda13"], content=content)
    with RedistServer(tree.path) as server:
        yield server


def test_a_signal_while_unpacking(bulky: RedistServer, tmp_path: Path) -> None:
    # On a busy machine the one who watches may come when all is unpacked.
    for root in (tmp_path / str(each) for each in range(4)):
        before = len(archives(bulky))
        code, seconds, _ = interrupted_while_unpacking(bulky, root)
        if code:
            break

    assert (code, seconds < 2) == (130, True)
    assert stages(root) == prefixes(root) == []
    assert len(partials(root)) == 1

    assert run_command(*words(bulky, root)).code == 0
    first, *later = archives(bulky)[before:]
    assert sum(request.sent for request in later) < 0.1 * first.sent


def interrupted_while_unpacking(server: RedistServer, root: Path) -> tuple[int, float, str]:
    with start_command(*words(server, root)) as running:
        assert until(lambda: begun(root) or running.poll() is not None)
        return interrupted(running, signal.SIGINT)


def begun(root: Path) -> bool:
    return any(path.stat().st_size for stage in stages(root) for path in stage.rglob("*.so.9"))
