"""What the tests of downloads share: quick patience, one way to fetch, and what must not be left behind."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redist import File
from redist.faults import Stall
from redist.libraries import elf_library

from cudnn_redist import InstallOptions, Prefix, TransferOptions, fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redist import RedistServer, Request
    from redist.content import Entry
    from redist.faults import Fault

    from cudnn_redist.source.http import HttpSource
    from cudnn_redist.source.line import Line

QUICK = TransferOptions(retries=3, retry_delay=0.01, min_speed=0)
"""Soon tried again, and never left in a hurry: on a busy machine even a good server may take a second."""

HASTY = replace(QUICK, stall_timeout=1.0)
"""For servers that fall silent for good."""

TAR = ".tar.xz"


FAULTY = Path("/proc/self/mem")
"""A file that opens, and gives EIO where its first byte is read, as a bad disk does; Linux has it."""


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


def patience_with(fault: Fault) -> TransferOptions:
    return HASTY if isinstance(fault, Stall) else QUICK


def redist(server: RedistServer, login: str = "") -> str:
    """Return the URL of the folder with the manifests, where one request finds each thing."""
    return f"http://{login}127.0.0.1:{server.port}/cudnn/redist/"


def read(source: HttpSource, url: str, *, offset: int = 0, validator: str | None = None) -> bytes:
    with source.open_archive(url, line=source.line(), offset=offset, validator=validator) as body:
        return b"".join(body)


def archive_path(server: RedistServer) -> str:
    (found,) = server.directory.rglob("*linux-x86_64-9.27.0.42_cuda13*.tar.xz")
    return found.relative_to(server.directory).as_posix()


def cut_when_asked(server: RedistServer, line: Line) -> threading.Thread:
    """Cut the line a moment after the server was asked for something: sooner, connecting would be cut."""

    def cut() -> None:
        server.wait_for()
        time.sleep(0.2)
        line.cut()

    cutter = threading.Thread(target=cut)
    cutter.start()
    return cutter


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
