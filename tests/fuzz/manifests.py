"""The manifest parser, and the choosing of an archive from whatever it let through."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from fuzz.target import Subject, Target, leaking, told_well, when_refused
from manifest.samples import four_part, modern, oldest, with_jetson
from pydantic import ValidationError

from cudnn_redist.errors import ManifestError, RedistError
from cudnn_redist.locations import Folder
from cudnn_redist.manifest import Archive, Manifest, Query, select

__all__ = ["TARGET", "check", "parse"]

ORIGIN = "https://mirror.example/cudnn/redist/redistrib_9.27.0.json"
FOLDER = Folder(url="https://mirror.example/cudnn/redist/", tree="https://mirror.example/")


def parse(data: bytes) -> Manifest:
    return Manifest.parse(data, origin=ORIGIN)


def check(data: bytes, parse: Subject = parse) -> None:
    """An accepted manifest says the same however it is spelled, and each of its archives can be asked for."""
    try:
        manifest = parse(data)
    except ManifestError as error:
        told_well(error)
        return
    assert manifest.data == data
    document = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    with suppress(ValueError):  # 1e999 is a number to a reader, but no writer spells it
        respelled = json.dumps(document, sort_keys=True, allow_nan=False).encode()
        assert _said(parse(respelled)) == _said(manifest)
    for archive in manifest.archives():
        _ask_for(archive, manifest)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    assert len(found) == len(pairs), "a key given twice was accepted"
    return found


def _said(manifest: Manifest) -> dict[str, Any]:
    """Return everything a manifest says, archives in no order."""
    said = manifest.model_dump(exclude={"sha256"})
    for component in said["components"].values():
        for platform, archives in component["platforms"].items():
            by_variant = {archive["variant"]: archive for archive in archives}
            assert len(by_variant) == len(archives)
            component["platforms"][platform] = by_variant
    return said


def _ask_for(archive: Archive, manifest: Manifest) -> None:
    query = Query(
        component=archive.component,
        platforms=(archive.platform,),
        platform_reason="given",
        cuda=archive.cuda,
        cuda_reason="given",
    )
    try:
        chosen = select(manifest, query).archive
        assert chosen.platform == archive.platform
        # Without a CUDA, which is then not asked for, another archive of the platform may be meant.
        assert archive.cuda in (None, chosen.cuda)
        assert urlsplit(FOLDER.join(chosen.relative_path))[:2] == ("https", "mirror.example")
    except RedistError as error:
        told_well(error)


def seeds() -> list[bytes]:
    odd = copy.deepcopy(modern())
    odd["cudnn"]["notes"] = {"deep": [[{"a": None}], 1.5, "\u00e9\ud83d\ude00"]}
    documents = (modern(), with_jetson(), four_part(), oldest(), odd)
    return [json.dumps(document).encode() for document in documents] + [b"\xef\xbb\xbf{}", b"[[[]]]"]


def _last_one_wins(data: bytes) -> Manifest:
    return parse(json.dumps(json.loads(data)).encode()).model_copy(update={"data": data})


TARGET = Target(
    name="manifest",
    subject=parse,
    check=check,
    seeds=seeds,
    planted={
        "a value of the wrong sort leaks pydantic's error": leaking(parse, ValidationError),
        "the last of two equal keys wins": when_refused(parse, "this key is given twice", _last_one_wins),
    },
    words=(
        *(b'"relative_path":', b'"sha256":', b'"size":', b'"version":', b'"release_label":', b'"cuda13.4":'),
        *(
            b'"cuda12":{',
            b'"9.1":{',
            b'"a.tar"',
            b'"../',
            b"null",
            b"1e999",
            b"{}",
            b"[]",
            b'"\\ud800"',
            b'":{"',
        ),
    ),
    longest=8192,
)
