"""Every kind of export, by the name that the command line has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UsageError
from ..locking.locked import whole_locked_plans
from .bazel import bazel_text, hermetic_text, rules_cuda_text
from .cmake import cmake_text
from .docker import docker_text
from .downloads import aria2_text, sha256sums_text, shell_text
from .nix import nix_text
from .python import python_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..locking.model import Lock
    from ..planner import Plan

__all__ = ["KINDS", "text_of"]

_OF_PLANS: dict[str, Callable[[Sequence[Plan]], str]] = {
    "cmake": cmake_text,
    "bazel": bazel_text,
    "rules-cuda": rules_cuda_text,
    "rules-ml-toolchain": hermetic_text,
    "nix": nix_text,
    "docker": docker_text,
    "shell": shell_text,
    "aria2": aria2_text,
    "sha256sums": sha256sums_text,
}
KINDS = (*_OF_PLANS, "python")


def text_of(kind: str, lock: Lock, *, sources: Sequence[str] = (), origin: str = "the lock") -> str:
    """Return the text of one of ``KINDS`` for all that ``lock`` has, from ``sources`` or where the lock says.

    The same input gives the same text. Raises ``UsageError`` (no such kind, or one that cannot say this),
    ``NotAvailableError`` (nothing in it is for this kind) or ``LockError`` (a path that leaves its source).
    """
    if kind not in KINDS:
        raise UsageError(f"no export is called {kind!r:.40}; there are {', '.join(KINDS)}", phase="export")
    plans = whole_locked_plans(lock, origin=origin, sources=sources)
    if kind in _OF_PLANS:
        return _OF_PLANS[kind](plans)
    return python_text(plans, lock)
