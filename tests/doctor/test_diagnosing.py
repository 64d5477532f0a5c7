"""Broken machines, and healthy ones: what the doctor says of each, by its codes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from doctor import states
from doctor.machines import Machine

from cudnn_redist.doctor.diagnosing import diagnose
from cudnn_redist.doctor.hardware import Hardware
from cudnn_redist.doctor.processes import Mapped
from cudnn_redist.doctor.system import System
from cudnn_redist.findings import CODES, faults

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


HEALTHY = [
    states.nothing_at_all,
    states.debian_package,
    states.wheel_and_torch,
    states.whole_machine,
    states.jit_alone,
    states.conda_environment,
    states.toolkit,
    states.jetson,
    states.two_majors,
    states.removed_package,
    states.windows_prefix,
    states.tensorflow_by_the_loader,
    states.musl_beside_glibc,
]


@pytest.mark.parametrize("build", HEALTHY)
def test_a_healthy_machine_has_no_finding(build: Callable[[Machine], None], tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    build(machine)
    assert list(map(str, machine.diagnose().findings)) == []


BROKEN: list[tuple[Callable[[Machine], None], set[str]]] = [
    (states.mixed_by_library_path, {"set-mixed", "several-copies"}),
    (states.gap_filled, {"gap-filled", "gap-open", "set-mixed", "several-copies"}),
    (states.jit_beside_another, {"gap-filled", "gap-open", "several-copies"}),
    (states.same_release_twice, {"shadowed"}),
    (states.part_of_another_release, {"version-differs"}),
    (states.wheel_overwritten_by_hand, {"version-differs"}),
    (states.two_wheels_in_one_directory, {"installed-twice"}),
    (states.header_of_another, {"header-differs"}),
    (states.known_bad_release, {"release-faulty"}),
    (states.release_unheard_of, {"support-unknown"}),
    (states.no_zlib, {"zlib-missing"}),
    (states.no_toolkit_libraries, {"nvrtc-missing", "cublaslt-missing"}),
    (states.nvrtc_of_another_cuda, {"nvrtc-missing", "cublaslt-missing"}),
    (states.old_driver, {"driver-too-old"}),
    (states.old_driver_for_unknown_release, {"driver-too-old", "support-unknown"}),
    (states.old_gpu, {"gpu-too-old"}),
    (states.silent_driver, {"driver-broken"}),
    (states.text_file, {"library-damaged"}),
    (states.cut_library, {"library-damaged"}),
    (states.link_to_nothing, {"file-missing"}),
    (states.link_in_a_circle, {"file-missing"}),
    (states.pipe, {"library-damaged"}),
    (states.without_main, {"part-missing"}),
    (states.without_graph, {"part-missing"}),
    (states.main_alone, {"part-missing"}),
    (states.preloaded_part, {"set-mixed", "several-copies"}),
    (states.library_for_arm, {"machine-foreign"}),
    (states.alpine, {"libc-foreign"}),
    (states.rpath_keeps_others_out, {"several-copies"}),
    (states.package_and_another_wheel, {"several-copies"}),
    (states.torch_falls_back_on_an_older_one, {"older-than-asked"}),
    (states.torch_finds_a_later_one, {"other-than-asked"}),
    (states.torch_for_another_cuda, {"cuda-major-differs"}),
    (states.torch_without_cudnn, {"cudnn-not-found"}),
    (states.torch_by_runpath_after_library_path, {"other-than-asked", "several-copies", "set-mixed"}),
    (states.onnxruntime_with_cudnn_8, {"cudnn-not-found"}),
    (states.jax_with_an_old_wheel, {"older-than-asked"}),
]


@pytest.mark.parametrize(("build", "codes"), BROKEN, ids=[build.__name__ for build, _ in BROKEN])
def test_a_broken_machine_is_diagnosed(
    build: Callable[[Machine], None], codes: set[str], tmp_path: Path
) -> None:
    machine = Machine(tmp_path)
    build(machine)
    diagnosis = machine.diagnose()
    assert {finding.code for finding in diagnosis.findings} == codes, list(map(str, diagnosis.findings))


def test_the_table_has_every_code_of_a_machine(tmp_path: Path) -> None:
    """What is not in the table above are codes of prefixes, and of what only other tests can bring about."""
    listed = list(CODES)
    of_machines = set(listed[listed.index("gap-filled") : listed.index("gpu-too-old") + 1])
    assert of_machines <= set().union(*(codes for _, codes in BROKEN))
    assert faults(Machine(tmp_path).diagnose().findings) == ()


@pytest.mark.parametrize(
    ("variable", "value", "left"),
    [
        ("LD_LIBRARY_PATH", "/none:{}/link/:{}/b/lib", "/none:{}/b/lib"),
        ("LD_LIBRARY_PATH", "{}/a/lib:", ""),
        ("LD_PRELOAD", "libnone.so {}/a/lib/libcudnn_graph.so.9", "libnone.so"),
    ],
    ids=["by a link", "alone", "preloaded"],
)
def test_the_command_that_mends_it_does(variable: str, value: str, left: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.zlib()
    for directory, version in (("a", "9.12.0"), ("b", "9.14.0")):
        machine.cudnn(f"/{directory}/lib", version)
    machine.link("/link", "a/lib")
    value, main = value.replace("{}", str(tmp_path)), tmp_path / "b/lib/libcudnn.so.9"
    system = System(environ={variable: value}, machine="x86_64")
    found = diagnose(
        system, hardware=Hardware(), mapped=[Mapped(pid=1, name="x", paths=(str(main),))]
    ).findings
    (command,) = (each.command for each in found if (each.code, each.where) == ("set-mixed", str(main)))
    script = f"{variable}='{value}'; {command}; printf %s \"${variable}\""
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == left.replace("{}", str(tmp_path))
