"""The one list of archives that an unpacker must refuse, or must not, whatever unpacks: ``SPECIMENS``.

Whoever unpacks may be held against it: a specimen tells its bytes, the verdict, and what the refusal must say.
"""

from __future__ import annotations

import tarfile
from functools import partial
from typing import TYPE_CHECKING

from unpack import corpus_damage, corpus_tar, corpus_zip
from unpack.building import GOOD, tar, zip_of
from unpack.corpus_members import IN_EVERY_KIND, IN_TAR
from unpack.specimen import Specimen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from unpack.building import Entry
    from unpack.specimen import Unsafe

FORMS: dict[str, tuple[str, Callable[[Sequence[Entry]], bytes]]] = {
    "tar": ("tar", tar),
    "pax": ("tar", partial(tar, tar_format=tarfile.PAX_FORMAT)),
    "zip": ("zip", zip_of),
}
"""Ways to pack members: the kind of archive, and who packs them."""


def packed(form: str, entries: Sequence[Entry]) -> bytes:
    """Return an archive of ``entries`` after a good member."""
    return FORMS[form][1]([GOOD, *entries])


def _alone(form: str, members: Mapping[str, Unsafe]) -> Iterator[Specimen]:
    for name, member in members.items():
        yield Specimen(
            name=f"{form}: {name}",
            kind=FORMS[form][0],
            build=partial(packed, form, member.entries),
            verdict="unsafe",
            reason=member.reason,
        )


MEMBERS = (
    *_alone("tar", IN_EVERY_KIND | IN_TAR),
    *_alone("pax", IN_EVERY_KIND),
    *_alone("zip", IN_EVERY_KIND),
    *corpus_zip.MEMBERS,
)
FORMS_OF_TAR = (*corpus_tar.LONG_NAMES, *corpus_tar.PAX_FIELDS, *corpus_tar.SPARSE, *corpus_tar.OTHER_GOOD)
FORMS_OF_ZIP = (*corpus_zip.STRUCTURE, *corpus_zip.GOODS)
BOMBS = (*corpus_tar.BOMBS, *corpus_zip.BOMBS)
STREAMS = (*corpus_damage.XZ_STREAMS, *corpus_damage.OTHER_STREAMS)
DAMAGE = (*corpus_damage.CUTS, *corpus_damage.XZ_FLIPS)

SPECIMENS: tuple[Specimen, ...] = (
    *MEMBERS,
    *FORMS_OF_TAR,
    *FORMS_OF_ZIP,
    *BOMBS,
    *STREAMS,
    *DAMAGE,
)
