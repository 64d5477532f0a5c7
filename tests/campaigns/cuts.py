"""A line that breaks twenty times in one transfer: little is fetched twice (C23, C25)."""

from __future__ import annotations

import random
import sys
from collections import deque
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from campaigns import impatient
from campaigns.ground import LABEL, prefix_in
from campaigns.processes import ended, started
from campaigns.tally import Tally
from campaigns.trees import installed_tree, tree_of_archive
from redist import File, RedistServer, RedistTree
from redist.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from campaigns.processes import Ended
    from redist import Request
    from redist.content import Entry
    from redist.exchange import Reply

ARCHIVE = ".tar.gz"
SIZE = 20_000_000
MOST = 1.1
"""Bytes sent over bytes in the archive: the bound of the issue."""

RETRIES = 5
PROGRESS = 64 * 1024
"""The documented rule: so many failures in a row are too many, and so many new bytes start the count anew."""

# A reset throws away what the kernels still hold: at full speed on a loopback that is more than on any real line.
RATE = 40_000_000.0
PIECE = 128 * 1024


class CutAt(Fault):
    """Break the line at these offsets of the file, by FIN or by RST, one in each answer."""

    def __init__(self, offsets: Iterable[int], rng: random.Random) -> None:
        self._offsets = deque(sorted(offsets))
        self._rng = rng

    @property
    def left(self) -> int:
        """Cuts that are still to come."""
        return len(self._offsets)

    def reply(self, reply: Reply, /) -> Reply:
        if not self._offsets or reply.status not in (200, 206):
            return reply
        after = self._offsets.popleft() - reply.body.start
        return replace(reply, stop_after=max(0, after), ending=self._rng.choice(("fin", "rst")))


def campaign(folder: Path, rng: random.Random, *, cuts: int, rounds: int) -> Tally:
    """Fetch ``rounds`` times with the cuts anywhere, and as often with all of them close together."""
    tally = Tally()
    with _served(folder) as server:
        archive = next(server.directory.rglob(f"*{ARCHIVE}"))
        tree = tree_of_archive(archive, folder / "unpacked")
        size = archive.stat().st_size
        for number in range(2 * rounds):
            what, offsets = _offsets(rng, cuts, size, crowded=number % 2 == 1)
            root = folder / f"root{number}"
            trial = _Trial(server, root, CutAt(offsets, rng), size)
            faults = list(trial.faults())
            if not faults and installed_tree(prefix_in(root)) != tree:
                faults.append("another tree")
            tally.add(what, faults)
            tally.figure(what, trial.ratio, "{} times the size sent")
    return tally


class _Trial:
    """One fetch over a line that breaks; a second one where the first gave up."""

    def __init__(self, server: RedistServer, root: Path, cut: CutAt, size: int) -> None:
        self._server = server
        self._root = root
        self._cut = cut
        self._size = size
        self.ratio = 0.0

    def faults(self) -> Iterator[str]:
        before = len(self._requests())
        self._server.always(ARCHIVE, self._cut)
        done = self._fetched()
        if done.code:
            yield from self._unjustified(done, self._requests()[before:])
            self._server.heal()
            done = self._fetched()
        elif self._cut.left:
            yield f"{self._cut.left} cuts never came"
        self._server.heal()
        requests = self._requests()[before:]
        self.ratio = sum(request.sent for request in requests) / self._size
        if done.code:
            yield f"exit {done.code}: {done.err}"
        if self.ratio >= MOST:
            yield f"{self.ratio:.4f} times the size was sent"

    def _unjustified(self, done: Ended, requests: list[Request]) -> Iterator[str]:
        """Yield why giving up was against the rule."""
        last = requests[-RETRIES - 1 :]
        if done.code != 4:
            yield f"exit {done.code}: {done.err}"
        elif len(last) <= RETRIES or any(request.sent >= PROGRESS + PIECE for request in last[1:]):
            yield f"gave up after answers of {[request.sent for request in last]} bytes"

    def _fetched(self) -> Ended:
        program = (sys.executable, str(Path(impatient.__file__)))
        return ended(started([self._root, self._server.url], program=program))

    def _requests(self) -> list[Request]:
        return self._server.requests(ARCHIVE)


def _offsets(rng: random.Random, cuts: int, size: int, *, crowded: bool) -> tuple[str, list[int]]:
    if not crowded:
        return f"{cuts} cuts anywhere", [rng.randrange(size) for _ in range(cuts)]
    place = rng.randrange(size - 10 * PROGRESS)
    return f"{cuts} cuts close together", [place + rng.randrange(4 * PROGRESS) for _ in range(cuts)]


@contextmanager
def _served(folder: Path) -> Iterator[RedistServer]:
    tree = RedistTree(folder / "served")
    tree.add_release(LABEL, platforms=["linux-x86_64"], variants=["cuda13"], kind="tar.gz", content=_noise)
    with RedistServer(tree.path, rate=RATE) as server:
        yield server


def _noise(*_: str | None) -> Mapping[str, Entry]:
    noise = random.Random(LABEL)
    return {f"lib/noise{each}": File(noise.randbytes(SIZE // 10)) for each in range(10)}
