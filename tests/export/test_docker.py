"""``docker``: the step's command run by a shell as the builder runs it, its mounts directories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from export.docker_step import Builder
from redist import RedistServer
from redist.faults import Flipped, Status

from cudnn_redist.errors import NotAvailableError, UsageError
from cudnn_redist.export.kinds import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from export.ground import Exports

ARCHIVE = "linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"


def test_it_fills_the_directory_from_the_archive_of_its_architecture(
    exports: Exports, tmp_path: Path
) -> None:
    builder = Builder(tmp_path, exports.text("docker"))
    done = builder.build(TARGETARCH="amd64")
    assert done.returncode == 0, done.stderr
    assert (builder.prefix / "lib/libcudnn.so").resolve().name == "libcudnn.so.9.27.0"
    assert (builder.prefix / "include/cudnn.h").is_file()
    assert (builder.prefix / "lib64").readlink().name == "lib"
    assert [path.name for path in builder.cache.iterdir()] == [exports.entry()["sha256"]]


def test_another_architecture_is_another_archive_in_the_same_cache(exports: Exports, tmp_path: Path) -> None:
    builder = Builder(tmp_path, exports.text("docker"))
    for architecture in ("amd64", "arm64", "arm64"):
        assert builder.build(TARGETARCH=architecture).returncode == 0
    asked = [request.path for request in exports.server.log if request.path.endswith(".xz")]
    assert [path.split("/")[-2] for path in asked] == ["linux-x86_64", "linux-sbsa"]


@pytest.mark.parametrize("arguments", [{"TARGETARCH": "riscv64"}, {}], ids=["unknown", "unset"])
def test_an_architecture_without_an_archive(
    exports: Exports, tmp_path: Path, arguments: dict[str, str]
) -> None:
    done = Builder(tmp_path, exports.text("docker")).build(**arguments)
    assert done.returncode == 3
    assert "of cudnn: arm64/cuda13 amd64/cuda13" in done.stderr


def test_of_two_variants_one_must_be_named(exports: Exports, tmp_path: Path) -> None:
    builder = Builder(tmp_path, exports.text("docker", cuda=["12", "13"]))
    assert builder.build(TARGETARCH="amd64").returncode == 3
    assert builder.build(TARGETARCH="amd64", CUDNN_VARIANT="cuda12").returncode == 0
    assert exports.entry(variant="cuda12")["sha256"] in [path.name for path in builder.cache.iterdir()]


@pytest.mark.parametrize("fault", [Flipped(1_000), Status(404)], ids=["wrong-bytes", "withdrawn"])
def test_what_is_not_the_archive_fills_nothing(
    exports: Exports, tmp_path: Path, fault: Flipped | Status
) -> None:
    exports.server.always(ARCHIVE, fault)
    builder = Builder(tmp_path, exports.text("docker"))
    done = builder.build(TARGETARCH="amd64")
    assert (done.returncode, "no source gives" in done.stderr) == (5, True)
    assert (list(builder.cache.iterdir()), builder.prefix.exists()) == ([], False)


def test_a_spoiled_cache_is_replaced_and_the_next_source_asked(exports: Exports, tmp_path: Path) -> None:
    with RedistServer(exports.tree.path) as mirror:
        mirror.always(ARCHIVE, Status(404))
        text = text_of("docker", exports.lock(), sources=[mirror.url, exports.server.url])
        builder = Builder(tmp_path, text)
        (builder.cache / exports.entry()["sha256"]).write_bytes(b"spoiled")
        assert builder.build(TARGETARCH="amd64").returncode == 0
    assert (builder.cache / exports.entry()["sha256"]).read_bytes() == exports.data()


def test_two_builds_for_arm_must_be_told_apart(exports: Exports) -> None:
    exports.tree.add_release("9.20.0", platforms=("linux-sbsa", "linux-aarch64"))
    with pytest.raises(UsageError, match="arm64/cuda13 may be linux-aarch64 or linux-sbsa"):
        exports.text("docker", "9.20.0")


def test_two_components_are_one_too_many(exports: Exports) -> None:
    exports.tree.add_release("9.27.0", components=("cudnn", "cudnn_jit"))
    with pytest.raises(UsageError, match="docker takes one of cudnn, cudnn_jit"):
        exports.text("docker")


def test_nothing_for_linux(exports: Exports) -> None:
    with pytest.raises(NotAvailableError, match="nothing of this is for Linux"):
        exports.text("docker", platform="windows-x86_64")


@pytest.mark.parametrize("kind", ["docker", "aria2"])
def test_a_directory_is_no_server(exports: Exports, kind: str) -> None:
    with pytest.raises(UsageError, match="fetches over HTTP; give a --source that is a server"):
        text_of(kind, exports.lock(), sources=[str(exports.tree.path)])
