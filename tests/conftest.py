"""Every test has a clean environment and a home of its own, and may ask for a redist tree and its server."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from redist import RedistServer, RedistTree

if TYPE_CHECKING:
    from collections.abc import Iterator

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell makes what it puts in the background deaf to Ctrl-C, and the programs that tests start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says how busy the machine is.
settings.register_profile("any pace", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any pace")

# What a developer's machine or a CI runner may have set and the tool, or a library under it, looks at.
_FOREIGN_PREFIXES = ("CUDA_", "CUDNN_", "XDG_", "GITHUB_", "SSL_CERT_")
_FOREIGN_NAMES = frozenset(
    {
        "ALL_PROXY",
        "CI",
        "CURL_CA_BUNDLE",
        "FTP_PROXY",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NETRC",
        "NO_COLOR",
        "NO_PROXY",
    }
    | {"PIP_CERT", "REQUESTS_CA_BUNDLE"}
)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Strip the environment; return the temporary home."""
    for name in list(os.environ):
        if name.upper().startswith(_FOREIGN_PREFIXES) or name.upper() in _FOREIGN_NAMES:
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root that nobody has made yet."""
    return tmp_path / "root"


@pytest.fixture
def redist_tree(tmp_path_factory: pytest.TempPathFactory) -> RedistTree:
    """Two releases of cuDNN, 9.26.0 and 9.27.0, each for three platforms and two variants."""
    tree = RedistTree(tmp_path_factory.mktemp("tree"))
    tree.add_release("9.26.0", date="2026-08-31")
    tree.add_release("9.27.0", date="2026-09-29")
    return tree


@pytest.fixture
def redist_server(redist_tree: RedistTree) -> Iterator[RedistServer]:
    """A server of ``redist_tree``, honest until told otherwise."""
    with RedistServer(redist_tree.path) as server:
        yield server


@pytest.fixture(scope="session")
def shared_manifests() -> Path:
    """The folder with NVIDIA's real manifests, which lies beside the checkout and is no part of it."""
    folder = Path(__file__).parents[2] / "shared" / "manifests"
    if not folder.is_dir():
        pytest.skip("no ../shared with NVIDIA's real manifests")
    return folder
