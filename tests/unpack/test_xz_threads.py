"""``XzReader`` and the world around it: slow and failing sources, closing in the middle, threads that end."""

from __future__ import annotations

import io
import random
import subprocess
import threading
import time

import pytest

from cudnn_redist.errors import ArchiveError
from cudnn_redist.unpack.xz import XzReader

MIB = 1 << 20
GIB = 1 << 30
PAYLOAD = random.Random(27).randbytes(50_000) + b"cudnn " * 20_000


def xz(data: bytes, *options: str) -> bytes:
    return subprocess.run(["xz", "-c", *options], input=data, capture_output=True, check=True).stdout


def reader_of(raw: object, *, threads: int = 2, budget: int = 8 * MIB) -> XzReader:
    return XzReader(raw, name="a.tar.xz", threads=threads, budget=budget, memory_limit=GIB)


def read_all(reader: XzReader, *, size: int = MIB, into: bytearray | None = None) -> bytearray:
    got = bytearray() if into is None else into
    while piece := reader.read(size):
        got += piece
    return got


def header_and_block(file: bytes) -> tuple[bytes, bytes]:
    """Take apart a file of one stream with one block."""
    index_size = (int.from_bytes(file[-8:-4], "little") + 1) * 4
    return file[:12], file[12 : -12 - index_size]


def our_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("xz-")]


class SourceFailedError(Exception):
    """What no code of ours knows."""


class Script:
    """A raw reader that does what it is told: give bytes, wait for an event, or raise."""

    def __init__(self, *steps: bytes | threading.Event | Exception, at_most: int = MIB) -> None:
        self._steps = list(steps)
        self._at_most = at_most
        self.failed = threading.Event()

    def read(self, size: int, /) -> bytes:
        while self._steps:
            step = self._steps.pop(0)
            if isinstance(step, Exception):
                self.failed.set()
                raise step
            if isinstance(step, threading.Event):
                assert step.wait(60)
            elif step:
                count = min(size, self._at_most)
                self._steps.insert(0, step[count:])
                return step[:count]
        return b""


class Endless:
    """A raw reader that repeats the same bytes behind a beginning, for ever."""

    def __init__(self, beginning: bytes, again: bytes) -> None:
        self._pending = beginning
        self._again = again
        self.given = 0

    def read(self, size: int, /) -> bytes:
        while len(self._pending) < size:
            self._pending += self._again * (1 + size // len(self._again))
        data, self._pending = self._pending[:size], self._pending[size:]
        self.given += len(data)
        return data


@pytest.mark.parametrize("options", [("-T2", "--block-size=16KiB"), ("-T1",)], ids=["blocks", "one-block"])
def test_takes_its_input_a_byte_at_a_time(options: tuple[str, ...]) -> None:
    data = b"cudnn" * 9000
    with reader_of(Script(xz(data, *options), at_most=1)) as reader:
        assert read_all(reader) == data


def test_returns_decoded_blocks_before_the_next_input_arrives() -> None:
    first, second = random.Random(1).randbytes(300_000), random.Random(2).randbytes(1000)
    arrived = threading.Event()
    with reader_of(Script(xz(first, "-T2", "--block-size=64KiB"), arrived, xz(second))) as reader:
        got = bytearray()
        while len(got) < len(first):
            got += reader.read(MIB)
        arrived.set()
        got += read_all(reader)
    assert got == first + second


def test_returns_what_of_a_block_is_decoded_before_the_rest_arrives() -> None:
    first = random.Random(1).randbytes(3 * MIB)
    data = xz(first, "-T1", "-0")
    arrived = threading.Event()
    with reader_of(Script(data[: 2 * MIB], arrived, data[2 * MIB :])) as reader:
        got = bytearray()
        while len(got) < MIB:
            got += reader.read(MIB)
        arrived.set()
        got += read_all(reader)
    assert got == first


@pytest.mark.parametrize("where", [0, 5, 100, 60_000], ids=["at-once", "in-header", "in-block", "later"])
def test_passes_on_what_the_source_raises(where: int) -> None:
    failure = SourceFailedError()
    with reader_of(Script(xz(PAYLOAD, "-T2", "--block-size=16KiB")[:where], failure)) as reader:
        with pytest.raises(SourceFailedError) as caught:
            read_all(reader)
        assert caught.value is failure
    assert our_threads() == []


def test_a_failed_source_is_reported_before_what_is_decoded_already() -> None:
    raw = Script(xz(PAYLOAD, "-T2", "--block-size=16KiB")[:-1], SourceFailedError())
    with reader_of(raw) as reader:
        assert raw.failed.wait(60)
        got = bytearray()
        with pytest.raises(SourceFailedError):
            read_all(reader, size=1, into=got)
    assert len(got) < len(PAYLOAD)


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("amount", [0, 1, 100_000])
def test_leaves_no_threads_when_closed_in_the_middle(amount: int, threads: int) -> None:
    with reader_of(
        io.BytesIO(xz(PAYLOAD, "-T2", "--block-size=4KiB")), threads=threads, budget=65_536
    ) as reader:
        while amount > 0:
            amount -= len(reader.read(amount))
    assert our_threads() == []
    with pytest.raises(ValueError, match="closed"):
        reader.read(1)
    reader.close()


def test_closes_promptly_inside_an_endless_block() -> None:
    header, block = header_and_block(xz(PAYLOAD[:60_000]))
    block_header, chunk = block[:12], block[12 : block.rindex(b"\0", 0, -8)]
    with reader_of(Endless(header + block_header, chunk), budget=GIB) as reader:
        for _ in range(10):
            assert reader.read(MIB)
        begin = time.monotonic()
        reader.close()
        assert time.monotonic() - begin < 20
    assert our_threads() == []


def test_closes_promptly_while_the_source_blocks_and_its_thread_ends_with_the_source() -> None:
    released = threading.Event()
    with reader_of(Script(xz(PAYLOAD)[:5000], released)):
        begin = time.monotonic()
    assert time.monotonic() - begin < 20
    released.set()
    deadline = time.monotonic() + 60
    while our_threads() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert our_threads() == []


def test_closing_wakes_a_caller_that_waits_in_another_thread() -> None:
    released = threading.Event()
    reader = reader_of(Script(released))
    raised: list[Exception] = []

    def wait_for_data() -> None:
        try:
            reader.read(1)
        except ValueError as error:
            raised.append(error)

    caller = threading.Thread(target=wait_for_data)
    caller.start()
    released_later = threading.Timer(0.1, released.set)
    released_later.start()
    reader.close()
    caller.join(60)
    released_later.join()
    assert [str(error) for error in raised] in (["this reader is closed"], [])
    assert our_threads() == []


def test_reads_ahead_no_further_than_the_budget() -> None:
    header, block = header_and_block(xz(b"x" * 100))
    raw = Endless(header, block)
    with reader_of(raw, budget=MIB) as reader:
        got = sum(len(reader.read(MIB)) for _ in range(2000))
        # 16 KiB per block in flight, and one read of the source.
        assert raw.given <= (got / 100 + MIB / 16384 + 2) * len(block) + 12 + 256 * 1024
    assert our_threads() == []


@pytest.mark.parametrize("again", [bytes(4096), xz(b"")], ids=["padding", "empty-streams"])
def test_can_be_closed_while_the_source_never_gives_a_block(again: bytes) -> None:
    raw = Endless(xz(b"x"), again)
    with reader_of(raw) as reader:
        assert reader.read(MIB) == b"x"
        deadline = time.monotonic() + 60
        while raw.given < 2 * MIB and time.monotonic() < deadline:
            time.sleep(0.001)
    deadline = time.monotonic() + 60
    while our_threads() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert our_threads() == []


@pytest.mark.parametrize("threads", [1, 8])
def test_a_damaged_block_is_reported_in_its_place_whatever_is_behind_it(threads: int) -> None:
    data = bytearray(xz(PAYLOAD, "-T2", "--block-size=16KiB"))
    data[40_000] ^= 1
    data[-1] ^= 1
    with reader_of(io.BytesIO(bytes(data)), threads=threads) as reader:
        got = bytearray()
        with pytest.raises(ArchiveError, match=r"liblzma refuses the block.*stream 1, block 3"):
            read_all(reader, into=got)
    # The third block is stored, not compressed: only its check, at its end, tells that it is damaged.
    assert got[: 2 * 16_384] == PAYLOAD[: 2 * 16_384]
    assert len(got) <= 3 * 16_384
    assert our_threads() == []
