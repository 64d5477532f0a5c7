"""What NVIDIA's licence lets a mirror or a bundle be for, and whether the user has accepted it.

The sentence is drawn from the licence text that comes with cuDNN 9.27 (SDK agreement, sections 1.1 (iii), 1.2 and
2.2; cuDNN supplement, section 2). It is no legal advice, and says where the text lies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NotAvailableError, TransferError, UsageError
from ..locations import is_local, redacted
from ..notes import log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..source.sources import Sources
    from .releases import Release

__all__ = ["NOTICE", "licence_texts", "require_acceptance"]

NOTICE = (
    "NVIDIA's licence: copies are for use inside your own organisation; to others you may pass on only the runtime "
    "files, as part of an application of yours, for NVIDIA GPUs. The licence texts are copied along: read them"
)


def require_acceptance(*, accepted: bool, strict: bool) -> None:
    """Raise ``UsageError`` where acceptance is mandatory and nobody has said that the licence is accepted."""
    if strict and not accepted:
        raise UsageError(
            "--strict-licence wants NVIDIA's licence to be accepted: read it, then give --accept-licence "
            "or set CUDNN_REDIST_ACCEPT_LICENCE=1",
            phase="licence",
        )


def licence_texts(release: Release, sources: Sources) -> dict[str, bytes]:
    """Return the licence texts of a release's chosen components, by path; one that no source has is told.

    ``TransferError`` where it cannot be known whether a source has one: a copy goes nowhere without its licence.
    """
    found = {path: _text(urls, sources) for path, urls in release.licences().items()}
    return {path: text for path, text in found.items() if text is not None}


def _text(urls: Sequence[str], sources: Sources) -> bytes | None:
    """Read a licence text from the first source that has it; it is small, as a manifest is."""
    failures: list[TransferError] = []
    for url in urls:
        source = sources.local if is_local(url) else sources.http
        try:
            return source.read_manifest(url)
        except NotAvailableError:
            continue
        except TransferError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    log.warning("%s: no licence text here, so none is copied", redacted(urls[0]))
    return None
