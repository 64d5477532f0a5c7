"""From the records of installed prefixes to a locked release, where no manifest is kept of it. Pure but for the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NotInstalled
from ..locations import redacted
from ..manifest.labels import ReleaseLabel
from ..manifest.targets import CudaVariant, parse_platform
from .kept import folder_of_archive
from .model import Chosen, LockedArchive, LockedComponent, LockedManifest, LockedRelease, lockable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout import Layout
    from ..locations import Folder
    from ..prefix.record import Record

__all__ = ["recorded"]


def recorded(layout: Layout, records: Sequence[Record], *, asked: str, chosen: Chosen) -> LockedRelease:
    """Return what the ``records`` of one release that fit ``chosen`` say; where archives lie, the root's log tells.

    ``NotInstalled`` where none fits.
    """
    # The whole and its parts come from one archive.
    fitting = list({record.levels: record for record in records if _fits(record, chosen)}.values())
    if not fitting:
        raise NotInstalled("nothing that fits the choice is installed", where=layout.root)
    homes = [folder_of_archive(layout, record) for record in fitting]
    first, home = fitting[0], next(filter(None, homes), None)
    manifest = ReleaseLabel.parse(first.label).manifest_name
    with lockable(layout.root):
        archives = [_archive(record, home) for record, home in zip(fitting, homes, strict=True)]
        return LockedRelease(
            product=first.product,
            asked=asked,
            label=first.label,
            chosen=_choice_of(fitting),
            manifest=LockedManifest(
                url=None if home is None else redacted(home.join(manifest)),
                sha256=first.manifest_sha256,
                size=None,
                date=None,
            ),
            components={
                record.component: LockedComponent(
                    main=record.is_main,
                    offered={platform: tuple(names) for platform, names in record.offered.items()},
                )
                for record in fitting
            },
            archives=tuple(sorted(archives, key=lambda archive: archive.order)),
        )


def _archive(record: Record, home: Folder | None) -> LockedArchive:
    return LockedArchive(
        component=record.component,
        version=record.version,
        platform=record.platform,
        variant=record.variant,
        relative_path=record.archive_path,
        url=None if home is None else redacted(home.join(record.archive_path)),
        sha256=record.archive_sha256,
        size=record.archive_size,
    )


def _fits(record: Record, chosen: Chosen) -> bool:
    platforms = [each for text in chosen.platform for each in parse_platform(text)]
    cudas = {each.name for text in chosen.cuda for each in CudaVariant.asked(text).alternatives}
    return (
        (not chosen.component or record.component in chosen.component)
        and (not platforms or record.platform in platforms)
        and (not cudas or record.variant in cudas)
    )


def _choice_of(records: Sequence[Record]) -> Chosen:
    """Return what one would have chosen to get just these."""
    variants = (CudaVariant.of_key(record.variant) for record in records if record.variant)
    return Chosen(
        component=tuple(sorted({record.component for record in records})),
        platform=tuple(sorted({record.platform for record in records})),
        cuda=tuple(cuda.version for cuda in sorted({cuda for cuda in variants if cuda})),
    )
