"""Prefixes of releases that load and link, made once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from consumers import made
from redist import RedistTree

import cudnn_redist

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redist.content import Entry

    Install = Callable[..., cudnn_redist.Prefix]


@pytest.fixture(scope="session")
def install_release(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Make a release of some content and install it: ``install_release(content, platform=..., component=...)``."""

    def install(
        content: Mapping[str, Entry],
        *,
        platform: str = "linux-x86_64",
        component: str = "cudnn",
        label: str = "9.27.0",
        root: Path | None = None,
    ) -> cudnn_redist.Prefix:
        tree = RedistTree(tmp_path_factory.mktemp("tree"))
        tree.add_release(
            label,
            components=(component,),
            platforms=(platform,),
            variants=("cuda13",),
            kind="tar",
            content=lambda *_: made.release(content),
        )
        return cudnn_redist.fetch(
            label,
            component=component,
            platform=platform,
            cuda="13",
            sources=[str(tree.path)],
            root=root or tmp_path_factory.mktemp("root"),
        )

    return install


@pytest.fixture(scope="session")
def whole(install_release: Install, tmp_path_factory: pytest.TempPathFactory) -> cudnn_redist.Prefix:
    """Everything: headers, all shared libraries, two static archives."""
    work = tmp_path_factory.mktemp("whole")
    return install_release({**made.headers(), **made.linux(work), **made.static(work)})


@pytest.fixture(scope="session")
def jit(install_release: Install, tmp_path_factory: pytest.TempPathFactory) -> cudnn_redist.Prefix:
    """The small set that compiles its engines when it runs."""
    libraries = made.linux(tmp_path_factory.mktemp("jit"), made.JIT_PARTS)
    return install_release({**made.headers(), **libraries}, component="cudnn_jit")


@pytest.fixture(scope="session")
def headers_only(install_release: Install) -> cudnn_redist.Prefix:
    return install_release(made.headers())


@pytest.fixture(scope="session")
def search() -> Path:
    """The folder of the small CMake files that search as each consumer does."""
    return Path(__file__).parent / "search"
