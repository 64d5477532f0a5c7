"""Unpack what the corpus holds, as the product does: its kind told from its first bytes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from unpack.building import NAME

from cudnn_redist.unpack import HEAD_SIZE, Kind, UnpackOptions, kind_of, unpack, unpack_zip

if TYPE_CHECKING:
    from pathlib import Path

    from unpack.specimen import Specimen

    from cudnn_redist.unpack import Unpacked


def limits(specimen: Specimen) -> UnpackOptions:
    """Return the limits that a specimen is unpacked under; with a budget, nobody asks how much memory there is."""
    most = {"max_bytes": specimen.most_bytes, "max_members": specimen.most_members}
    given = {name: value for name, value in most.items() if value is not None}
    return UnpackOptions(threads=2, budget=8 << 20, **given)


def unpack_specimen(specimen: Specimen, destination: Path) -> Unpacked:
    """Unpack into a new directory; raise what the product raises."""
    data, options = specimen.build(), limits(specimen)
    destination.mkdir()
    kind = kind_of(data[:HEAD_SIZE], name=NAME)
    if kind is Kind.ZIP:
        return unpack_zip(io.BytesIO(data), destination, name=NAME, options=options)
    return unpack(io.BytesIO(data), destination, name=NAME, kind=kind, options=options)


def called(specimen: Specimen) -> str:
    """Return what a test calls a specimen."""
    return f"{specimen.kind}: {specimen.name}"
