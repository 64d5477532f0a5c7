"""Hosts that answer differently from this one: what another operating system would say.

Our own code is never patched: a ``sitecustomize`` module, which every interpreter runs before it runs the command,
puts another answer in the place of a function of ``os``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def host_that(folder: Path, program: str) -> dict[str, str]:
    """Return the environment of a command whose interpreter runs ``program``, kept in ``folder``, before it."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(program)
    return {"PYTHONPATH": str(folder)}
