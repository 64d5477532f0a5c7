"""The command: which targets, for how long, and what they found."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp  # noqa: TID251 - the ban is for what the product writes

from fuzz.campaign import Outcome, fuzz
from fuzz.targets import TARGETS

__all__ = ["main"]

_PLANTED_EXECUTIONS = 500_000


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if importlib.util.find_spec("atheris") is None:
        sys.stderr.write(f"atheris is missing: {sys.executable} -m pip install atheris\n")
        return 2
    names = options.target or list(TARGETS)
    _line("target", "executions", "seconds", "found")
    if options.planted:
        return _planted(names)
    corpus = options.corpus or Path(mkdtemp(prefix="fuzz-corpus-"))
    finds = _search(names, corpus, seconds=max(1, round(options.minutes * 60)))
    if not finds and not options.corpus:
        shutil.rmtree(corpus)
    return finds


def _search(names: list[str], corpus: Path, *, seconds: int) -> int:
    """Fuzz each target for so long; 1 if one of them found something."""
    finds = 0
    for name in names:
        outcome = fuzz(TARGETS[name], corpus, limit=f"-max_total_time={seconds}")
        _tell(name, outcome, outcome.find or "nothing")
        finds += outcome.find is not None
    return min(finds, 1)


def _planted(names: list[str]) -> int:
    """Look for every planted fault, without what earlier runs found out; 1 if one of them was missed."""
    missed = 0
    for name in names:
        for fault in TARGETS[name].planted:
            with TemporaryDirectory() as corpus:
                outcome = fuzz(TARGETS[name], Path(corpus), limit=f"-runs={_PLANTED_EXECUTIONS}", fault=fault)
            _tell(name, outcome, f"{'MISSED' if outcome.find is None else 'planted'}: {fault}")
            missed += outcome.find is None
    return min(missed, 1)


def _tell(name: str, outcome: Outcome, found: str) -> None:
    _line(name, f"{outcome.executions:,}", f"{outcome.seconds:.0f}", found)


def _line(target: str, executions: str, seconds: str, found: str) -> None:
    sys.stdout.write(f"{target:<10}{executions:>12}{seconds:>9}  {found}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Fuzz the readers of foreign bytes with atheris.")
    parser.add_argument("--minutes", type=float, default=10, help="for each target (default: 10)")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="repeatable; default: all")
    parser.add_argument(
        "--planted", action="store_true", help="instead, see that the faults planted in each target are found"
    )
    parser.add_argument("--corpus", type=Path, help="a folder that keeps inputs from run to run, and finds")
    return parser
