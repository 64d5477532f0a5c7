"""``adopt``: an archive, a wheel or a directory at hand -> a prefix, proven by a manifest where one can be."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from ..digest import Expected
from ..errors import ArchiveError, PrefixError, UsageError
from ..generated.files import generated_files
from ..host import default_root
from ..layout import RECORD_NAME, Layout
from ..manifest.targets import Platform
from ..prefix.additions import add_files
from ..prefix.ground import require_apart
from ..prefix.installed import Prefix
from ..prefix.keeping import note_install, remembering
from ..prefix.lib64 import add_lib64
from ..prefix.publish import Stage
from ..prefix.record import Record, tree_digest
from ..prefix.space import disk_errors
from ..recording import entry_of
from .identity import identify, named, said_claims
from .trees import from_archive, from_directory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..planner import Plan
    from ..source.base import TransferOptions
    from .identity import Identity
    from .trees import Gathered

__all__ = ["adopt"]

_NO_MANIFEST = "none"


def adopt(
    path: str | Path,
    *,
    label: str | None = None,
    component: str | None = None,
    platform: str | None = None,
    cuda: str | None = None,
    sources: Sequence[str] = (),
    root: str | Path | None = None,
    force: bool = False,
    transfer: TransferOptions | None = None,
) -> Prefix:
    """Make a prefix of the cuDNN at ``path``: an archive (tar or zip), a wheel from PyPI, or a directory.

    An archive that a manifest names by its sha256 is installed as if it had been fetched: the manifests are those
    that ``root`` keeps, or, where ``sources`` are given, the release's from there. Anything else becomes a prefix
    whose ``record.unproven`` says what could not be proven, a sentence each. ``label`` (a full version), ``component``,
    ``platform`` and ``cuda`` are only needed for what neither name nor content tell, and must not contradict them.
    A wheel, or a directory, is laid out as an archive of NVIDIA's, with the links that it lacks; of a directory that
    holds more, only what is of cuDNN is taken. ``force`` replaces a prefix that is there.

    Raises ``UsageError``, ``DigestMismatch`` (a manifest has another digest for an archive of this name),
    ``ArchiveError``, ``PrefixError``, and with ``sources`` ``TransferError``.
    """
    path = Path(path).absolute()
    layout = Layout(Path(root) if root is not None else default_root())
    said = said_claims(label=label, component=component, platform=platform, cuda=cuda, where=path)
    with disk_errors(path, phase="adopt"):
        _require_something(path)
        expected = _expected(path) if path.is_file() else None
    if expected is not None:
        version = said.version or named(path.name).version
        plan = _plan(path, expected, version, layout=layout, sources=sources, transfer=transfer)
        if plan is not None:
            from ..installer import InstallOptions, install

            return install(plan, options=InstallOptions(force=force))[0]
    with disk_errors(layout.root, phase="adopt"), Stage(layout.root / "adopted") as stage:
        gathered = _gathered(path, stage.path, expected)
        identity = identify(gathered.root, gathered.paths, named(path.name), said, where=path)
        record = _record(path, gathered, identity, expected)
        return _published(gathered.root, record, layout, origin=path.as_uri(), force=force)


def _plan(
    path: Path,
    expected: Expected,
    version: str | None,
    *,
    layout: Layout,
    sources: Sequence[str],
    transfer: TransferOptions | None,
) -> Plan | None:
    """Return the plan of installing an archive that a manifest names; without a version none can be asked."""
    if version is None:
        return None
    # A directory is adopted where none of what fetching needs is installed, as beside torch.
    from .proof import proving_plan

    return proving_plan(path, expected, version, layout=layout, sources=sources, transfer=transfer)


def _require_something(path: Path) -> None:
    if not path.exists():
        raise UsageError("there is nothing of this name", phase="adopt", where=path)
    if (path / RECORD_NAME).exists():
        raise UsageError("is an installed prefix already", phase="adopt", where=path)


def _expected(path: Path) -> Expected:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return Expected(sha256=sha256, size=file.tell())


def _gathered(path: Path, stage: Path, expected: Expected | None) -> Gathered:
    """Unpack the archive, or copy of the directory, at ``path``; what is wrong with it is no source's fault."""
    try:
        if expected is None:
            return from_directory(path, stage)
        return from_archive(path, stage, expected=expected)
    except ArchiveError as error:
        error.phase = "adopt"
        raise


def _record(path: Path, gathered: Gathered, identity: Identity, expected: Expected | None) -> Record:
    """Add to the tree what build systems look for, and return the record of it all."""
    files = generated_files(gathered.paths, version=identity.version, platform=identity.platform)
    added = (*gathered.added, *add_lib64(gathered.root, identity.platform), *add_files(gathered.root, files))
    entries = tuple(map(entry_of, gathered.members))
    what = (
        "a directory has no digest that a manifest could name"
        if expected is None
        else f"no manifest at hand names an archive with sha256 {expected.sha256}"
    )
    size = sum(entry.size for entry in entries)
    # A directory is known by what is in it.
    known = expected or Expected(sha256=tree_digest(entries), size=size)
    return Record(
        product="cudnn",
        label=identity.label,
        component=identity.component,
        version=identity.version,
        platform=identity.platform,
        variant=identity.variant,
        archive_path=path.name,
        archive_sha256=known.sha256,
        archive_size=known.size or 0,
        manifest_sha256=_NO_MANIFEST,
        offered={Platform(identity.platform): (identity.variant,)},
        is_main=identity.component == "cudnn",
        entries=entries,
        generated=added,
        unproven=(what, *identity.unproven),
    )


def _published(root: Path, record: Record, layout: Layout, *, origin: str, force: bool) -> Prefix:
    target = layout.prefix(*record.levels)
    require_apart(target)
    standing = None if force else Prefix.whole_at(target)
    if standing is not None:
        if standing.record.archive_tree == record.tree:
            return standing
        raise PrefixError("another one is installed there; --force replaces it", where=target)
    with Stage(target) as beside:
        inside = beside.path / "tree"
        root.rename(inside)
        beside.publish(inside, record, replace=lambda: force or Prefix.whole_at(target) is None)
    with remembering("a note on this installation", layout):
        note_install(layout, target, record, origin=origin)
    return Prefix.open(target)
