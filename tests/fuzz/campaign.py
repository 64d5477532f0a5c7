"""One run of one target: seeds written, atheris started, its words read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory  # noqa: TID251 - the ban is for what the product writes
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzz.target import Target

__all__ = ["Outcome", "fuzz"]

_SECONDS_FOR_ONE_INPUT = 20
_MEBIBYTES = 2048
_IN_MEMORY = Path("/dev/shm")
_CHILD = Path(__file__).with_name("under_atheris.py")
_EXECUTIONS = re.compile(r"FOUND after ([0-9]+) executions|stat::number_of_executed_units: ([0-9]+)")
_WRONG = re.compile(r"=== Uncaught Python exception: ===\n(.*)|ERROR: libFuzzer: (.*)")
_WRITTEN = re.compile(r"Test unit written to (\S+)")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """``find`` is what was wrong and where the input lies, ``None`` if nothing was."""

    executions: int
    seconds: float
    find: str | None


def fuzz(target: Target, corpus: Path, *, limit: str, fault: str = "") -> Outcome:
    """Fuzz until libFuzzer's ``limit`` or the first find; ``fault`` names one of the planted.

    ``corpus`` keeps the inputs that reached something new, and below ``NAME-finds`` those that found something.
    """
    inputs, finds = corpus / target.name, corpus / f"{target.name}-finds"
    inputs.mkdir(parents=True, exist_ok=True)
    finds.mkdir(exist_ok=True)
    _plant_seeds(target, inputs, fault)
    command = [
        *(sys.executable, _CHILD, target.name, fault, inputs, limit, f"-artifact_prefix={finds}/"),
        *(f"-timeout={_SECONDS_FOR_ONE_INPUT}", f"-rss_limit_mb={_MEBIBYTES}"),
        *(f"-max_len={target.longest}", "-print_final_stats=1"),
    ]
    begun = time.monotonic()
    # libFuzzer leaves its process without a goodbye, and with it what the target keeps on the disk.
    with TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as scratch:
        environment = os.environ | {"TMPDIR": scratch}
        command.append(f"-dict={_dictionary(target, Path(scratch))}")
        ran = subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", check=False
        )
    words = ran.stdout + ran.stderr
    find = None if ran.returncode == 0 else _find(words)
    return Outcome(executions=_executions(words), seconds=time.monotonic() - begun, find=find)


def _dictionary(target: Target, folder: Path) -> Path:
    """Write the words as libFuzzer reads them: one a line, in quotes, every byte escaped."""
    words = ("".join(f"\\x{byte:02x}" for byte in word) for word in target.words)
    path = folder / "words"
    path.write_text("".join(f'"{word}"\n' for word in words))
    return path


def _plant_seeds(target: Target, inputs: Path, fault: str) -> None:
    """Write the seeds; those that give a planted fault away are left out."""
    for number, seed in enumerate(target.seeds()):
        if not fault or _passes(target, seed, fault):
            (inputs / f"seed-{number}").write_bytes(seed)


def _passes(target: Target, seed: bytes, fault: str) -> bool:
    try:
        target.check(seed, target.planted[fault])
    except Exception:  # noqa: BLE001 - any exception is what a fault looks like
        return False
    return True


def _executions(words: str) -> int:
    return int(_first(_EXECUTIONS, words) or 0)


def _find(words: str) -> str:
    """Return the exception, or libFuzzer's own verdict (a time-out, memory), and where the input lies."""
    wrong = _first(_WRONG, words) or (words.splitlines() or ["no word"])[-1]
    return f"{wrong} ({_first(_WRITTEN, words) or 'no input written'})"


def _first(pattern: re.Pattern[str], words: str) -> str | None:
    """Return what the first match has in the one group that took part."""
    match = pattern.search(words)
    return match and match[match.lastindex or 0]
