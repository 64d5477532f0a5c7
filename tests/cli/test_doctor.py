"""``doctor`` as its users run it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from doctor.machines import DEBIAN, Machine
from prefix.made import installed
from redist.command import Completed, run_command
from redist.libraries import elf_library

import cudnn_redist
from cudnn_redist.findings import CODES

RPATH = {"rpath": "$ORIGIN"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A system with a package of cuDNN."""
    machine = Machine(tmp_path / "system")
    machine.zlib()
    machine.cudnn(DEBIAN, "9.14.0", named_files=True)
    machine.dpkg("libcudnn9-cuda-13", "9.14.0.64-1", [f"{DEBIAN}/libcudnn.so.9.14.0"])
    return machine


def doctor(machine: Machine, *words: str | Path, **environ: str) -> Completed:
    return run_command("doctor", "--system-root", machine.root, *words, env=machine.environ | environ)


def told(done: Completed) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(done.out)
    return facts


def test_a_healthy_system_is_0_and_a_faulty_one_9_with_the_whole_result(machine: Machine) -> None:
    healthy = doctor(machine)
    assert (healthy.code, healthy.err) == (0, "")
    assert f"9.14.0   CUDA 13  {machine.root}{DEBIAN}  (package libcudnn9-cuda-13 9.14.0.64-1)" in healthy.out
    assert "by default directory" in healthy.out
    assert healthy.out.endswith("What is to be said\n  nothing\n")

    machine.cudnn("/opt/lib", "9.12.0", parts=("_ops",))
    machine.cudnn("/opt/lib", "9.14.0", parts=("", "_graph"))
    faulty = doctor(machine, LD_LIBRARY_PATH="/opt/lib")
    assert faulty.code == 9
    assert "fault: version-differs" in faulty.out
    assert faulty.err == "cudnn-redist: doctor: 1 fault: version-differs\n"


def test_json_holds_all_that_is_known(machine: Machine) -> None:
    machine.cudnn("/opt/lib", "9.10.0", search=RPATH)
    done = doctor(machine, "--json", LD_LIBRARY_PATH="/opt/lib")
    facts = told(done)
    assert (done.code, facts["healthy"]) == (9, False)
    assert set(facts) == {"healthy", "system", "copies", "consumers", "processes", "findings"}
    assert [copy["version"] for copy in facts["copies"]] == ["9.14.0", "9.10.0"]
    assert facts["copies"][0]["origins"] == [{"kind": "package", "name": "libcudnn9-cuda-13 9.14.0.64-1"}]
    assert facts["copies"][0]["support"]["capability"] == "7.5"
    assert facts["consumers"][0]["because"] == "LD_LIBRARY_PATH"
    assert facts["consumers"][0]["loads"] == f"{machine.root}/opt/lib/libcudnn.so.9"
    codes = {finding["code"]: finding for finding in facts["findings"]}
    assert set(codes) == {"release-faulty", "several-copies"}
    assert set(codes["release-faulty"]) == {"code", "severity", "where", "detail", "meaning", "remedy"}


def test_every_key_of_the_json_stands_in_readme(machine: Machine) -> None:
    machine.gpu()
    machine.cudnn("/opt/lib", "9.10.0", search=RPATH)
    facts = told(doctor(machine, "--json", "--", sys.executable, "-c", "", LD_LIBRARY_PATH="/opt/lib"))
    copy, (consumer, *_), (process,) = facts["copies"][0], facts["consumers"], facts["processes"]
    keys = {*facts, *facts["system"], *copy, *copy["origins"][0], *copy["support"], *consumer, *process}
    section = README.partition("## Is my cuDNN the right one?")[2].partition("\n## ")[0]
    assert {key for key in keys if f"`{key}`" not in section} == set()


def test_a_prefix_of_ours_is_found_with_what_installs_it_anew(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "root/cudnn/9.14.0/cudnn/linux-x86_64/cuda13"
    installed(path, label="9.14.0", version="9.14.0.64")
    (path / "lib/libcudnn.so.9.27.0").write_bytes(b"text")
    done = doctor(machine, "--json", "--root", tmp_path / "root")
    (damaged,) = (each for each in told(done)["findings"] if each["code"] == "library-damaged")
    assert damaged["command"] == (
        "cudnn-redist fetch 9.14.0 --force --component cudnn --platform linux-x86_64 --cuda cuda13"
    )


def test_a_jetson_is_looked_at_from_any_machine(tmp_path: Path) -> None:
    jetson, library = Machine(tmp_path / "jetson"), "/usr/lib/aarch64-linux-gnu"
    jetson.link("/lib", "usr/lib")
    jetson.link("/usr/lib/ld-linux-aarch64.so.1", "/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1")
    jetson.write(f"{library}/ld-linux-aarch64.so.1", elf_library("linux-aarch64"))
    jetson.write(f"{library}/libz.so.1", elf_library("linux-aarch64", soname="libz.so.1"))
    jetson.write("/etc/nv_tegra_release", "# R36 (release), REVISION: 4.3, GCID: 1, BOARD: generic\n")
    jetson.cudnn(library, "9.3.0", named_files=True, platform="linux-aarch64")
    jetson.dpkg("libcudnn9-cuda-12", "9.3.0.75-1", [f"{library}/libcudnn.so.9.3.0"])
    facts = told(doctor(jetson, "--json"))
    assert (facts["findings"], facts["system"]["machine"]) == ([], "aarch64")
    assert facts["system"]["jetpack"] == "36.4.3"
    assert facts["consumers"][0]["loads_version"] == "9.3.0"


def test_a_named_python_is_looked_at_and_its_torch_named(machine: Machine) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", machine.root / "venv"], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    machine.torch(asks="nvidia-cudnn-cu13==9.12.0.46")
    machine.cudnn_wheel("9.12.0")
    site = machine.root / "venv/lib/python3.12/site-packages"
    site.rename(machine.root / f"venv/lib/{version}/site-packages")
    facts = told(doctor(machine, "--json", "--python", machine.root / "venv/bin/python"))
    torch = next(each for each in facts["consumers"] if each["name"] == "torch")
    assert (torch["asks"], torch["loads_version"]) == ("nvidia-cudnn-cu13==9.12.0.46", "9.12.0")
    assert torch["because"] == "RUNPATH of libtorch_global_deps.so"


def test_a_report_is_markdown_without_names(machine: Machine, tmp_path: Path) -> None:
    machine.cudnn("/opt/lib", "9.10.0")
    done = doctor(machine, "--report", LD_LIBRARY_PATH="/opt/lib", HOME=str(tmp_path), USER="system")
    assert done.code == 9
    assert done.out.startswith("### cudnn-redist ")
    assert done.out.count("```") % 2 == 0
    assert str(tmp_path) not in done.out
    assert "~/<user>/opt/lib" in done.out


MAP = """
import mmap, sys, time
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
time.sleep(2)
print(sys.argv[2:])
"""


def test_a_command_is_run_and_its_own_options_stay_its_own(machine: Machine) -> None:
    library = machine.root / f"{DEBIAN}/libcudnn.so.9.14.0".lstrip("/")
    done = doctor(machine, "--", sys.executable, "-c", MAP, library, "--json", "--pid", "x")
    assert done.code == 0
    assert done.err == "['--json', '--pid', 'x']\n"
    assert f"ended with 0\n  {library}\n" in done.out


def test_what_a_command_maps_is_known_as_any_other_copy(machine: Machine, tmp_path: Path) -> None:
    elsewhere = Machine(tmp_path / "elsewhere")
    elsewhere.cudnn("/lib", "9.12.0", parts=("",))
    elsewhere.cudnn("/more", "9.14.0", parts=("_graph",))
    libraries = [tmp_path / "elsewhere/lib/libcudnn.so.9", tmp_path / "elsewhere/more/libcudnn_graph.so.9"]
    both = f"{MAP.replace('sys.argv[1]', repr(str(libraries[0])))}\n{MAP}"
    done = doctor(machine, "--json", "--", sys.executable, "-c", both, libraries[1])
    facts = told(done)
    assert [copy["directory"] for copy in facts["copies"]][1:] == [str(path.parent) for path in libraries]
    assert facts["processes"][0]["exit_code"] == 0
    assert facts["processes"][0]["mapped"] == sorted(map(str, libraries))
    process = f"process {facts['processes'][0]['pid']}"
    (mixed,) = (each for each in facts["findings"] if each["where"] == process)
    assert (mixed["code"], "libcudnn_graph.so.9 of 9.14.0" in mixed["detail"]) == ("set-mixed", True)


@pytest.mark.parametrize(
    ("words", "code", "cause"),
    [
        (("--pid", "4194305"), 3, "there is no process 4194305"),
        (("--pid", "nobody"), 2, "no whole number"),
        (("--pid", "1", "--", "true"), 2, "a --pid or a COMMAND, not both"),
        (("--", "/no/such/program"), 2, "cannot be run"),
        (("--python", "/no/such/python"), 2, "no Python that can be run"),
        (("--system-root", "/no/such/root"), 2, "no directory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_said_in_one_line(
    machine: Machine, words: tuple[str, ...], code: int, cause: str
) -> None:
    done = doctor(machine, *words)
    assert done.code == code
    assert cause in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


SETPRIV = shutil.which("setpriv")
AS_ROOT = hasattr(os, "getuid") and os.getuid() == 0


def test_a_directory_without_permission_is_a_finding(machine: Machine) -> None:
    machine.cudnn("/opt/lib", "9.12.0")
    closed = machine.root / "opt/lib"
    closed.chmod(0)
    bare = [SETPRIV or "setpriv", "--bounding-set=-all", "--inh-caps=-all"] if AS_ROOT else []
    words = [sys.executable, "-m", "cudnn_redist", "doctor", "--json", "--system-root", str(machine.root)]
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LD_LIBRARY_PATH": "/opt/lib"}
    try:
        done = subprocess.run([*bare, *words], env=environment, capture_output=True, check=False, timeout=60)
    finally:
        closed.chmod(0o755)
    found = [(each["code"], each["where"]) for each in json.loads(done.stdout)["findings"]]
    assert (done.returncode, found) == (9, [("file-unreadable", str(closed))])


@pytest.mark.parametrize("elsewhere", [True, False], ids=["another system", "this system"])
def test_finding_needs_no_dependency_at_all(machine: Machine, *, elsewhere: bool) -> None:
    """Isolated and without ``site``, only the standard library and this package can be imported."""
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import runpy\n"
        "try: runpy.run_module('cudnn_redist', run_name='__main__')\n"
        "finally: print(*sorted({'httpx', 'pydantic', 'tqdm', 'platformdirs'} & set(sys.modules)), file=sys.stderr)"
    )
    package = str(Path(cudnn_redist.__file__).parents[1])
    apart = ["--root", str(machine.root / "none"), "--system-root", str(machine.root)] if elsewhere else []
    words = ["doctor", *apart]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, package, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if elsewhere:
        assert (done.returncode, done.stderr) == (0, "\n")
        assert "libcudnn9-cuda-13" in done.stdout
    assert done.returncode in (0, 9)
    assert done.stderr.splitlines()[-1] == ""


def test_this_very_system_is_looked_at_without_trouble(tmp_path: Path) -> None:
    done = run_command("doctor", "--json", "--root", tmp_path)
    facts = told(done)
    assert done.code == (0 if facts["healthy"] else 9)
    assert facts["system"]["root"] == "/"
    assert facts["system"]["pythons"] == [sys.executable]
    assert "Traceback" not in done.err


README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_readme_shows_the_help_and_every_code_of_a_machine() -> None:
    shown = run_command("doctor", "--help", env={"COLUMNS": "100"}).out
    assert f"$ cudnn-redist doctor --help\n{shown}```" in README
    listed = list(CODES)
    section = README.partition("## Is my cuDNN the right one?")[2].partition("\n## ")[0]
    told = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", section.partition("| code |")[2].partition("\n\n")[0]))
    assert set(listed[listed.index("gap-filled") : listed.index("gpu-too-old") + 1]) <= told <= set(CODES)
