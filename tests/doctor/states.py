"""Machines as they are met, healthy and broken: each function brings a system into one state."""

from __future__ import annotations

import os

from doctor.machines import DEBIAN, PARTS, SITE, Machine
from prefix.made import installed
from redist.libraries import elf_library

from cudnn_redist.doctor.hardware import Hardware

JIT = ("", "_graph")


def nothing_at_all(_: Machine) -> None: ...


def debian_package(
    machine: Machine, *, cuda: int = 13, version: str = "9.14.0", state: str = "installed"
) -> None:
    machine.zlib()
    machine.cudnn(DEBIAN, version, named_files=True)
    files = [f"{DEBIAN}/libcudnn{part}.so.{version}" for part in PARTS]
    machine.dpkg(f"libcudnn9-cuda-{cuda}", f"{version}.64-1", files, state=state)
    machine.loader_cache(*(f"{DEBIAN}/libcudnn{part}.so.9" for part in PARTS), f"{DEBIAN}/libz.so.1")


def wheel_and_torch(machine: Machine) -> None:
    machine.zlib()
    machine.cudnn_wheel()
    machine.torch()


def whole_machine(machine: Machine) -> None:
    wheel_and_torch(machine)
    machine.cuda()
    machine.gpu()


def on_path(
    machine: Machine, *sets: tuple[str, tuple[str, ...]], named_files: bool = False, **search: str
) -> None:
    """Put sets of libraries on LD_LIBRARY_PATH, each in its own directory."""
    machine.zlib()
    for place, (version, parts) in enumerate(sets):
        machine.cudnn(f"/opt/{place}/lib", version, parts=parts, named_files=named_files, search=search)
    machine.environ["LD_LIBRARY_PATH"] = ":".join(f"/opt/{place}/lib" for place in range(len(sets)))


def jit_alone(machine: Machine) -> None:
    on_path(machine, ("9.14.0", JIT))


def conda_environment(machine: Machine) -> None:
    machine.zlib()
    machine.cudnn("/opt/conda/lib")
    machine.conda("/opt/conda", "9.14.0.64")
    machine.environ["CONDA_PREFIX"] = "/opt/conda"


def toolkit(machine: Machine) -> None:
    machine.zlib()
    machine.cudnn("/usr/local/cuda-13.0/lib64", header="9.14.0")


def jetson(machine: Machine) -> None:
    debian_package(machine)
    machine.write("/etc/nv_tegra_release", "# R36 (release), REVISION: 4.3, GCID: 1, BOARD: generic\n")


def two_majors(machine: Machine) -> None:
    debian_package(machine)
    machine.write(
        f"{DEBIAN}/libcudnn.so.8", elf_library(soname="libcudnn.so.8", named=["libcudnn_ops_infer.so.8"])
    )
    machine.write(f"{DEBIAN}/libcudnn_ops_infer.so.8.9.7", elf_library(soname="libcudnn_ops_infer.so.8"))
    machine.link(f"{DEBIAN}/libcudnn_ops_infer.so.8", "libcudnn_ops_infer.so.8.9.7")
    machine.dpkg("libcudnn8", "8.9.7.29-1+cuda12.2", [f"{DEBIAN}/libcudnn_ops_infer.so.8.9.7"])


def removed_package(machine: Machine) -> None:
    machine.dpkg("libcudnn9-cuda-13", "9.14.0.64-1", [f"{DEBIAN}/libcudnn.so.9.14.0"], state="config-files")


def windows_prefix(machine: Machine) -> None:
    machine.prefixes = machine.root / "prefixes"
    path = machine.prefixes / "cudnn/9.27.0/cudnn/windows-x86_64/cuda13"
    installed(path, platform="windows-x86_64", variant="cuda13")
    machine.windows_cudnn(f"/{path.relative_to(machine.root)}/bin/x64")


def rpath_keeps_others_out(machine: Machine) -> None:
    on_path(machine, ("9.12.0", PARTS))
    machine.cudnn_wheel(search={"rpath": "$ORIGIN"})
    machine.torch(rpath="$ORIGIN/../../nvidia/cudnn/lib")


def tensorflow_by_the_loader(machine: Machine) -> None:
    debian_package(machine, version="9.12.0", cuda=12)
    machine.wheel(
        "tensorflow", "2.20.0", [], requires=['nvidia-cudnn-cu12<10.0,>=9.3.0; extra == "and-cuda"']
    )
    machine.write(f"{SITE}/tensorflow/libtensorflow_cc.so.2", elf_library(named=["libcudnn.so.9"]))


def mixed_by_library_path(machine: Machine) -> None:
    on_path(machine, ("9.12.0", PARTS), ("9.14.0", PARTS), runpath="$ORIGIN")


def gap_filled(machine: Machine) -> None:
    on_path(machine, ("9.14.0", PARTS), ("9.16.0", ("_engines_tensor_ir", "", "_graph")), runpath="$ORIGIN")


def jit_beside_another(machine: Machine) -> None:
    on_path(machine, ("9.14.0", JIT))
    debian_package(machine, version="9.12.0")


def same_release_twice(machine: Machine) -> None:
    on_path(machine, ("9.14.0", PARTS), ("9.14.0", PARTS), runpath="$ORIGIN")


def part_of_another_release(machine: Machine) -> None:
    machine.zlib()
    machine.cudnn("/usr/local/lib/x", "9.14.0")
    machine.cudnn("/usr/local/lib/x", "9.12.0", parts=("_ops",))
    machine.environ["LD_LIBRARY_PATH"] = "/usr/local/lib/x"


def wheel_overwritten_by_hand(machine: Machine) -> None:
    machine.zlib()
    machine.cudnn_wheel("9.14.0")
    machine.cudnn(f"{SITE}/nvidia/cudnn/lib", "9.12.0")


def two_wheels_in_one_directory(machine: Machine) -> None:
    machine.zlib()
    machine.cudnn_wheel("9.12.0", cuda=12)
    machine.cudnn_wheel("9.14.0", cuda=13)


def header_of_another(machine: Machine) -> None:
    machine.zlib()
    machine.cudnn("/usr/local/cuda-13.0/lib64", "9.14.0", header="9.12.0")


def known_bad_release(machine: Machine) -> None:
    on_path(machine, ("9.10.0", PARTS))


def release_unheard_of(machine: Machine) -> None:
    on_path(machine, ("9.99.0", PARTS))


def no_zlib(machine: Machine) -> None:
    machine.cudnn("/usr/local/cuda-13.0/lib64")


def no_toolkit_libraries(machine: Machine) -> None:
    wheel_and_torch(machine)
    machine.gpu()


def nvrtc_of_another_cuda(machine: Machine) -> None:
    wheel_and_torch(machine)
    machine.cuda(12)
    machine.gpu()


def old_driver(machine: Machine) -> None:
    whole_machine(machine)
    machine.gpu(driver="570.26", cuda=(12, 8))


def old_driver_for_unknown_release(machine: Machine) -> None:
    machine.zlib()
    machine.cuda()
    machine.cudnn_wheel("9.99.0")
    machine.hardware = Hardware(driver_cuda=(12, 8))


def old_gpu(machine: Machine) -> None:
    whole_machine(machine)
    machine.gpu(capability=(7, 0))


def silent_driver(machine: Machine) -> None:
    machine.hardware = Hardware(driver="580.65.06", trouble="the driver answers 999 to cuInit")


def text_file(machine: Machine) -> None:
    machine.write("/opt/0/lib/libcudnn.so.9", "this is no library\n")
    machine.environ["LD_LIBRARY_PATH"] = "/opt/0/lib"


def cut_library(machine: Machine) -> None:
    debian_package(machine)
    library = machine.root / f"{DEBIAN}/libcudnn_ops.so.9.14.0".lstrip("/")
    library.write_bytes(library.read_bytes()[:70])


def link_to_nothing(machine: Machine) -> None:
    debian_package(machine)
    (machine.root / f"{DEBIAN}/libcudnn_engines_precompiled.so.9.14.0".lstrip("/")).unlink()


def link_in_a_circle(machine: Machine) -> None:
    machine.link("/opt/0/lib/libcudnn.so.9", "libcudnn.so.9")
    machine.environ["LD_LIBRARY_PATH"] = "/opt/0/lib"


def pipe(machine: Machine) -> None:
    toolkit(machine)
    for path in ("usr/local/cuda-13.0/lib64/libcudnn_adv.so.9", "etc/ld.so.cache", "etc/ld.so.conf"):
        (machine.root / path).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(machine.root / path)


def without_main(machine: Machine) -> None:
    on_path(machine, ("9.14.0", ("_graph", "_ops")))


def without_graph(machine: Machine) -> None:
    on_path(machine, ("9.14.0", ("", "_ops")))


def main_alone(machine: Machine) -> None:
    machine.environ["LD_LIBRARY_PATH"] = "/opt/0/lib"
    machine.write(
        "/opt/0/lib/libcudnn.so.9", elf_library(soname="libcudnn.so.9", named=["libcudnn_graph.so"])
    )


def preloaded_part(machine: Machine) -> None:
    on_path(machine, ("9.14.0", PARTS))
    machine.cudnn("/opt/later/lib", "9.16.0")
    machine.environ["LD_PRELOAD"] = "libother.so /opt/later/lib/libcudnn_graph.so.9"


def alpine(machine: Machine) -> None:
    on_path(machine, ("9.14.0", PARTS))
    machine.write("/lib/ld-musl-x86_64.so.1", elf_library())


def musl_beside_glibc(machine: Machine) -> None:
    alpine(machine)
    machine.write("/lib64/ld-linux-x86-64.so.2", elf_library())


def library_for_arm(machine: Machine) -> None:
    machine.cudnn("/opt/0/lib", platform="linux-sbsa")
    machine.environ["LD_LIBRARY_PATH"] = "/opt/0/lib"


def package_and_another_wheel(machine: Machine) -> None:
    debian_package(machine, version="9.12.0")
    wheel_and_torch(machine)


def torch_falls_back_on_an_older_one(machine: Machine) -> None:
    debian_package(machine, version="9.12.0")
    machine.torch()


def torch_finds_a_later_one(machine: Machine) -> None:
    debian_package(machine, version="9.16.0")
    machine.torch()


def torch_for_another_cuda(machine: Machine) -> None:
    debian_package(machine, cuda=12)
    machine.torch()


def torch_without_cudnn(machine: Machine) -> None:
    machine.torch()


def torch_by_runpath_after_library_path(machine: Machine) -> None:
    on_path(machine, ("9.16.0", PARTS))
    wheel_and_torch(machine)


def onnxruntime_with_cudnn_8(machine: Machine) -> None:
    machine.wheel("onnxruntime-gpu", "1.17.0", [], requires=['nvidia-cudnn-cu12>=8.9,<9; extra == "cudnn"'])
    asking = elf_library(needed=["libcudnn.so.8"])
    machine.write(f"{SITE}/onnxruntime/capi/libonnxruntime_providers_cuda.so", asking)
    debian_package(machine)


def jax_with_an_old_wheel(machine: Machine) -> None:
    machine.zlib()
    machine.cudnn_wheel("9.12.0", cuda=13)
    machine.wheel(
        "jax-cuda13-plugin", "0.8.0", [], requires=['nvidia-cudnn-cu13>=9.14; extra == "with-cuda"']
    )
