"""The installer's file under an interpreter that has nothing but the standard library."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cudnn_redist import Lock

ALONE = ("-I", "-S", "-W", "error")
"""No site-packages, no environment, and every warning an error."""

DRIVER = """
import contextlib, importlib.util, io, json, sys
spec = importlib.util.spec_from_file_location("installer", sys.argv[1])
installer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(installer)
for line in sys.stdin:
    installer.PINS, words = json.loads(line)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = installer.main(words)
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


class Ended(NamedTuple):
    """How a run ended."""

    code: int
    out: str
    err: str


def interpreters() -> list[str]:
    """Return this Python, and the oldest that the installer promises to run on where this machine has one."""
    pyenv = shutil.which("pyenv")
    kept = Path(pyenv).resolve().parents[1].glob("versions/3.8.*/bin/python3.8") if pyenv else ()
    oldest = [path for path in (*map(str, kept), shutil.which("python3.8")) if path and _runs(path)]
    return [sys.executable, *oldest[:1]]


def _runs(python: str) -> bool:
    """Whether it is an interpreter, and not a stand-in for one that is not switched on."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


class Driven:
    """One process of the installer that is given pins and words again and again."""

    def __init__(self, python: str, file: Path) -> None:
        self._process = subprocess.Popen(
            [python, *ALONE, "-c", DRIVER, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Driven:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0

    def run(self, lock: Lock, *words: str | Path) -> Ended:
        """Install by ``lock``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pins = json.dumps({"lock": json.loads(lock.to_bytes()), "urls": {}})
        self._process.stdin.write(json.dumps([pins, [*map(str, words)]]) + "\n")
        self._process.stdin.flush()
        return Ended(*json.loads(self._process.stdout.readline()))


def run_file(python: str, file: Path, *words: str | Path, env: dict[str, str] | None = None) -> Ended:
    """Run the file itself."""
    done = subprocess.run(
        [python, *ALONE, str(file), *map(str, words)],
        env=env or {},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return Ended(done.returncode, done.stdout, done.stderr)
