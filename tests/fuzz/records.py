"""The reader of records."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from fuzz.target import Subject, Target, leaking, told_well, when_refused
from prefix.made import record

from cudnn_redist.errors import PrefixError
from cudnn_redist.prefix.record import Entry, Record

__all__ = ["TARGET", "check", "parse"]


def parse(data: bytes) -> Record:
    return Record.parse(data, origin="prefix/.cudnn-redist.json")


def check(data: bytes, parse: Subject = parse) -> None:
    """An accepted record is what its file says, comes back as it was written, and names nothing outside."""
    try:
        found = parse(data)
    except PrefixError as error:
        told_well(error)
        return
    said = json.loads(data)
    assert said["tree"] == found.tree
    assert [entry["path"] for entry in said["files"]] == [entry.path for entry in found.entries]
    again = parse(found.to_bytes())
    assert again == found
    assert again.to_bytes() == found.to_bytes()
    for entry in (*found.entries, *found.generated):
        path = PurePosixPath(entry.path)
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert entry.size >= 0


def seeds() -> list[bytes]:
    generated = (Entry(path="lib64", kind="link", target="lib"),)
    flat = record(variant=None, platform="source", entries=(), generated=generated)
    other = record().as_json() | {"schema": 2}
    return [record().to_bytes(), flat.to_bytes(), json.dumps(other).encode(), b"[[]]"]


TARGET = Target(
    name="record",
    subject=parse,
    check=check,
    seeds=seeds,
    planted={
        "a field that is missing leaks a KeyError": leaking(parse, KeyError),
        "the digest of the list is not compared": when_refused(parse, "its own digest", lambda _: record()),
    },
    words=(
        b'"../',
        b'"link"',
        b'"directory"',
        b'"target":',
        b"null",
        b"1e999",
        b"NaN",
        b'"\\ud800"',
        b'"\\u0000"',
        b"{}",
    ),
)
