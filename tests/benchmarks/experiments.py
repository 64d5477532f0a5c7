"""What is compared with what: ways side by side, and the figure that their ratio is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from benchmarks import ways

if TYPE_CHECKING:
    from benchmarks.ways import Way

Figure = Literal["wall", "cpu", "peak"]

_INSTALLED = 'cudnn-redist fetch "$LABEL" $CHOICE --source "$SOURCE" --root "$SHARED/root" --no-progress'


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """``ways`` run in turn; the first is what ratios compare with the others, by ``figure``.

    ``setup`` runs once, unmeasured. ``rated`` says whether the speed of the link matters.
    """

    name: str
    title: str
    ways: tuple[Way, ...]
    figure: Figure = "wall"
    setup: str = ""
    rated: bool = False
    rounds_factor: int = 1


def experiments(cores: int) -> dict[str, Experiment]:
    """Return every experiment by its name, for a machine of so many ``cores``."""
    known = (
        Experiment(name="fetch", title="Fetch and unpack tar.xz", ways=ways.FETCH, rated=True),
        Experiment(name="fast", title="Fetch and unpack tar.xz with the extra fast", ways=ways.FAST),
        Experiment(name="zip", title="Fetch and unpack zip", ways=ways.ZIP),
        Experiment(name="zip-file", title="zip from a local disk", ways=ways.ZIP_FILE),
        Experiment(name="zst", title="Fetch and unpack tar.zst", ways=ways.ZST),
        Experiment(name="zst-file", title="tar.zst from a local disk", ways=ways.ZST_FILE),
        Experiment(name="threads", title="Threads", ways=ways.by_threads(cores)),
        Experiment(name="memory", title="Memory against the archive's size", ways=ways.MEMORY, figure="peak"),
        Experiment(name="durable", title="The price of fsync", ways=ways.DURABLE),
        Experiment(
            name="no-op",
            title="Nothing to do",
            ways=ways.NO_OP,
            figure="cpu",
            setup=_INSTALLED,
            rounds_factor=8,
        ),
        Experiment(name="verify", title="Verify an installed prefix", ways=ways.VERIFY, setup=_INSTALLED),
    )
    return {experiment.name: experiment for experiment in known}
