"""How far it is: a bar on a terminal, a line now and then elsewhere (C73). The one file that knows tqdm."""

from __future__ import annotations

import os
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


class Display:
    """Shows the progress of one plan; a context manager. ``show`` may be called from any thread.

    Counted are the bytes of archives; where nothing is downloaded (a local source, ``--archives``), the bytes
    unpacked, whose total nobody knows. ``every`` is the least time between two lines, in seconds.
    """

    def __init__(self, plan: Plan, output: Output, *, wanted: bool, every: float = 10.0) -> None:
        self._output = output
        self._total = plan.download_size
        self._wanted = wanted
        self._every = every
        self._lock = threading.Lock()
        self._counted: dict[str, str] = {}
        self._done: dict[str, int] = {}
        self._was_there = 0
        self._bar: tqdm[NoReturn] | None = None
        self._started = self._told = time.monotonic()

    def __enter__(self) -> Display:
        if self._wanted and sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("CI"):
            from tqdm import tqdm

            self._bar = tqdm(
                total=self._total or None,
                unit="B",
                unit_scale=True,
                unit_divisor=1000,
                ascii=_plain(),
                leave=False,
            )
            self._output.before_note = self._bar.clear
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._output.before_note = lambda: None
            self._bar.close()

    def show(self, progress: Progress) -> None:
        """Take one report."""
        with self._lock:
            if progress.phase in ("installed", "present"):
                told = "installed" if progress.phase == "installed" else "already there"
                self._output.note(f"{told}: {progress.archive.prefix}")
                if progress.phase == "present":
                    self._total = max(self._total - (progress.archive.size or 0), 0)
            elif self._wanted:
                self._advance(progress)

    def _advance(self, progress: Progress) -> None:
        name = progress.archive.name
        # Downloading and unpacking overlap; whichever an archive reports first is what is counted of it.
        if self._counted.setdefault(name, progress.phase) == "unpack":
            self._total = 0
        if progress.phase == self._counted[name]:
            if name not in self._done:
                self._begin(progress.done)
            self._done[name] = max(self._done.get(name, 0), progress.done)
        downloading = self._counted[name] == "download" and self._done[name] < (progress.archive.size or 0)
        phase = "download" if downloading else "unpack"
        if self._bar is not None:
            self._draw(self._bar, f"{progress.archive.component} {phase}")
        elif time.monotonic() - self._told >= self._every:
            self._tell(f"{name}: {phase}")

    def _begin(self, done: int) -> None:
        """Leave out of the rate what an earlier run had brought, which the first report of an archive tells."""
        self._was_there += done
        if self._bar is not None:
            self._bar.initial += done
            self._bar.n += done
            self._bar.last_print_n += done

    def _draw(self, bar: tqdm[NoReturn], doing: str) -> None:
        bar.total = self._total or None
        bar.set_description_str(doing, refresh=False)
        bar.update(sum(self._done.values()) - bar.n)

    def _tell(self, doing: str) -> None:
        self._told = time.monotonic()
        done = sum(self._done.values())
        rate = (done - self._was_there) / max(self._told - self._started, 0.001)
        of = f" of {self._total / 1e6:.0f}" if self._total else ""
        self._output.note(f"{doing}, {done / 1e6:.0f}{of} MB, {rate / 1e6:.1f} MB/s")


def _plain() -> bool:
    return (sys.stderr.encoding or "ascii").lower().replace("-", "") != "utf8"
