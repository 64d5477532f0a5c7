"""Cases of the kind "resolve" that this machine answers: what it calls itself, and what its files say."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from cases.ground import LABEL
from cases.hosts import host_that
from cli.ground import reason
from redist.command import run_command

from cudnn_redist import errors, install
from cudnn_redist.asking import ask
from cudnn_redist.catalog import plan_asked
from cudnn_redist.host import Machine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cases.ground import Fetch
    from redist import RedistTree

    from cudnn_redist import Plan

PLATFORMS = (
    "linux-x86_64",
    "linux-sbsa",
    "linux-aarch64",
    "linux-ppc64le",
    "windows-x86_64",
    "windows-arm64",
)


@dataclass(frozen=True)
class Arm:
    """A 64-bit Arm Linux machine: the release of L4T that its files tell, if it is a Tegra."""

    l4t: int | None

    def machine(self, system_root: Path) -> Machine:
        if self.l4t is not None:
            (system_root / "etc").mkdir(parents=True)
            (system_root / "etc/nv_tegra_release").write_text(f"# R{self.l4t} (release), REVISION: 1.0\n")
        release = "6.8.0-1021-nvidia-64k" if self.l4t is None else "5.15.148-tegra"
        return Machine(system="Linux", machine="aarch64", release=release, root=system_root)


SERVER, ORIN, THOR = Arm(None), Arm(36), Arm(38)


@pytest.fixture
def planned(redist_tree: RedistTree, tmp_path: Path) -> Callable[..., Plan]:
    """Plan on a machine that is told."""

    def plan_on(machine: Machine, label: str = LABEL, **choices: str) -> Plan:
        asked = ask(label, machine=machine, **choices)
        return plan_asked(asked, sources=[str(redist_tree.path)], root=tmp_path / "root")

    return plan_on


@pytest.fixture
def arm_tree(redist_tree: RedistTree) -> RedistTree:
    """Manifest A, 9.26.0: for Jetson CUDA 12 alone. Manifest B, 9.27.0: no build for Jetson any more."""
    redist_tree.add_release("9.26.0", platforms=("linux-sbsa", "linux-aarch64"))
    redist_tree.edit_manifest("9.26.0", lambda node: node["cudnn"]["linux-aarch64"].pop("cuda13"))
    redist_tree.add_release(LABEL, platforms=("linux-sbsa",))
    return redist_tree


ARM_CHOICES = [
    (SERVER, "9.26.0", "12", "linux-sbsa", "no sign of Tegra"),
    (SERVER, "9.26.0", "13", "linux-sbsa", "no sign of Tegra"),
    (SERVER, "9.27.0", "12", "linux-sbsa", "no sign of Tegra"),
    (ORIN, "9.26.0", "12", "linux-aarch64", "Tegra with L4T 36"),
    (THOR, "9.26.0", "12", "linux-sbsa", "L4T 38, which runs sbsa builds"),
    (THOR, "9.27.0", "13", "linux-sbsa", "L4T 38, which runs sbsa builds"),
]


@pytest.mark.parametrize(("arm", "label", "cuda", "platform", "told"), ARM_CHOICES)
@pytest.mark.usefixtures("arm_tree")
def test_C16_an_arm_machine_says_which_platform_and_why(
    *, planned: Callable[..., Plan], tmp_path: Path, arm: Arm, label: str, cuda: str, platform: str, told: str
) -> None:
    plan = planned(arm.machine(tmp_path / "system"), label, cuda=cuda)
    assert plan.archives[0].platform == platform
    assert plan.reasons[0].startswith(f"platform {platform}: this machine (")
    assert told in plan.reasons[0]
    (prefix,) = install(plan)
    assert prefix.record.platform == platform


@pytest.mark.parametrize(
    ("label", "cuda", "has"), [("9.26.0", "13", "it has cuda12"), ("9.27.0", "12", "it has linux-sbsa")]
)
@pytest.mark.usefixtures("arm_tree")
def test_C16_a_jetson_gets_no_servers_build_unless_told(
    *, planned: Callable[..., Plan], tmp_path: Path, label: str, cuda: str, has: str
) -> None:
    orin = ORIN.machine(tmp_path / "system")
    with pytest.raises(errors.NotAvailableError, match=has) as caught:
        planned(orin, label, cuda=cuda)
    assert "this machine (Tegra with L4T 36)" in str(caught.value) or "cuda12" in str(caught.value)
    assert planned(orin, label, cuda=cuda, platform="linux-sbsa").archives[0].platform == "linux-sbsa"


@pytest.mark.parametrize(
    ("system", "machine", "platform"),
    [
        ("Linux", "x86_64", "linux-x86_64"),
        ("Linux", "aarch64", "linux-sbsa"),
        ("Linux", "arm64", "linux-sbsa"),
        ("Linux", "ppc64le", "linux-ppc64le"),
        ("Windows", "AMD64", "windows-x86_64"),
        ("Windows", "amd64", "windows-x86_64"),
        ("Windows", "ARM64", "windows-arm64"),
        ("Windows", "arm64", "windows-arm64"),
    ],
)
def test_C18_every_name_of_a_machine_is_understood_and_told(
    *,
    redist_tree: RedistTree,
    planned: Callable[..., Plan],
    tmp_path: Path,
    system: str,
    machine: str,
    platform: str,
) -> None:
    redist_tree.add_release(LABEL, platforms=PLATFORMS, variants=("cuda13",))
    plan = planned(Machine(system=system, machine=machine, root=tmp_path), cuda="13")
    assert plan.archives[0].platform == platform
    assert plan.reasons[0].startswith(f"platform {platform}: this machine (")


@pytest.mark.parametrize(
    ("system", "machine"),
    [("Darwin", "arm64"), ("Linux", "i686"), ("Linux", "riscv64"), ("Windows", ""), ("Linux", ""), ("", "")],
)
def test_C18_an_unknown_machine_asks_for_a_platform_and_takes_any(
    planned: Callable[..., Plan], system: str, machine: str
) -> None:
    unknown = Machine(system=system, machine=machine)
    with pytest.raises(errors.UsageError, match="give one with --platform") as caught:
        planned(unknown, cuda="13")
    assert f"({system or 'unknown system'} {machine or 'unknown machine'})" in str(caught.value)
    assert planned(unknown, cuda="13", platform="windows-x86_64").archives[0].platform == "windows-x86_64"


@pytest.mark.skipif(sys.platform != "linux", reason="personality(2) is Linux's")
def test_C18_the_command_on_a_machine_without_a_platform(fetch_local: Fetch, tmp_path: Path) -> None:
    """For the one process the kernel itself names a 32-bit machine (PER_LINUX32)."""
    env = host_that(tmp_path / "host", "import ctypes; ctypes.CDLL(None).personality(0x0008)")
    words = ("fetch", LABEL, "--cuda", "13", "--root", fetch_local.root, "--source", fetch_local.source)
    done = run_command(*words, env=env)
    assert (done.code, done.out) == (2, "")
    assert re.search(r"no redist platform for this machine \(Linux (i686|armv8l)\)", reason(done))
    assert not fetch_local.root.exists()
    for platform in ("windows-x86_64", "linux-sbsa"):
        fetch_local.installed(LABEL, "--platform", platform, env=env)


def test_C18_the_command_tells_the_platform_that_it_found(fetch_local: Fetch) -> None:
    words = ("fetch", LABEL, "--cuda", "13", "--root", fetch_local.root, "--source", fetch_local.source)
    done = run_command(*words)
    assert done.code == 0, done.err
    assert re.match(r"platform [a-z]+-\w+: this machine \(", done.err)
