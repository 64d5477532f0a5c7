"""What one program asks for, beside what it would get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Finding
from .set_faults import copy_of
from .support import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .copies import Copy
    from .frameworks import Consumer

__all__ = ["faults_of_consumer", "several_copies"]


def faults_of_consumer(consumer: Consumer, copies: Sequence[Copy]) -> Iterator[Finding]:
    """Yield how the cuDNN that ``consumer`` would load differs from what it is built for."""
    if consumer.found is None:
        detail = f"{_named(consumer)} asks for {consumer.asked.text if consumer.asked else 'cuDNN'}, and finds none"
        yield Finding(code="cudnn-not-found", where=consumer.name, detail=detail, command=consumer.update)
        return
    copy, where = copy_of(consumer.found.library, copies), str(consumer.found.library.path)
    if copy is None:
        return
    loads = f"{_named(consumer)} would load {copy.version or 'an unknown release'} by {consumer.found.way}"
    if consumer.cuda and copy.cuda and consumer.cuda != copy.cuda:
        detail = f"{loads}, which is for CUDA {copy.cuda}; it is built for CUDA {consumer.cuda}"
        yield Finding(code="cuda-major-differs", where=where, detail=detail, command=consumer.update)
    if consumer.asked and copy.version and not consumer.asked.is_met_by(copy.version):
        older = _is_older(copy.version, consumer.asked.least or copy.version)
        code = "older-than-asked" if older else "other-than-asked"
        command = consumer.update if code == "older-than-asked" else None
        yield Finding(
            code=code, where=where, detail=f"{loads}; it asks for {consumer.asked.text}", command=command
        )


def several_copies(consumers: Sequence[Consumer], copies: Sequence[Copy]) -> Iterator[Finding]:
    """Yield a note where programs without an RPATH get one release and others lie about."""
    for consumer in consumers:
        winner = copy_of(consumer.found.library, copies) if consumer.found and not consumer.version else None
        if winner is None or consumer.found is None:
            continue
        others = [
            f"{copy.version or 'unknown'} in {copy.directory}"
            for copy in copies
            if copy is not winner and copy.major == winner.major and copy.version != winner.version
        ]
        if others:
            detail = (
                f"wins by {consumer.found.way} with {winner.version or 'unknown'}, over {', '.join(others)}"
            )
            yield Finding(code="several-copies", where=str(winner.directory), detail=detail)


def _named(consumer: Consumer) -> str:
    return " ".join(filter(None, (consumer.name, consumer.version)))


def _is_older(version: str, asked: str) -> bool:
    """Whether a release lacks what a program built with ``asked`` may use: an earlier one, or another major version."""
    mine, other = numbers(version), numbers(asked)
    return mine[:1] != other[:1] or mine[:3] < other[:3]
