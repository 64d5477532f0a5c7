"""NVIDIA's own check of a cuDNN: mnistCUDNN of the samples, built against a prefix and run on this machine's GPU.

python examples/samples_check.py 9.27.0 --cuda 13 [--source URL] [--root DIR] [--work DIR]

It needs make, g++ and nvcc (on PATH, or below CUDA_PATH), FreeImage (Debian: libfreeimage-dev) and a GPU.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from cudnn_redist import Prefix, errors, fetch

_TOOLS = {"make": "to build with", "g++": "a C++ compiler", "nvcc": "the CUDA toolkit"}


def main() -> int:
    """Fetch, build, run; 0 where the check passed, 3 where it cannot be built here, 9 where it failed."""
    words = argparse.ArgumentParser()
    words.add_argument("label")
    words.add_argument("--cuda", required=True)
    words.add_argument("--source", action="append", default=[])
    words.add_argument("--root")
    words.add_argument("--work", default="mnistCUDNN-check", help="where to build; must not exist")
    asked = words.parse_args()

    toolkit = Path(os.environ.get("CUDA_PATH", "/usr/local/cuda"))
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(toolkit / "bin")])
    lacking = [f"{tool} ({what})" for tool, what in _TOOLS.items() if shutil.which(tool, path=path) is None]
    if lacking:
        print(f"mnistCUDNN cannot be built here: there is no {', no '.join(lacking)}", file=sys.stderr)
        return errors.NotAvailableError.exit_code
    try:
        prefix = fetch(asked.label, cuda=asked.cuda, sources=asked.source, root=asked.root)
        samples = fetch(asked.label, component="cudnn_samples", sources=asked.source, root=asked.root)
    except errors.RedistError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    try:
        return check(prefix, samples, Path(asked.work), {**os.environ, "PATH": path})
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return errors.PrefixError.exit_code


def check(prefix: Prefix, samples: Prefix, work: Path, environment: dict[str, str]) -> int:
    """Build a copy of the sample in ``work``, since a prefix is never written to, and run it."""
    shutil.copytree(samples.path, work, symlinks=True)
    makefile = next(work.rglob("mnistCUDNN/Makefile"), None)
    if makefile is None:
        print(f"{samples.path}: the samples have no mnistCUDNN", file=sys.stderr)
        return errors.NotAvailableError.exit_code
    environment |= prefix.env("compiler", environment) | prefix.env("loader", environment)
    make = ["make", f"CUDNN_INCLUDE_PATH={prefix.include_dir}", f"CUDNN_LIB_PATH={prefix.lib_dir}"]
    for command, wanted in ((make, ""), ([str(makefile.with_name("mnistCUDNN").absolute())], "Test passed!")):
        done = subprocess.run(
            command, cwd=makefile.parent, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode or wanted not in done.stdout:
            print(f"{done.stdout}{done.stderr}{command[0]} failed with {prefix.path}", file=sys.stderr)
            return errors.VerificationFailed.exit_code
    print(f"mnistCUDNN passed with cuDNN {prefix.record.version} of {prefix.path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
