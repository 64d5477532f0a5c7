"""Run Python as a user to whom permissions apply, also where the tests run as root.

Root without any capability is an ordinary user who owns root's files: another user id would not do, because nobody
else may be able to read the interpreter.
"""

from __future__ import annotations

import os
import subprocess
import sys

NOBODY = 65534

# prctl(2): PR_CAPBSET_DROP. What is not in the bounding set is not given back by exec (capabilities(7)).
_DROP = """
import ctypes, os, sys
if os.geteuid() == 0:
    prctl = ctypes.CDLL(None).prctl
    for capability in range(64):
        prctl(24, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-W", "error", *sys.argv[1:]])
"""


def run_as_ordinary_user(*words: object) -> subprocess.CompletedProcess[str]:
    """Run ``python`` with these words, such as ``"-c"`` and a program, and return how it ended."""
    return subprocess.run(
        [sys.executable, "-c", _DROP, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
