"""How far it is: a bar on a terminal, a line now and then elsewhere (C73). The one file that knows tqdm."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

    from ..delivery import Progress
    from ..planner import Plan
    from .output import Output

__all__ = ["Display"]

_SECONDS_BETWEEN_LINES = 10.0


class Display:
    """Shows the progress of one plan; a context manager. ``show`` may be called from any thread."""

    def __init__(self, plan: Plan, output: Output, *, wanted: bool) -> None:
        self._output = output
        self._total = plan.download_size
        self._wanted = wanted
        self._lock = threading.Lock()
        self._done: dict[str, int] = {}
        self._bar: tqdm[NoReturn] | None = None
        self._started = self._told = time.monotonic()

    def __enter__(self) -> Display:
        if self._wanted and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=self._total or None,
                unit="B",
                unit_scale=True,
                unit_divisor=1000,
                ascii=_plain(),
                leave=False,
            )
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, progress: Progress) -> None:
        """Take one report."""
        with self._lock:
            if progress.phase in ("installed", "present"):
                self._finish(progress)
            elif self._wanted:
                self._advance(progress)

    def _advance(self, progress: Progress) -> None:
        name = progress.archive.name
        self._done[name] = max(self._done.get(name, 0), progress.done)
        done = sum(self._done.values())
        if self._bar is not None:
            self._bar.set_description_str(f"{progress.archive.component} {progress.phase}", refresh=False)
            self._bar.update(done - self._bar.n)
            return
        now = time.monotonic()
        if now - self._told >= _SECONDS_BETWEEN_LINES:
            self._told = now
            rate = done / (now - self._started) / 1e6
            of = f" of {self._total / 1e6:.0f}" if self._total else ""
            self._output.note(f"{name}: {progress.phase}, {done / 1e6:.0f}{of} MB, {rate:.1f} MB/s")

    def _finish(self, progress: Progress) -> None:
        if self._bar is not None:
            self._bar.clear()
        told = "installed" if progress.phase == "installed" else "already there"
        self._output.note(f"{told}: {progress.archive.prefix}")


def _plain() -> bool:
    return (sys.stderr.encoding or "ascii").lower().replace("-", "") != "utf8"
