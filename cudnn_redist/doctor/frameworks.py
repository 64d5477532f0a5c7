"""Programs that load cuDNN: which one each asks for, by its metadata, and how it comes to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .support import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from .copies import Library, Shelf
    from .loader import Found, Loader
    from .pythons import Distribution, Python

__all__ = ["Asked", "Consumer", "consumers_of", "plain_consumer"]

_REQUIREMENT = re.compile(
    r"nvidia[-_.]cudnn(?:[-_.]jit)?[-_.]cu(?P<cuda>[0-9]{1,3})\s*(?P<bounds>[^;]*)", re.IGNORECASE
)
_EXTRA = re.compile(r"\bextra\s*==")
# The major version that everything asks for unless it says otherwise.
_TODAY = "9"
_BOUND = re.compile(r"(==|>=|~=|<=|<|>|!=)\s*([0-9]{1,9}(?:\.[0-9]{1,9})*)")
_CUDA_OF_BUILD = re.compile(r"\+cu([0-9]{2})")
_CUDA_OF_NAME = re.compile(r"cuda([0-9]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The cuDNN that a distribution requires: the ``text`` of it, the CUDA major, and the bounds of its version."""

    text: str
    cuda: int
    bounds: tuple[tuple[str, str], ...]

    @property
    def least(self) -> str | None:
        """The lowest version that will do, where there is one."""
        return next((version for sign, version in self.bounds if sign in ("==", ">=", "~=")), None)

    def is_met_by(self, version: str) -> bool:
        """Whether a release will do, by its first three numbers: the fourth is not known of every copy."""
        return all(_meets(numbers(version)[:3], sign, numbers(bound)[:3]) for sign, bound in self.bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """One program that loads cuDNN: ``name`` and ``version``, what it asks for, and what it finds.

    ``cuda`` is the major of the CUDA that it was built for, ``found`` the ``libcudnn`` that the loader takes.
    """

    name: str
    version: str | None = None
    cuda: int | None = None
    asked: Asked | None = None
    found: Found | None = None
    update: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Framework:
    """How one is known: its distributions, those that bring its CUDA part, and which of its files asks for cuDNN.

    ``wheel_first``: it loads the wheel that lies beside it by its path, before the loader is asked.
    """

    name: str
    distributions: tuple[str, ...]
    files: tuple[str, ...]
    wheel_first: bool = False


_FRAMEWORKS = (
    _Framework(
        name="torch",
        distributions=("torch",),
        files=(
            "torch/lib/libtorch_global_deps.so",
            "torch/lib/libtorch_cuda.so",
            "torch/lib/libtorch_python.so",
        ),
    ),
    _Framework(
        name="jax",
        distributions=("jax-cuda13-plugin", "jax-cuda12-plugin", "jax-cuda13-pjrt", "jax-cuda12-pjrt"),
        files=("jax_plugins/xla_cuda*/xla_cuda_plugin.so",),
        wheel_first=True,
    ),
    _Framework(
        name="tensorflow",
        distributions=("tensorflow", "tf-nightly"),
        files=("tensorflow/libtensorflow_cc.so.2", "tensorflow/libtensorflow_framework.so.2"),
    ),
    _Framework(
        name="onnxruntime",
        distributions=("onnxruntime-gpu",),
        files=("onnxruntime/capi/libonnxruntime_providers_cuda.so",),
    ),
)


def plain_consumer(loader: Loader, majors: Iterable[int]) -> Iterator[Consumer]:
    """Yield what a program without an RPATH gets, for each major version that it may ask for."""
    for name in (f"libcudnn.so.{major}" for major in sorted(set(majors))):
        found = loader.find(name)
        if found is not None:
            yield Consumer(name=f"any program that asks for {name}", found=found)


def consumers_of(python: Python, loader: Loader, shelf: Shelf) -> Iterator[Consumer]:
    """Yield the frameworks that a Python has, with the cuDNN that each asks for and would load here."""
    installed = {distribution.name: distribution for distribution in python.distributions}
    for framework in _FRAMEWORKS:
        known = [installed[name] for name in framework.distributions if name in installed]
        if not known:
            continue
        distribution = known[0]
        asked = next((each for one in known for each in _asked(one)), None)
        found, is_gpu = _found(framework, distribution, loader, shelf, asked)
        if is_gpu or asked:
            yield Consumer(
                name=framework.name if framework.name != "jax" else distribution.name,
                version=distribution.version,
                cuda=_cuda(distribution) or (asked.cuda if asked else None),
                asked=asked,
                found=found,
                update=python.reinstall(f'"{asked.text}"') if asked else None,
            )


def _found(
    framework: _Framework, distribution: Distribution, loader: Loader, shelf: Shelf, asked: Asked | None
) -> tuple[Found | None, bool]:
    """Return what is loaded, and whether a file of it asks for cuDNN at all: one built for CPUs has none that does."""
    requester, name = _requester(framework, distribution, shelf)
    if framework.wheel_first:
        beside = _beside(distribution.site, loader)
        if beside is not None:
            return beside, True
    if requester is None and asked is None:
        return None, False
    major = (asked.least or _TODAY).split(".")[0] if asked else _TODAY
    requesters = (requester,) if requester else ()
    return loader.find(name or f"libcudnn.so.{major}", requesters), requester is not None


def _requester(
    framework: _Framework, distribution: Distribution, shelf: Shelf
) -> tuple[Library | None, str | None]:
    """Return the file that asks for cuDNN and the name by which it does."""
    for pattern in framework.files:
        for path in sorted(distribution.site.glob(pattern)):
            library = shelf.library(path)
            names = (*library.binary.needed, *library.binary.named) if library.binary else ()
            asked = [name for name in names if name.startswith("libcudnn.so")]
            if asked:
                return library, next((name for name in asked if name != "libcudnn.so"), None)
    return None, None


def _beside(site: Path, loader: Loader) -> Found | None:
    for path in sorted(site.glob("nvidia/cudnn/lib/libcudnn.so.[0-9]*")):
        return loader.at(path, "the wheel beside it")
    return None


def _asked(distribution: Distribution) -> Iterator[Asked]:
    """Yield what it requires of cuDNN; where only extras do, those."""
    found = [
        (bool(_EXTRA.search(text)), match)
        for text in distribution.requires
        if (match := _REQUIREMENT.match(text))
    ]
    for _, match in sorted(found, key=lambda each: each[0]):
        text, bounds = "".join(match[0].split()), tuple(_BOUND.findall(match["bounds"]))
        yield Asked(text=text, cuda=int(match["cuda"]), bounds=bounds)


def _meets(version: tuple[int, ...], sign: str, bound: tuple[int, ...]) -> bool:
    """Whether a version is within a bound (Version specifiers, PEP 440), as far as the bound has numbers."""
    mine = version[: len(bound)]
    if sign == "~=":
        return mine >= bound and version[: len(bound) - 1] == bound[:-1]
    told = {"==": mine == bound, "!=": mine != bound, ">=": mine >= bound, "<=": mine <= bound}
    return {**told, "<": mine < bound, ">": mine > bound}[sign]


def _cuda(distribution: Distribution) -> int | None:
    told = _CUDA_OF_BUILD.search(distribution.version) or _CUDA_OF_NAME.search(distribution.name)
    return int(told[1]) if told else None
