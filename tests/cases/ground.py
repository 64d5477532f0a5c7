"""Running ``fetch`` as its users do, and what must be true of the root afterwards, however it ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from campaigns.processes import until
from cli.ground import leftovers, partials, reason, snapshot
from redist.command import run_command

from cudnn_redist import Prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redist import RedistServer
    from redist.command import Completed

LABEL = "9.27.0"
MANIFEST = f"redistrib_{LABEL}.json"
ARCHIVE = "_cuda13-archive.tar.xz"
"""How the path of the archive ends that a run without further words is for."""

# Below the product's directory: label, component, platform, variant.
_LEVELS = 4
_SILENT = {"--platform": "linux-x86_64", "--cuda": "13"}


@dataclass(frozen=True)
class Fetch:
    """``cudnn-redist fetch`` into ``root`` from ``source``.

    Platform and CUDA are ``linux-x86_64`` and 13 unless the words name others, so that nothing depends on the
    machine of the test.
    """

    root: Path
    source: str | Path

    def __call__(
        self, label: str = LABEL, *words: str | Path, env: Mapping[str, str] | None = None
    ) -> Completed:
        """Run it to its end."""
        silent = [each for pair in _SILENT.items() if pair[0] not in words for each in pair]
        source = [] if "--source" in words else ["--source", self.source]
        return run_command("fetch", label, *silent, *source, "--root", self.root, *words, env=env)

    def installed(
        self, label: str = LABEL, *words: str | Path, env: Mapping[str, str] | None = None
    ) -> Prefix:
        """Run it, expect one prefix on stdout, whole and with nothing beside it, and return that."""
        done = self(label, *words, env=env)
        assert done.code == 0, done.err
        (path,) = done.out.splitlines()
        prefix = Prefix.open(Path(path))
        assert prefix.verify() == ()
        assert (leftovers(self.root), partials(self.root)) == ([], [])
        return prefix

    def refused(
        self,
        code: int,
        label: str = LABEL,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        resumable: bool = False,
    ) -> str:
        """Run it, expect ``code``, every prefix as it was and nothing beside them, and return the reason.

        ``resumable``: a partial stays, since the line failed and the bytes before that are good.
        """
        before = _standing(self.root)
        done = self(label, *words, env=env)
        assert (done.code, done.out) == (code, ""), done.err
        assert _standing(self.root) == before
        assert leftovers(self.root) == []
        assert bool(partials(self.root)) is resumable
        return reason(done)


def redist(server: RedistServer) -> str:
    """Return the URL of the folder with the manifests."""
    return f"{server.url}cudnn/redist/"


def ranges(server: RedistServer) -> list[str | None]:
    """Return what was asked for of the archive: a range each, ``None`` for the whole."""
    return [request.range for request in server.requests(ARCHIVE)]


def soon(condition: Callable[[], object], *, timeout: float = 60) -> None:
    """Wait until ``condition`` holds."""
    assert until(condition, longest=timeout, every=0.01)


def _standing(root: Path) -> dict[str, str] | None:
    """Return the prefixes, to the last time and number of a file in them; trying to replace one may touch itself."""
    found = snapshot(root / "cudnn")
    if found is None:
        return None
    return {path: state if len(Path(path).parts) > _LEVELS else "" for path, state in found.items()}
