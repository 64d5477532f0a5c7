"""From a cuDNN release label to a verified, versioned local prefix.

    from cudnn_redist import fetch

    prefix = fetch("9.27.0", cuda="13")
    prefix.path, prefix.include_dir, prefix.lib_dir

The names below are resolved when first used: importing this package loads nothing heavy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import errors
    from .adoption.adopting import adopt
    from .catalog import labels, plan
    from .delivery import Progress
    from .doctor.preloading import Preloaded, preload
    from .fetcher import fetch
    from .findings import Finding
    from .installer import InstallOptions, install
    from .locking.making import lock
    from .locking.model import Lock
    from .manifest.choosing import Query
    from .manifest.labels import ReleaseLabel
    from .manifest.models import Archive, Component, Manifest
    from .mirroring.bundling import bundle
    from .mirroring.making import mirror
    from .planner import Plan, PlannedArchive
    from .prefix.installed import Prefix
    from .prefix.record import Record
    from .source.base import TransferOptions
    from .unpack.options import UnpackOptions

__version__ = "0.1.0"

_HOMES = {
    "Archive": "manifest.models",
    "Component": "manifest.models",
    "Finding": "findings",
    "InstallOptions": "installer",
    "Lock": "locking.model",
    "Manifest": "manifest.models",
    "Plan": "planner",
    "PlannedArchive": "planner",
    "Prefix": "prefix.installed",
    "Preloaded": "doctor.preloading",
    "Progress": "delivery",
    "Query": "manifest.choosing",
    "Record": "prefix.record",
    "ReleaseLabel": "manifest.labels",
    "TransferOptions": "source.base",
    "UnpackOptions": "unpack.options",
    "adopt": "adoption.adopting",
    "bundle": "mirroring.bundling",
    "fetch": "fetcher",
    "install": "installer",
    "labels": "catalog",
    "lock": "locking.making",
    "mirror": "mirroring.making",
    "plan": "catalog",
    "preload": "doctor.preloading",
}

__all__ = [
    "Archive",
    "Component",
    "Finding",
    "InstallOptions",
    "Lock",
    "Manifest",
    "Plan",
    "PlannedArchive",
    "Prefix",
    "Preloaded",
    "Progress",
    "Query",
    "Record",
    "ReleaseLabel",
    "TransferOptions",
    "UnpackOptions",
    "__version__",
    "adopt",
    "bundle",
    "errors",
    "fetch",
    "install",
    "labels",
    "lock",
    "mirror",
    "plan",
    "preload",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any of the public names
    if name == "errors":
        return import_module(".errors", __name__)
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
