"""One target in a process of its own, driven by atheris: ``under_atheris.py NAME FAULT [libFuzzer's options]``.

``FAULT`` is the name of a planted fault, or empty. libFuzzer ends its process itself, so this prints what is worth
knowing as it happens; ``command.py`` reads it.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import atheris

# A script's own directory leads sys.path; its modules are named from the one above, as tests name them.
sys.path[0] = str(Path(__file__).parents[1])

with atheris.instrument_imports(include=["cudnn_redist", "fuzz"]):
    from fuzz.targets import TARGETS

    from cudnn_redist.manifest import Manifest, select  # noqa: F401 - resolved late, and to be instrumented


def main(name: str, fault: str, options: list[str]) -> None:
    target = TARGETS[name]
    subject = target.planted[fault] if fault else target.subject
    executions = 0

    def run(data: bytes) -> None:
        nonlocal executions
        executions += 1
        try:
            target.check(data, subject)
        except BaseException:
            sys.stderr.write(f"\nFOUND after {executions} executions\n")
            raise

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        # Every fourth input keeps its wrong checksums: to refuse those is a promise too.
        mutated = atheris.Mutate(data, longest)
        return target.mended(mutated)[:longest] if seed % 4 else mutated

    atheris.Setup([sys.argv[0], *options], run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    logging.disable()
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
