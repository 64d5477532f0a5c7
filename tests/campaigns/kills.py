"""SIGKILL at random moments of a fetch: the root stays sound, and the next run needs no help (C62, C67, C70).

The moment is proven by what the dead process left on the disk. A slow server makes the download long enough to be
hit, many small files the unpacking, and strace, which holds back a chosen system call, what else takes microseconds.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.ground import FILES, LABEL, ground, prefix_in
from campaigns.moments import PHASES, is_new, moment_of, partials_in, stages_in
from campaigns.processes import ended, run, running, until
from campaigns.tally import Tally
from campaigns.trees import RECORD, installed_tree
from installing import everything, leftovers

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from campaigns.ground import Ground
    from campaigns.moments import Moment
    from campaigns.processes import Ended

SLOW = 4_000_000
"""Bytes per second of a server whose archive of 1.4 MB is to be caught half-way."""

_HELD_BACK = "delay_enter=100ms:delay_exit=100ms"
_MOST_TRIES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Aim:
    """How a kill is brought into a phase: what makes the phase long, when it has begun, and how long it is at most."""

    begun: Callable[[Path], object]
    seconds: float
    rate: float | None = None
    injected: str = ""
    words: tuple[str, ...] = ()

    @property
    def replaces(self) -> bool:
        """Whether an older prefix is to stand there before."""
        return "--force" in self.words


ANYWHERE = (
    Aim(begun=lambda _: True, seconds=1.2, rate=SLOW),
    Aim(begun=lambda _: True, seconds=1.4, rate=SLOW, words=("--force",)),
)

AIMS: dict[Moment, Aim] = {
    "download": Aim(
        begun=lambda root: any(path.stat().st_size for path in partials_in(root)), seconds=0.3, rate=SLOW
    ),
    "unpack": Aim(begun=lambda root: any(stages_in(root)), seconds=0.3),
    # The one link that is made, lib64, comes after the archive and before the record.
    "record": Aim(
        begun=lambda root: any(root.rglob("lib/libcudnn.so.9")) and not partials_in(root),
        seconds=0.2,
        injected=f"symlink:{_HELD_BACK}",
    ),
    "publish": Aim(
        begun=lambda root: any(root.rglob(f"*.stage/*/{RECORD}")),
        seconds=0.2,
        injected=f"rename:{_HELD_BACK}",
    ),
    "aside": Aim(
        begun=lambda root: any(prefix_in(root).parent.glob("*.old")),
        seconds=0.4,
        injected=f"rename:{_HELD_BACK}",
        words=("--force",),
    ),
}


def campaign(folder: Path, rng: random.Random, *, kills: int, files: int = FILES) -> Tally:
    """Kill ``kills`` times in all, a tenth of them in each phase at least."""
    tally = Tally()
    wanted = max(1, kills // 10)
    with ground(folder / "ground", files=files) as there:
        for number in range(_MOST_TRIES * kills):
            missing = [phase for phase in PHASES if tally.count(phase) < wanted]
            if tally.count() >= kills and not missing:
                return tally
            anywhere = number % 2 and tally.count() + wanted * len(missing) < kills
            aim = AIMS[rng.choice(missing)] if missing and not anywhere else rng.choice(ANYWHERE)
            work = folder / f"kill{number}"
            _killed(there, aim, rng, tally, root=there.root(work, standing=aim.replaces))
            shutil.rmtree(work, ignore_errors=True)
    tally.faults.append(f"too few kills in {missing}")
    return tally


def _killed(there: Ground, aim: Aim, rng: random.Random, tally: Tally, *, root: Path) -> None:
    """Kill a run, sometimes also the run that takes over from it, and let another one finish the work."""
    words = there.words(root, *aim.words)
    for _ in range(rng.choice((1, 1, 2))):
        moment = kill_in(there, aim, words, root, after=rng.uniform(0, aim.seconds))
        if moment is not None:
            tally.add(moment, there.faults_of(prefix_in(root)))
    tally.faults += [f"after a kill in {moment}: {fault}" for fault in taken_over(there, words, root)]
    tally.faults += [f"after a kill in {moment}: {fault}" for fault in left_over(there, root)]


def kill_in(there: Ground, aim: Aim, words: list[str | Path], root: Path, *, after: float) -> Moment | None:
    """Start a run, kill it ``after`` seconds from when the phase began, and tell from the disk when that was.

    ``None``: it had ended by then.
    """
    there.server.rate = aim.rate
    with running(words, injected=aim.injected) as process:
        until(lambda: aim.begun(root) or process.poll() is not None)
        until(lambda: process.poll() is not None, longest=after)
        process.kill()
        killed = ended(process).code == -signal.SIGKILL
    there.server.rate = None
    return moment_of(there, root, process.pid) if killed else None


def taken_over(there: Ground, words: list[str | Path], root: Path) -> Iterator[str]:
    """Yield what is wrong with the next run: it succeeds, and asks for no byte that is there."""
    finished = is_new(there, root) and "--force" not in words
    there_already = max((path.stat().st_size for path in partials_in(root)), default=0)
    missing = 0 if finished else there.size - there_already
    there.server.settle()
    before = len(there.downloads())
    done = run(words)
    requests = there.downloads()[before:]
    yield from _unless_well(done, prefix_in(root))
    if (sent := sum(request.sent for request in requests)) != missing:
        yield f"{missing} bytes were missing, {sent} were sent in {len(requests)} answers"
    yield from there.faults_of(prefix_in(root))
    if installed_tree(prefix_in(root)) != there.tree:
        yield "the next run left another tree"


def _unless_well(done: Ended, prefix: Path) -> Iterator[str]:
    if (done.code, done.out) != (0, str(prefix)) or "Traceback" in done.err:
        yield f"the next run: exit {done.code}, {done.out!r}, {done.err!r}"


def left_over(there: Ground, root: Path) -> Iterator[str]:
    """Yield what the next install leaves of a dead process's work, and the next but one, a day later."""
    other = there.words(root, "--force", cuda="12")
    if leftovers(root):
        yield from _unless_well(run(other), prefix_in(root).with_name("cuda12"))
        yield from (f"left: {path}" for path in leftovers(root))
    if strays := _strays(root):
        a_day_ago = time.time() - 25 * 3600
        for path in strays:
            os.utime(root / path, (a_day_ago, a_day_ago), follow_symlinks=False)
        yield from _unless_well(run(other), prefix_in(root).with_name("cuda12"))
        yield from (f"left after a day: {path}" for path in _strays(root))


def _strays(root: Path) -> list[str]:
    return [path for path, (kind, _) in sorted(everything(root).items()) if not _belongs(path, kind)]


def _belongs(path: str, kind: str) -> bool:
    """Whether a path is a prefix's, a kept manifest's or the log's."""
    if path.startswith("cudnn"):
        return "/.cudnn-redist-" not in path
    if path.startswith(".manifests"):
        return kind == "directory" or path.endswith(f"/redistrib_{LABEL}.json")
    return path in (".log.jsonl", ".partial")
