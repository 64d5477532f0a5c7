from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from cudnn_redist.cli import main
from cudnn_redist.errors import UsageError
from cudnn_redist.host import Machine, default_root, host_platform

L4T = "# {} (release), REVISION: 1.0, GCID: 33958178, BOARD: t186ref, EABI: aarch64, DATE: Tue Aug  1\n"
JETSON_TREE = "nvidia,p3737-0000+p3701-0000\0nvidia,tegra234\0"
TEGRA_KERNEL = "5.15.148-tegra"
SERVER_KERNEL = "6.8.0-1021-nvidia-64k"


def arm(
    root: Path, *, l4t: str | None = None, tree: str | None = None, kernel: str = SERVER_KERNEL
) -> Machine:
    """Describe a 64-bit Arm Linux machine by the files it has."""
    if l4t is not None:
        write(root / "etc/nv_tegra_release", L4T.format(l4t))
    if tree is not None:
        write(root / "proc/device-tree/compatible", tree)
    return Machine(system="Linux", machine="aarch64", release=kernel, root=root)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("Linux", "x86_64", "linux-x86_64"),
        ("Linux", "AMD64", "linux-x86_64"),
        ("linux", "X86_64", "linux-x86_64"),
        ("Linux", "aarch64", "linux-sbsa"),
        ("Linux", "arm64", "linux-sbsa"),
        ("Linux", "ppc64le", "linux-ppc64le"),
        ("Windows", "AMD64", "windows-x86_64"),
        ("Windows", "x64", "windows-x86_64"),
        ("Windows", "ARM64", "windows-arm64"),
        ("Windows", "aarch64", "windows-arm64"),
    ],
)
def test_every_spelling_of_a_host(system: str, machine: str, expected: str, tmp_path: Path) -> None:
    platform, reason = host_platform(Machine(system=system, machine=machine, root=tmp_path))
    assert platform == expected
    assert reason.startswith("this machine (")


@pytest.mark.parametrize(
    ("system", "machine", "told"),
    [
        ("Darwin", "arm64", "Darwin arm64"),
        ("Linux", "i686", "Linux i686"),
        ("Linux", "armv7l", "Linux armv7l"),
        ("Windows", "ppc64le", "Windows ppc64le"),
        ("FreeBSD", "amd64", "FreeBSD amd64"),
        ("Linux", "", "Linux unknown machine"),
        ("", "x86_64", "unknown system x86_64"),
    ],
)
def test_a_host_without_a_platform_asks_for_one(system: str, machine: str, told: str) -> None:
    with pytest.raises(UsageError, match="--platform") as caught:
        host_platform(Machine(system=system, machine=machine))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("signs", "expected", "told"),
    [
        pytest.param({}, "linux-sbsa", "no sign of Tegra", id="server"),
        pytest.param({"tree": "nvidia,grace\0arm,sbsa\0"}, "linux-sbsa", "no sign", id="server-with-a-tree"),
        pytest.param(
            {"l4t": "R35", "kernel": TEGRA_KERNEL}, "linux-aarch64", "L4T 35", id="xavier-by-kernel"
        ),
        pytest.param({"l4t": "R36", "tree": JETSON_TREE}, "linux-aarch64", "L4T 36", id="orin-by-tree"),
        pytest.param(
            {"l4t": "R36", "tree": JETSON_TREE, "kernel": TEGRA_KERNEL}, "linux-aarch64", "L4T 36", id="orin"
        ),
        pytest.param({"l4t": "R38", "tree": "nvidia,tegra264\0"}, "linux-sbsa", "L4T 38", id="thor"),
        pytest.param({"l4t": "R39", "kernel": "6.8.12-TEGRA"}, "linux-sbsa", "L4T 39", id="later"),
    ],
)
def test_arm_servers_and_jetsons(signs: dict[str, str], expected: str, told: str, tmp_path: Path) -> None:
    platform, reason = host_platform(arm(tmp_path, **signs))
    assert platform == expected
    assert told in reason


@pytest.mark.parametrize(
    ("signs", "told"),
    [
        pytest.param({"l4t": "R36"}, "nothing else says Tegra", id="release-file-alone"),
        pytest.param({"kernel": TEGRA_KERNEL}, TEGRA_KERNEL, id="kernel-alone"),
        pytest.param({"tree": JETSON_TREE}, "nvidia,tegra234", id="tree-alone"),
        pytest.param({"l4t": "release unknown", "tree": JETSON_TREE}, "tegra234", id="damaged-release-file"),
        pytest.param({"l4t": "R" + "9" * 5000, "tree": JETSON_TREE}, "tegra234", id="absurd-release"),
    ],
)
def test_signs_that_conflict_are_a_question(signs: dict[str, str], told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give --platform linux-sbsa or linux-aarch64") as caught:
        host_platform(arm(tmp_path, **signs))
    assert told in str(caught.value)


def test_this_machine_describes_itself() -> None:
    this = Machine.this()
    assert this.system
    assert this.machine
    assert this.root == Path("/")


def test_the_default_root(tmp_path: Path, clean_environment: Path) -> None:
    assert default_root({"CUDNN_REDIST_ROOT": str(tmp_path)}) == tmp_path
    assert default_root({"CUDNN_REDIST_ROOT": ""}).is_relative_to(clean_environment)
    assert default_root().name == "cudnn-redist"


@pytest.mark.skipif(os.name == "nt", reason="users of POSIX")
def test_without_a_home_a_root_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def knows_nobody(number: int) -> NoReturn:
        raise KeyError(number)

    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", knows_nobody)
    with pytest.raises(UsageError, match="--root"):
        default_root()
    assert main(["list", "--installed"]) == 2


def test_a_broken_library_is_not_taken_for_a_missing_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "platformdirs.py").write_text("raise RuntimeError('broken')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "platformdirs", raising=False)
    with pytest.raises(RuntimeError, match="broken"):
        default_root()
