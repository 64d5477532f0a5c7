"""The command as another user, under a umask of its own: reading passes over permissions, writing does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from redist.command import Completed

if TYPE_CHECKING:
    from pathlib import Path

ANNE, BERT, GROUP = 31_001, 31_002, 31_000


def run_as(user: int, *words: str | Path, umask: int = 0o022, extra: tuple[str, ...] = ()) -> Completed:
    """Run the command as ``user`` of ``GROUP``, or as whoever runs the tests with ``0``.

    The one capability kept is that to read: the interpreter and the tests lie where only root may look.
    ``extra`` goes before the command: a program that sets something and runs the rest.
    """
    become: list[str] = []
    if user:
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            pytest.skip("no right to become another user")
        become = ["setpriv", f"--reuid={user}", f"--regid={GROUP}", "--clear-groups"]
        become += [
            f"--{which}=-all,+dac_read_search" for which in ("inh-caps", "ambient-caps", "bounding-set")
        ]
    shell = ["sh", "-c", f'umask {umask:03o}; exec "$@"', "sh"]
    command = [*shell, *become, *extra, sys.executable, "-m", "cudnn_redist", *map(str, words)]
    kept = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    if not user and not extra:
        kept |= {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    done = subprocess.run(command, env=kept, capture_output=True, check=False, timeout=60)
    return Completed(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode(), seconds=0)
