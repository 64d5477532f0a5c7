"""``doctor``: which cuDNN is the right one, and what is wrong with the others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .. import __version__
from ..doctor.diagnosing import diagnose
from ..doctor.processes import mapped_by, watch
from ..doctor.pythons import ask_python, this_python
from ..doctor.redaction import Redaction
from ..doctor.system import System
from ..doctor.telling import diagnosis_facts, markdown, plain_text
from ..errors import UsageError
from ..findings import faults
from .words import layout_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from ..doctor.processes import Mapped
    from ..doctor.pythons import Python
    from .output import Output

__all__ = ["doctor"]

_FAULTY = 9


def doctor(arguments: argparse.Namespace, output: Output) -> int:
    """Say what this system has of cuDNN; exit code 9 for any fault. The result is printed in either case."""
    system = System() if arguments.system_root is None else System.at(arguments.system_root)
    if not system.root.is_dir():
        raise UsageError("no directory", phase="doctor", where=system.root)
    diagnosis = diagnose(
        system, pythons=_pythons(arguments, system), root=_root(arguments, system), mapped=_mapped(arguments)
    )
    facts = diagnosis_facts(diagnosis)
    if arguments.report:
        redaction = Redaction(system.environ, os.path.expanduser("~"))  # noqa: PTH111 - never raises
        output.result(markdown(diagnosis, __version__, redaction.text), redaction.facts(facts))
    else:
        output.result(plain_text(diagnosis), facts)
    found = faults(diagnosis.findings)
    if not found:
        return 0
    count = "1 fault" if len(found) == 1 else f"{len(found)} faults"
    codes = ", ".join(dict.fromkeys(finding.code for finding in found))
    output.aloud().note(f"cudnn-redist: doctor: {count}: {codes}")
    return _FAULTY


def _pythons(arguments: argparse.Namespace, system: System) -> Sequence[Python]:
    """Return this Python and those that are named; where another system is looked at, only the named ones."""
    named = [ask_python(program) for program in arguments.python or ()]
    everyone = [this_python(), *named] if system.is_this else named
    # An environment has several names for its one Python.
    return list({python.sites: python for python in everyone}.values())


def _root(arguments: argparse.Namespace, system: System) -> Path | None:
    """Return the root of our prefixes; another system has one only where it is named."""
    if arguments.root is None and not system.is_this:
        return None
    try:
        return layout_of(arguments).root
    except UsageError:
        # A user without a home has no prefixes there, nor has one who could never fetch.
        return None


def _mapped(arguments: argparse.Namespace) -> list[Mapped]:
    if arguments.pid is not None and arguments.command:
        raise UsageError("a --pid or a COMMAND, not both")
    if arguments.pid is not None:
        return [mapped_by(arguments.pid)]
    return watch(arguments.command) if arguments.command else []
