"""Eight processes on one root at once: all end well with the same trees, and with working locks one of them downloads.

With locks made useless more is downloaded, and still no look at the root sees a bad tree (C64, C65, C67).
"""

from __future__ import annotations

import itertools
import shutil
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from campaigns import impatient
from campaigns.arena import CHOICES, LABEL, arena
from campaigns.processes import COMMAND, ended, run, started, until
from campaigns.tally import Tally
from installing import leftovers
from redist.faults import Stall, Trickle

if TYPE_CHECKING:
    import random
    import subprocess
    from collections.abc import Iterator, Mapping

    from campaigns.arena import Arena, Choice
    from redist import Request

PROCESSES = 8
HALF = 40_000
SLOW = 20_000
"""Bytes, and bytes per second, of the archives of some 80 KB."""

_MANIFEST = f"redistrib_{LABEL}.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Race:
    """What the processes do: get ``archives`` different ones; ``forced``, replace what is there.

    The first one is ``killed`` half-way, or ``stopped`` there until the others are done, its lock in hand.
    ``injected`` is what strace does to the locks; ``vanishing``: every lock file is removed as soon as it is seen.
    """

    archives: int = 1
    forced: bool = False
    killed: bool = False
    stopped: bool = False
    injected: str = ""
    vanishing: bool = False

    @property
    def has_locks(self) -> bool:
        return not (self.stopped or self.injected or self.vanishing)


WITH_LOCKS = {
    "one archive, one killed": Race(killed=True),
    "four archives": Race(archives=4),
    "one archive, replaced by all": Race(forced=True),
    "one archive": Race(),
    "four archives, one killed": Race(archives=4, killed=True),
}

WITHOUT_LOCKS = {
    "locks do nothing": Race(injected="flock:retval=0"),
    "a lock held for ever": Race(stopped=True),
    "locks refused (ENOLCK), one killed": Race(injected="flock:error=ENOLCK", killed=True),
    "lock files vanish": Race(vanishing=True),
    "locks do nothing, replaced by all": Race(injected="flock:retval=0", forced=True),
    "locks do nothing, four archives, one killed": Race(injected="flock:retval=0", archives=4, killed=True),
}


def campaign(folder: Path, rng: random.Random, *, rounds: int, races: Mapping[str, Race]) -> Tally:
    """Run ``rounds`` rounds, the races in turn, each on a root of its own."""
    tally = Tally()
    with arena(folder / "arena") as there:
        for number, (name, race) in zip(range(rounds), itertools.cycle(races.items()), strict=False):
            root = folder / f"round{number}"
            before = sum(len(there.downloads(choice)) for choice in CHOICES)
            tally.add(name, _Round(there, race, root, rng).faults())
            after = sum(len(there.downloads(choice)) for choice in CHOICES)
            tally.figure(name, after - before, "{} downloads a round")
            shutil.rmtree(root, ignore_errors=True)
    return tally


class _Round:
    """One race on a new root."""

    def __init__(self, there: Arena, race: Race, root: Path, rng: random.Random) -> None:
        self._there = there
        self._race = race
        self._root = root
        self._rng = rng
        self._choices = CHOICES[: race.archives]
        self._before = {choice: len(there.downloads(choice)) for choice in CHOICES}

    def faults(self) -> Iterator[str]:
        """Run it and yield what went wrong."""
        if self._race.forced:
            run(self._there.words(self._choices[0], self._root))
        with _vanishing(self._root / ".turns", wanted=self._race.vanishing):
            first = self._half_way() if self._race.killed or self._race.stopped else None
            asked = len(self._there.server.requests(_MANIFEST))
            others = [self._start(number) for number in range(1 if first else 0, PROCESSES)]
            if first is not None and self._race.killed:
                until(lambda: len(self._there.server.requests(_MANIFEST)) - asked > len(others) // 2)
                first.kill()
            yield from self._seen(others)
            yield from self._ended(others)
        if first is not None:
            first.send_signal(signal.SIGCONT)
            done = ended(first)
            if done.code != (-signal.SIGKILL if self._race.killed else 0):
                yield f"the first one: exit {done.code}: {done.err}"
        if self._race.has_locks and not self._race.forced:
            yield from self._of_the_downloads()
        yield from self._of_the_prefixes()
        yield from self._of_the_leftovers(first)

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        time.sleep(self._rng.uniform(0, 0.02))
        if self._race.stopped:
            # The command waits an hour for a turn; the library may be told to wait less.
            program = (sys.executable, str(Path(impatient.__file__)))
            return started([self._root, self._there.server.url], program=program)
        words = self._there.words(self._choice(number), self._root, *["--force"] * self._race.forced)
        return started(words, program=COMMAND, injected=self._race.injected)

    def _choice(self, number: int) -> Choice:
        return self._choices[number % len(self._choices)]

    def _half_way(self) -> subprocess.Popen[bytes]:
        """Start the first one and wait until its download is under way."""
        choice = self._choices[0]
        self._there.server.fail(".tar.xz", Stall(HALF) if self._race.killed else Trickle(SLOW))
        first = started(self._there.words(choice, self._root), injected=self._race.injected)
        until(lambda: any(request.sent >= HALF for request in self._new_downloads(choice)))
        if self._race.stopped:
            first.send_signal(signal.SIGSTOP)
        return first

    def _new_downloads(self, choice: Choice) -> list[Request]:
        return self._there.downloads(choice)[self._before[choice] :]

    def _seen(self, processes: list[subprocess.Popen[bytes]]) -> Iterator[str]:
        while any(process.poll() is None for process in processes):
            yield from self._there.glimpsed(self._root)
            time.sleep(0.01)

    def _ended(self, processes: list[subprocess.Popen[bytes]]) -> Iterator[str]:
        for number, process in enumerate(processes, PROCESSES - len(processes)):
            done = ended(process)
            if (done.code, done.out) != (0, str(self._choice(number).prefix(self._root))):
                yield f"exit {done.code}: {done.out!r}: {done.err}"

    def _of_the_prefixes(self) -> Iterator[str]:
        for choice in self._choices:
            yield from self._there.faults_of(choice, self._root)
            done = run(["verify", choice.prefix(self._root)])
            if done.code:
                yield f"verify: exit {done.code}: {done.err}"

    def _of_the_leftovers(self, first: subprocess.Popen[bytes] | None) -> Iterator[str]:
        kept = ()
        if first is not None and self._race.killed:
            # What it left while the others had looked already goes with the next install.
            run(self._there.words(CHOICES[-1], self._root, "--force"))
            # Without locks all others may be done before it dies: its bytes are kept for a day.
            kept = () if self._race.has_locks else self._root.glob(f".partial/*.{first.pid}.*")
        known = {path.relative_to(self._root).as_posix() for path in kept}
        yield from (f"left: {path}" for path in leftovers(self._root) if path not in known)

    def _of_the_downloads(self) -> Iterator[str]:
        """With working locks an archive is downloaded once, and once more from where a killed process was."""
        for number, choice in enumerate(self._choices):
            requests = self._new_downloads(choice)
            ranges = [request.range for request in requests]
            resumed = self._race.killed and number == 0
            if len(ranges) != 1 + resumed or (resumed and ranges[1] is None):
                yield f"downloaded as {ranges}"


@contextmanager
def _vanishing(directory: Path, *, wanted: bool) -> Iterator[None]:
    """Remove every lock file as soon as it is there, as a zealous cleaner of caches might."""
    over = threading.Event()

    def clean() -> None:
        while wanted and not over.wait(0.001):
            for path in directory.glob("*"):
                with suppress(OSError):
                    path.unlink()

    cleaner = threading.Thread(target=clean, daemon=True)
    cleaner.start()
    try:
        yield
    finally:
        over.set()
        cleaner.join()
