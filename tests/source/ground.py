"""What the tests of downloads share: quick patience, one way to fetch, and what must not be left behind."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from redist import File
from redist.libraries import elf_library

from cudnn_redist import InstallOptions, Prefix, TransferOptions, fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from redist import RedistServer, Request
    from redist.content import Entry

QUICK = TransferOptions(
    retries=3, retry_delay=0.01, connect_timeout=2.0, stall_timeout=0.4, min_speed=0, speed_window=0.2
)
TAR = ".tar.xz"


def get(
    *sources: object,
    root: Path,
    label: str = "9.27.0",
    transfer: TransferOptions = QUICK,
    **choices: Any,  # noqa: ANN401 - any of fetch's
) -> Prefix:
    """Fetch cuDNN for linux-x86_64 and CUDA 13; ``options`` other than ``transfer`` go into InstallOptions."""
    options = InstallOptions(transfer=transfer, **choices.pop("options", {}))
    choice = {"platform": "linux-x86_64", "cuda": "13"} | choices
    return fetch(label, sources=[str(source) for source in sources], root=root, options=options, **choice)


def redist(server: RedistServer, login: str = "") -> str:
    """Return the URL of the folder with the manifests, where one request finds each thing."""
    return f"http://{login}127.0.0.1:{server.port}/cudnn/redist/"


def archives(server: RedistServer) -> list[Request]:
    return server.requests(TAR)


def statuses(server: RedistServer) -> list[int | None]:
    return [request.status for request in archives(server)]


def large(size: int) -> Callable[..., Mapping[str, Entry]]:
    """Return content for ``add_release`` whose archive has a little more than ``size`` bytes."""

    def content(component: str, _platform: str, version: str, _variant: str | None) -> Mapping[str, Entry]:
        library = elf_library(payload=random.Random(f"{component} {version}").randbytes(size))
        return {"lib/libcudnn.so.9": File(library, 0o755), "include/cudnn.h": File(b"/* small */\n")}

    return content


def partials(root: Path) -> list[Path]:
    return sorted((root / ".partial").glob("*.part"))


def stages(root: Path) -> list[Path]:
    return sorted(root.rglob("*.stage"))


def prefixes(root: Path) -> list[Path]:
    return sorted(record.parent for record in root.rglob(".cudnn-redist.json"))


def nothing_left(root: Path) -> bool:
    return not (prefixes(root) or stages(root) or list((root / ".partial").glob("*")))


def holders_of(secret: str, root: Path) -> list[Path]:
    """Return the files under ``root`` whose name or content has ``secret``."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return [path for path in files if secret in str(path) or secret.encode() in path.read_bytes()]
