"""Peak memory of ``XzReader``, measured in a process of its own."""

from __future__ import annotations

import lzma
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
MIB = 1 << 20
# One decoder's pieces and dictionary beyond the budget, and what the allocator keeps for itself.
SLACK = 16 * MIB

CHILD = """
import re, sys, time
from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack.xz import XzReader

class Repeated:
    def __init__(self, beginning, again, times):
        self.pending, self.again, self.times = beginning, again, times
    def read(self, size, /):
        if not self.pending and self.times:
            self.pending, self.times = self.again, self.times - 1
        data, self.pending = self.pending[:size], self.pending[size:]
        return data

path, beginning, times, threads, budget = sys.argv[1], *map(int, sys.argv[2:])
file = open(path, "rb").read()
raw = Repeated(file[:beginning], file[beginning:], times)

def peak():
    # Not ru_maxrss: it starts at what the process that started this one had.
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024

before, size, end = peak(), 0, "sound"
with XzReader(raw, name=path, threads=threads, budget=budget, memory_limit=16 << 20) as reader:
    try:
        while piece := reader.read(1 << 20):
            if size == 0:
                time.sleep(0.3)  # a slow caller, so that all that may be in flight is
            size += len(piece)
    except ArchiveError as error:
        end = error.cause
print(size, peak() - before, end, sep="|")
"""


def growth(
    path: Path, data: bytes, *, beginning: int = 0, times: int = 1, threads: int = 2, budget: int = 8 * MIB
) -> tuple[int, int, str]:
    """Read ``data``, from ``beginning`` on ``times`` times; return bytes read, growth of the peak, and how it ended."""
    path.write_bytes(data)
    arguments = [str(path), *map(str, (beginning, times, threads, budget))]
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=True
    )
    size, peak, end = ran.stdout.strip().split("|", 2)
    return int(size), int(peak), end


@pytest.mark.parametrize("options", [("-T1",), ("-T2", "--block-size=192MiB")], ids=["no-sizes", "sizes"])
def test_a_bomb_is_read_within_the_budget(options: tuple[str, ...], tmp_path: Path) -> None:
    bomb = subprocess.run(
        ["xz", "-0", "-c", *options], input=bytes(128 * MIB), capture_output=True, check=True
    ).stdout
    size, peak, end = growth(tmp_path / "bomb", bomb)
    assert (size, end) == (128 * MIB, "sound")
    assert peak < 8 * MIB + SLACK


def test_a_flood_of_small_blocks_is_read_within_the_budget(tmp_path: Path) -> None:
    block = lzma.compress(b"x", preset=0)[12:-20]
    data = lzma.compress(b"x", preset=0)[:12] + block
    size, peak, end = growth(tmp_path / "flood", data, beginning=12, times=5_000)
    assert size == 5_000
    assert "ends too early" in end
    assert peak < 8 * MIB + SLACK


def test_an_endless_block_is_read_within_the_budget(tmp_path: Path) -> None:
    data = lzma.compress(bytes(2 * MIB), preset=0)
    # Stream header and block header; then one LZMA2 chunk, its size in its bytes 3 and 4 behind a 6-byte header.
    chunk = 6 + int.from_bytes(data[27:29], "big") + 1
    size, peak, end = growth(tmp_path / "endless", data[: 24 + chunk], beginning=24, times=100)
    assert size > 100 * MIB
    assert "ends too early" in end
    assert peak < 8 * MIB + SLACK
