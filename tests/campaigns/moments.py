"""How far a run had come when it died or was stopped, read off the disk, where nothing changes any more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from campaigns.ground import prefix_in
from campaigns.trees import RECORD, holds_all

if TYPE_CHECKING:
    from pathlib import Path

    from campaigns.ground import Ground

Moment = Literal["start", "download", "unpack", "record", "publish", "aside", "end"]

PHASES: tuple[Moment, ...] = ("download", "unpack", "record", "publish", "aside")


def moment_of(ground: Ground, root: Path, number: int) -> Moment:
    """Tell the phase of process ``number`` by the files that have its number in their names.

    - download: a partial that is not whole yet;
    - unpack: the partial is whole, and was not yet dismissed as used up;
    - record: every file of the archive is in the stage and the partial is gone, but there is no whole record;
    - publish: the stage holds a whole record, or is empty because it was just renamed to the prefix;
    - aside: the old prefix lies under another name, whole or partly removed;
    - start and end: no more than an empty stage is there, and the prefix is not, or is, the new one.
    """
    place = prefix_in(root).parent
    stage = next(place.glob(f".cudnn-redist-*.{number}.*.stage"), None)
    if any(place.glob(f".cudnn-redist-*.{number}.*.old")):
        return "aside"
    if is_new(ground, root):
        return "publish" if stage is not None else "end"
    partial = next((root / ".partial").glob(f"*.{number}.*.part"), None)
    if partial is not None:
        return "unpack" if partial.stat().st_size == ground.size else "download"
    if stage is None:
        return "start"
    return _in_stage(ground, stage)


def partials_in(root: Path) -> list[Path]:
    """Return the archives that are not complete, or not yet used up."""
    return list((root / ".partial").glob("*.part"))


def stages_in(root: Path) -> list[Path]:
    """Return the stages, whoever left them."""
    return list(prefix_in(root).parent.glob(".cudnn-redist-*.stage"))


def is_new(ground: Ground, root: Path) -> bool:
    """Whether the prefix is that of the new archive."""
    try:
        record = json.loads((prefix_in(root) / RECORD).read_bytes())
    except FileNotFoundError:
        return False
    return bool(record["archive"]["sha256"] == ground.sha256)


def _in_stage(ground: Ground, stage: Path) -> Moment:
    content = next(stage.iterdir(), None)
    if content is None:
        return "start"
    try:
        json.loads((content / RECORD).read_bytes())
    except (FileNotFoundError, ValueError):
        return "record" if holds_all(content, ground.tree, ground.sizes) else "unpack"
    return "publish"
