"""What is asked for: the user's words, and the host's where the user is silent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as combinations
from typing import TypedDict

from .errors import UsageError
from .host import Machine, find_toolkit, host_platform
from .manifest.choosing import Query
from .manifest.labels import ReleaseLabel
from .manifest.targets import CudaVariant, Platform, is_plain_name, parse_platform
from .parts import named_parts

__all__ = [
    "LATEST",
    "MAIN_PRODUCT",
    "Ask",
    "Choices",
    "ask",
    "parse_label",
    "plain_component",
    "plain_product",
    "several",
]

LATEST = "latest"
MAIN_PRODUCT = "cudnn"
_LABEL_PARTS = 3
_FILE = re.compile(r"[/\\]|\.(?:xz|zst|gz|zip|whl)$")
_PRODUCT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Choices(TypedDict):
    """What ``ask`` and all that hands on to it take, by their names: which product, and what of a release."""

    product: str | None
    component: str | Sequence[str] | None
    platform: str | Sequence[str] | None
    cuda: str | Sequence[str] | None
    parts: str | Sequence[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One release, and what is wanted of it. ``label`` is ``None`` for the latest.

    ``channel`` names one of a content-addressed server; ``None`` means the classic tree.
    """

    product: str
    label: ReleaseLabel | None
    queries: tuple[Query, ...]
    channel: str | None = None


def ask(
    label: str,
    *,
    product: str | None = None,
    component: str | Sequence[str] | None = None,
    platform: str | Sequence[str] | None = None,
    cuda: str | Sequence[str] | None = None,
    parts: str | Sequence[str] | None = None,
    channel: str | None = None,
    machine: Machine | None = None,
) -> Ask:
    """Return every combination of the given choices as a query; the ``product`` is cudnn without another.

    ``parts`` are no choice: all those given make one prefix.

    What is not given is answered by ``machine`` (platform, CUDA; this one by default) or by the manifest
    (component). Raises ``UsageError`` for a word that makes no sense, or a machine that has no answer.
    """
    wanted = parse_label(label)
    chosen_parts = named_parts(several(parts))
    machine = machine or Machine.this()
    version = wanted if wanted is not None and len(wanted.numbers) > _LABEL_PARTS else None
    queries = tuple(
        Query(
            component=name,
            platforms=platforms,
            platform_reason=platform_reason,
            cuda=variant,
            cuda_reason=cuda_reason,
            runnable=runnable,
            version=version,
            parts=chosen_parts,
        )
        for name, (platforms, platform_reason), (variant, cuda_reason, runnable) in combinations(
            _components(several(component)),
            _platforms(several(platform), machine),
            _cudas(several(cuda), machine),
        )
    )
    return Ask(
        product=plain_product(product),
        label=wanted,
        queries=queries,
        channel=channel,
    )


def parse_label(text: object) -> ReleaseLabel | None:
    """Read a full or partial label; ``None`` stands for the latest. Raises ``UsageError``."""
    if not isinstance(text, str):
        raise UsageError(f"{text!r:.60} where a text such as '9.27.0' is needed", phase="label")
    if text == LATEST:
        return None
    try:
        return ReleaseLabel.parse(text)
    except UsageError as error:
        error.cause += f", or {LATEST}; a file is for `adopt`" if _FILE.search(text) else f", or {LATEST}"
        raise


def plain_product(name: object) -> str:
    """Return a product's name (cudnn without one): a directory and a part of URLs. ``UsageError`` where it is none."""
    name = MAIN_PRODUCT if name is None else name
    if not isinstance(name, str) or not _PRODUCT.fullmatch(name):
        raise UsageError(f"{name!r:.60} is no product name: small letters, digits, - and _ only")
    return name


def plain_component(name: str) -> str:
    """Return a component's name, which becomes a directory, or raise ``UsageError``."""
    if not is_plain_name(name):
        raise UsageError(f"{name!r:.60} is no component: a name such as cudnn or cudnn_jit")
    return name


def several(given: object) -> tuple[str, ...]:
    """Return a choice as texts; ``UsageError`` where a caller without a type checker has given a number."""
    if given is None:
        return ()
    texts = (given,) if isinstance(given, str) else given
    if not isinstance(texts, Sequence) or not all(isinstance(each, str) for each in texts):
        raise UsageError(f"{given!r:.60} where a text, or a list of texts, is needed")
    return tuple(texts)


def _components(given: tuple[str, ...]) -> tuple[str | None, ...]:
    return tuple(map(plain_component, given)) or (None,)


def _platforms(given: tuple[str, ...], machine: Machine) -> list[tuple[tuple[Platform, ...], str]]:
    if given:
        return [(parse_platform(text), "given") for text in given]
    found, reason = host_platform(machine)
    return [((found,), reason)]


def _cudas(
    given: tuple[str, ...], machine: Machine
) -> list[tuple[CudaVariant | None, str, CudaVariant | None]]:
    if given:
        return [(CudaVariant.asked(text), "given", None) for text in given]
    toolkit = find_toolkit(machine.environ, root=machine.root)
    if toolkit is not None:
        return [(CudaVariant(toolkit.version.major), f"the toolkit of {toolkit.found}", None)]
    runnable = machine.driver()
    if runnable is None:
        return [(None, "no toolkit and no driver found", None)]
    return [(None, f"no toolkit found, the driver runs {runnable.name}", runnable)]
