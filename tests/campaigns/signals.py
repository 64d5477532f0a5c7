"""SIGINT and SIGTERM at random moments of a fetch: over in two seconds, nothing half-made, and a plain run works (C78).

The process is stopped while its moment is read off the disk, then gets the signal, and goes on.
"""

from __future__ import annotations

import itertools
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from campaigns.ground import LABEL, ground, prefix_in
from campaigns.kills import AIMS, ANYWHERE, left_over, taken_over
from campaigns.moments import moment_of, stages_in
from campaigns.processes import ended, run, running, until
from campaigns.tally import Tally
from campaigns.waits import CHOICE, WAITS
from installing import leftovers
from stopwatch import Stopwatch

if TYPE_CHECKING:
    import random
    import subprocess
    from collections.abc import Iterator

    from campaigns.ground import Ground
    from campaigns.kills import Aim
    from campaigns.moments import Moment
    from campaigns.processes import Ended
    from campaigns.waits import Waiting
    from redist import RedistServer

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
LONGEST = 2.0

FLUSHING = replace(AIMS["publish"], words=("--durable",), injected="fsync:delay_enter=20ms", seconds=0.5)
"""A slow disk under ``--durable``: seconds pass between the record and the prefix."""

_AIMS = (*ANYWHERE, *AIMS.values(), FLUSHING)


def campaign(folder: Path, rng: random.Random, *, signals: int) -> Tally:
    """Interrupt and terminate ``signals`` runs in all, in turn, and two in each wait."""
    tally = Tally()
    with ground(folder / "ground", files=300) as there:
        for number in range(signals):
            aim = _AIMS[number // 2 % len(_AIMS)]
            sent = list(CODES)[number % 2]
            work = folder / f"signal{number}"
            root = there.root(work, standing=aim.replaces)
            moment, seconds, faults = signalled(there, aim, rng.uniform(0, aim.seconds), sent, root)
            tally.add(f"{sent.name} in {moment}", faults)
            tally.figure(f"{sent.name} in {moment}", seconds, "ended in {} s")
            shutil.rmtree(work, ignore_errors=True)
        for (name, waiting), sent in itertools.product(WAITS.items(), CODES):
            what = f"{sent.name}, {name}"
            seconds, faults = waited(waiting, sent, there.server, folder / what)
            tally.add(what, faults)
            tally.figure(what, seconds, "ended in {} s")
    return tally


def signalled(
    there: Ground, aim: Aim, after: float, sent: signal.Signals, root: Path
) -> tuple[Moment, float, list[str]]:
    """Send a signal ``after`` seconds from when the phase began.

    Return the moment it came in, the seconds until the end, and what was wrong then and in the runs that followed.
    """
    words = there.words(root, *aim.words)
    there.server.rate = aim.rate
    with running(words, injected=aim.injected) as process:
        until(
            lambda: (_catches(process.pid, signal.SIGTERM) and aim.begun(root)) or process.poll() is not None
        )
        until(lambda: process.poll() is not None, longest=after)
        there.server.rate = None
        stopped(process)
        moment = moment_of(there, root, process.pid)
        with Stopwatch() as watch:
            process.send_signal(sent)
            process.send_signal(signal.SIGCONT)
            done = ended(process)
    faults = [*_of_the_end(done, sent, watch.seconds, prefix_in(root)), *there.faults_of(prefix_in(root))]
    if done.code and any(stages_in(root)):
        faults.append("a stage is left")
    faults += taken_over(there, words, root)
    faults += left_over(there, root)
    return moment, watch.seconds, faults


def waited(
    waiting: Waiting, sent: signal.Signals, server: RedistServer, root: Path
) -> tuple[float, list[str]]:
    """Send a signal while a fetch waits in vain; return the seconds until the end and what was wrong, as above."""
    with waiting(server, root) as wait, running(wait.words(root), env=wait.env) as process:
        reached = until(wait.reached)
        time.sleep(0.05)
        with Stopwatch() as watch:
            process.send_signal(sent)
            done = ended(process)
    server.heal()
    faults = [*_of_the_end(done, sent, watch.seconds, prefix_in(root))]
    if not reached:
        faults.append("never came to wait")
    again = run(["fetch", LABEL, *CHOICE, "--root", root, "--source", server.url])
    if (again.code, again.out) != (0, str(prefix_in(root))):
        faults.append(f"the next run: exit {again.code}, {again.out!r}, {again.err!r}")
    faults += [f"left: {path}" for path in leftovers(root)]
    return watch.seconds, faults


def stopped(process: subprocess.Popen[bytes]) -> None:
    """Stop every thread of a process that still runs, and wait until it stands."""
    process.send_signal(signal.SIGSTOP)
    until(lambda: _state(process.pid) in "TtZ")


def _of_the_end(done: Ended, sent: signal.Signals, seconds: float, prefix: Path) -> Iterator[str]:
    if seconds >= LONGEST:
        yield f"took {seconds:.2f} s to end"
    if "Traceback" in done.err or "Exception ignored" in done.err:
        yield f"a traceback: {done.err}"
    if done.code in (0, -sent) and done.out == str(prefix):
        # All was done and said before the signal was heard.
        return
    if done.code != CODES[sent] or done.out:
        yield f"exit {done.code}, {done.out!r}, {done.err!r}"


def _catches(number: int, wanted: int) -> bool:
    """Whether the process has a handler of its own for a signal (proc(5): SigCgt, a mask in hexadecimal)."""
    try:
        status = Path(f"/proc/{number}/status").read_text()
    except OSError:
        return False
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (wanted - 1) & 1)


def _state(number: int) -> str:
    """Return the state of a process (proc(5)): T is stopped, t is stopped by a tracer, Z has ended."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"
