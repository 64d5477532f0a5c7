"""NVIDIA's own reader of its channels, nvidia-binarchive 0.7.0, and ours see the same on the simulated server."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.programs import environment
from real.wheel import cache_directory
from redist import RedistPool, RedistServer, RedistTree

from cudnn_redist import plan
from cudnn_redist.catalog import channels, labels, manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from redist import Request

pytestmark = pytest.mark.real

READER = "nvidia-binarchive"


@dataclass(frozen=True, kw_only=True)
class Reader:
    """NVIDIA's reader, told to ask our server instead of NVIDIA's."""

    server: RedistServer
    variables: Mapping[str, str]
    folder: Path

    def run(self, *words: str) -> str:
        program = shutil.which(READER, path=self.variables["PATH"])
        assert program is not None
        variables = {**self.variables, "DOMAIN_HOST": self.server.url.rstrip("/")}
        done = subprocess.run(
            [program, *words], env=variables, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def asked(self) -> list[Request]:
        return self.server.requests(".json")


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """A server with 9.9.0 and 9.27.0 in stable, 9.28.0 in beta, and the reader in an environment of its own."""
    tree, pool = RedistTree(tmp_path / "published"), RedistPool(tmp_path / "pool")
    for label, channel in (("9.9.0", "stable"), ("9.27.0", "stable"), ("9.28.0", "beta")):
        tree.add_release(label)
        pool.add_release(tree, label, channel=channel)
    variables = environment({READER}, ours=Path(sys.executable), cache=cache_directory(), home=tmp_path)
    (tmp_path / "run").mkdir()
    with RedistServer(pool.path) as server:
        yield Reader(server=server, variables=variables, folder=tmp_path / "run")


def test_both_list_the_same_channels_and_labels(reader: Reader) -> None:
    told = reader.run("--channel", "stable", "-p", "cudnn", "--list")

    assert channels(sources=[reader.server.url]) == {"stable": ("cudnn",), "beta": ("cudnn",)}
    assert re.findall(r"- (\w+)  \[cudnn\]", told) == ["stable", "beta"]
    found = [label.text for label in labels(channel="stable", sources=[reader.server.url])]
    assert f"- stable: {', '.join(found)}" in told


@pytest.mark.parametrize(
    ("channel", "label"), [("stable", "9.27.0"), ("stable", "9.9.0"), ("beta", "9.28.0")]
)
def test_both_find_the_same_manifest(channel: str, label: str, reader: Reader) -> None:
    told = reader.run("--channel", channel, "-p", "cudnn", "-l", label, "-W")
    theirs = [request.path for request in reader.asked()]
    ours = manifest(label, channel=channel, sources=[reader.server.url])

    assert [request.path for request in reader.asked()] == theirs * 2
    assert f"Verified manifest sha256: {ours.sha256}" in told
    assert ours.origin.rpartition("/")[2] == f"{ours.sha256}.json"


def test_both_fetch_the_same_archive_from_the_pool(reader: Reader) -> None:
    choice = {"platform": "linux-x86_64", "cuda": "13"}
    words = ["--component", "cudnn", "--os", "linux", "--arch", "x86_64", "--variant", "cuda13"]
    reader.run(
        "--channel", "stable", "-p", "cudnn", "-l", "9.27.0", *words, "-w", "-b", "-s", "-X", "-o", "theirs"
    )
    (asked,) = reader.server.requests(".tar.xz")
    (archive,) = plan(
        "9.27.0", channel="stable", sources=[reader.server.url], root=reader.folder, **choice
    ).archives

    assert archive.urls == (reader.server.url.rstrip("/") + asked.path,)
    (fetched,) = reader.folder.rglob("*-9.27.0.42_cuda13-archive.tar.xz")
    assert hashlib.sha256(fetched.read_bytes()).hexdigest() == archive.sha256
