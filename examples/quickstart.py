"""The library in one minute, without network and without a GPU.

    python examples/quickstart.py [FOLDER]

Two small releases, packed and described as NVIDIA does it, are served on this machine's loopback, and fetched
from there as from NVIDIA: leave out ``sources=`` and the same calls bring the real cuDNN. They stay in FOLDER (a
temporary one, if none is given), for the command to be tried on.
"""

from __future__ import annotations

import shlex
import sys
import tempfile  # noqa: TID251  a demonstration of a few hundred kilobytes
from pathlib import Path

# The test suite's little redist trees and their server are no part of the library.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from redist import RedistServer, RedistTree
from redist.faults import Flipped

from cudnn_redist import errors, fetch, plan


def main() -> None:
    """Plan, fetch, fetch again, verify, and see a damaged archive refused."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()).absolute()
    tree = RedistTree(folder / "published")
    tree.add_release("9.26.0")
    tree.add_release("9.27.0")
    with RedistServer(tree.path) as server:
        show(server, folder / "installed")
    print("7. Try the command on the same releases.")
    command = [sys.executable, "-m", "cudnn_redist"]
    print(f"   {shlex.join([*command, 'list', '9.27.0', '--source', str(tree.path)])}")
    words = ["fetch", "9.26.0", "--source", str(tree.path), "--root", str(folder / "installed")]
    print(f"   {shlex.join([*command, *words])}")


def show(server: RedistServer, root: Path) -> None:
    """Install from ``server`` into ``root``, and tell what happens."""
    choice = {"platform": "linux-x86_64", "cuda": "13", "sources": [server.url], "root": root}

    print("1. What would be fetched, and why?")
    planned = plan("9.27.0", **choice)
    print(f"   {planned.download_size:,} bytes")
    for reason in planned.reasons:
        print(f"   {reason}")

    print("2. Fetch it.")
    prefix = fetch("9.27.0", **choice)
    print(f"   {prefix.path}")
    print(f"   {len(server.log)} requests so far")

    print("3. Fetch it again: it is there, so nothing is asked.")
    asked = len(server.log)
    again = fetch("9.27.0", **choice)
    print(f"   the same prefix: {again.path == prefix.path}; new requests: {len(server.log) - asked}")

    print("4. Compare every file with the record.")
    print(f"   {prefix.verify() or 'nothing differs'}")

    print("5. One byte of 9.26.0 is turned on the way: refused, and nothing is installed.")
    server.always(".tar.xz", Flipped(at=1000))
    try:
        fetch("9.26.0", **choice)
    except errors.DigestMismatch as refusal:
        print(f"   {refusal}")
        print(f"   exit code {refusal.exit_code}")
    installed = [record.parent for record in root.rglob(".cudnn-redist.json")]
    print(f"   still the only prefix: {installed == [prefix.path]}")

    print("6. Use it.")
    include, lib = (shlex.quote(str(each)) for each in (prefix.include_dir, prefix.lib_dir))
    print(f"   cc -I{include} app.c -L{lib} -lcudnn")
    print(f"   cmake -DCMAKE_PREFIX_PATH={shlex.quote(str(prefix.path))} ...")


if __name__ == "__main__":
    main()
