"""The targets themselves: their seeds hold, their planted faults are told, their mending mends. Without atheris."""

from __future__ import annotations

import gzip
import json
import lzma
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard
from fuzz.targets import TARGETS
from hypothesis import given, settings
from hypothesis import strategies as st
from manifest.samples import modern
from prefix.made import record
from unpack.building import GOOD, file, tar, zip_of

if TYPE_CHECKING:
    from fuzz.target import Target

TESTS = Path(__file__).parents[1]

every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


def flipped(data: bytes, at: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :]


MANIFEST = json.dumps(modern()).encode()
RECORD = record().to_bytes()
GZ = gzip.compress(b"content", mtime=0)
ZST = zstandard.ZstdCompressor(write_checksum=True).compress(b"content")
XZ = lzma.compress(b"content")
ZIP = zip_of([GOOD, file("top/other")])
ENTRY = ZIP.rindex(b"PK\x01\x02")
WITNESSES = {
    "a value of the wrong sort leaks pydantic's error": MANIFEST.replace(b'"size": "1', b'"size": "x'),
    "the last of two equal keys wins": MANIFEST.replace(b'"release_date"', b'"release_label"'),
    "a target that is no URL leaks urllib's error": b'<a href="//[">',
    "labels are ordered as text": b'<a href="redistrib_9.9.json"><a href="redistrib_10.0.json">',
    "a field that is missing leaks a KeyError": RECORD.replace(b'"main"', b'"mail"'),
    "the digest of the list is not compared": RECORD.replace(b"include", b"exclude"),
    "damage that liblzma finds leaks its error": flipped(XZ, 28),
    "padding may have any size": XZ + b"\0",
    "the index may say anything": TARGETS["xz"].mended(flipped(XZ, -19)),
    "damage leaks zlib's error": flipped(GZ, 12),
    "damage leaks zstandard's error": flipped(ZST, -1),
    "a cut stream is taken for a whole one": GZ[:-1],
    "a damaged header leaks tarfile's error": flipped(tar([GOOD]), 0),
    "a climbing name is written before it is refused": tar([file("../evil")]),
    "a cut archive is taken for a whole one": tar([GOOD])[:600],
    "a damaged directory leaks zipfile's error": flipped(ZIP, ENTRY),
    "damaged content leaks zlib's error": flipped(ZIP, 38),
    "a wrong CRC is passed over": flipped(ZIP, ENTRY + 16),
    "a member may begin anywhere": ZIP[: ENTRY + 42] + bytes(4) + ZIP[ENTRY + 46 :],
}
FAULTS = [
    pytest.param(target, fault, WITNESSES[fault], id=f"{name}-{fault}")
    for name, target in TARGETS.items()
    for fault in target.planted
]


@every_target
def test_the_seeds_hold_and_mending_leaves_the_sound_ones_alone(target: Target) -> None:
    seeds = target.seeds()
    for seed in seeds:
        assert len(seed) <= target.longest
        target.check(seed, target.subject)
    assert target.mended(seeds[0]) == seeds[0]


@pytest.mark.parametrize(("target", "fault", "witness"), FAULTS)
def test_a_planted_fault_is_told_and_the_product_has_it_not(
    target: Target, fault: str, witness: bytes
) -> None:
    target.check(witness, target.subject)
    with pytest.raises(Exception):  # noqa: B017, PT011 - a leak may be of any class
        target.check(witness, target.planted[fault])


@every_target
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_mending_takes_any_bytes_and_keeps_their_number(target: Target, data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(target.seeds()))
    start, length = data.draw(st.integers(0, len(seed))), data.draw(st.integers(0, 40))
    damaged = seed[:start] + data.draw(st.binary(max_size=40)) + seed[start + length :]
    assert len(target.mended(damaged)) == len(damaged)


def test_without_atheris_the_command_says_how_to_get_it() -> None:
    program = "import sys; sys.modules['atheris'] = None; from fuzz.command import main; sys.exit(main([]))"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=TESTS, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.endswith("-m pip install atheris\n")
