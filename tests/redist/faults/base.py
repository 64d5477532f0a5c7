"""The three moments at which a fault may step in, and the ways to combine faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from redist.exchange import Asked, Reply, Resource


class Fault:
    """No fault: each step hands on what it was given."""

    def request(self, asked: Asked) -> Asked:
        """Change what the server has heard."""
        return asked

    def resource(self, resource: Resource) -> Resource:
        """Change what lies at the path: other bytes, other validators."""
        return resource

    def reply(self, reply: Reply, /) -> Reply:
        """Change the answer: status, headers, framing, the manner of its end."""
        return reply


@dataclass(frozen=True)
class Normal(Fault):
    """A good answer, to leave a gap in a queue of bad ones."""


@dataclass(frozen=True, init=False)
class Together(Fault):
    """Several faults in one answer, applied in order."""

    faults: tuple[Fault, ...]

    def __init__(self, *faults: Fault) -> None:
        object.__setattr__(self, "faults", faults)

    def request(self, asked: Asked) -> Asked:
        for fault in self.faults:
            asked = fault.request(asked)
        return asked

    def resource(self, resource: Resource) -> Resource:
        for fault in self.faults:
            resource = fault.resource(resource)
        return resource

    def reply(self, reply: Reply, /) -> Reply:
        for fault in self.faults:
            reply = fault.reply(reply)
        return reply


@dataclass(frozen=True)
class Before(Fault):
    """Call ``action`` before the file is looked up: the tree changes at this very request."""

    action: Callable[[], object]

    def request(self, asked: Asked) -> Asked:
        self.action()
        return asked
