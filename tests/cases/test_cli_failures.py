"""C76: every failure has its exit code and one reason, is an object with ``--json``, and leaves the root as it was."""

from __future__ import annotations

import json
import lzma
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from cli.ground import CHOICE, leftovers, partials, reason, snapshot
from redist import File, Link, RedistTree
from redist.archives import pack
from redist.command import run_command
from redist.faults import Cut, Flipped, Page, Status, Truncated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from redist import RedistServer
    from redist.faults import Fault

LABEL = "9.27.0"
MANIFEST = "redistrib_9.27.0.json"
ARCHIVE = "_cuda13-archive.tar.xz"


@dataclass(frozen=True)
class Ground:
    """What a row of the table may spoil."""

    tree: RedistTree
    server: RedistServer
    root: Path


@dataclass(frozen=True)
class Bad:
    """One row: how the input is spoiled, and what must come of it.

    ``phase`` and ``where`` begin the reason, ``cause`` is a part of it; in ``where`` ``{url}``, ``{redist}`` and
    ``{root}`` stand for what they are in the run. ``resumable`` says that a partial may stay.
    """

    code: int
    kind: str
    phase: str
    cause: str
    where: str = ""
    spoil: Callable[[Ground], object] = lambda _: None
    words: tuple[str, ...] = ()
    label: str = LABEL
    env: tuple[tuple[str, str], ...] = ()
    resumable: bool = False


def always(suffix: str, fault: Fault) -> Callable[[Ground], object]:
    return lambda ground: ground.server.always(suffix, fault)


def manifest(data: bytes) -> Callable[[Ground], object]:
    return lambda ground: ground.tree.manifest_path(LABEL).write_bytes(data)


def entry(**fields: str | None) -> Callable[[Ground], object]:
    """Change (``None``: remove) fields of the archive's entry in the manifest."""

    def spoil(ground: Ground) -> None:
        def edit(node: dict[str, dict[str, dict[str, dict[str, str]]]]) -> None:
            changed = node["cudnn"]["linux-x86_64"]["cuda13"] | {
                k: v for k, v in fields.items() if v is not None
            }
            for name in (name for name, value in fields.items() if value is None):
                del changed[name]
            node["cudnn"]["linux-x86_64"]["cuda13"] = changed

        ground.tree.edit_manifest(LABEL, edit)

    return spoil


def archive(data: bytes) -> Callable[[Ground], object]:
    return lambda ground: ground.tree.replace_archive(data, LABEL, update_manifest=True)


def cut_xz(ground: Ground) -> None:
    data = ground.tree.archive_path(LABEL).read_bytes()
    ground.tree.replace_archive(data[: len(data) // 2], LABEL, update_manifest=True)


def surplus_xz(ground: Ground) -> None:
    """A tar that ends in the middle of a member, compressed without any fault."""
    tar = lzma.decompress(ground.tree.archive_path(LABEL).read_bytes())
    ground.tree.replace_archive(lzma.compress(tar[: len(tar) // 2], preset=0), LABEL, update_manifest=True)


def unsafe(path: str, entry: File | Link) -> Callable[[Ground], object]:
    return archive(pack("tar.xz", "cudnn-archive", {"include/cudnn.h": File(b"x"), path: entry}))


def nobody_listens(ground: Ground) -> None:
    ground.server.close()


URL_OF_MANIFEST = "{url}cudnn/redist/redistrib_9.27.0.json"
URL_OF_ARCHIVE = "{url}cudnn/redist/cudnn/linux-x86_64/cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"

TABLE = {
    # what was asked makes no sense
    "label": Bad(2, "UsageError", "label", "'9.x' is not a release label", label="9.x"),
    "label that is a path": Bad(2, "UsageError", "label", "is not a release label", label="../9.27.0"),
    "empty label": Bad(2, "UsageError", "label", "'' is not a release label", label=""),
    "option": Bad(2, "UsageError", "usage", "unrecognized arguments: --colour", words=("--colour",)),
    "shortened option": Bad(2, "UsageError", "usage", "unrecognized arguments: --dry", words=("--dry",)),
    "scheme": Bad(
        2, "UsageError", "usage", "ftp: is no kind of source", "ftp://h/", words=("--source", "ftp://h/")
    ),
    "no host": Bad(
        2, "UsageError", "usage", "a source URL needs a host", words=("--source", "http:///redist/")
    ),
    "cuda": Bad(2, "UsageError", "cuda", "'nonsense' is not a CUDA version", words=("--cuda", "nonsense")),
    "platform word": Bad(2, "UsageError", "platform", "'a b' is not a platform", words=("--platform", "a b")),
    "component word": Bad(2, "UsageError", "usage", "'../x' is no component", words=("--component", "../x")),
    "product": Bad(2, "UsageError", "usage", "'../x' is no product name", words=("--product", "../x")),
    "pin": Bad(2, "UsageError", "usage", "'abc' is no sha256", words=("--manifest-sha256", "abc")),
    "threads": Bad(2, "UsageError", "usage", "must be more than 0", words=("--threads", "0")),
    "memory": Bad(2, "UsageError", "usage", "'1M' is no whole number", words=("--memory", "1M")),
    "retries": Bad(2, "UsageError", "usage", "'-1' is no whole number", words=("--retries=-1",)),
    "stall": Bad(2, "UsageError", "usage", "is no number of seconds", words=("--stall-timeout", "never")),
    "stall for ever": Bad(
        2, "UsageError", "usage", "is no number of seconds", words=("--stall-timeout", "1e300")
    ),
    "ca file": Bad(
        2, "UsageError", "trust", "file is missing", "/no/ca.pem", words=("--ca-file", "/no/ca.pem")
    ),
    "SSL_CERT_FILE": Bad(
        2, "UsageError", "trust", "SSL_CERT_FILE names", "/no/ca.pem", env=(("SSL_CERT_FILE", "/no/ca.pem"),)
    ),
    # it is not there
    "no such label": Bad(
        3, "LabelNotFound", "label", "no such release label as 9.99.0", "{url}", label="9.99.0"
    ),
    "manifest 404": Bad(
        3,
        "LabelNotFound",
        "label",
        "no such release label as 9.27.0",
        "{url}",
        spoil=always(MANIFEST, Status(404)),
    ),
    "manifest 410": Bad(
        3,
        "LabelNotFound",
        "label",
        "no such release label as 9.27.0",
        "{url}",
        spoil=always(MANIFEST, Status(410)),
    ),
    "archive 404": Bad(
        3, "ArchiveWithdrawn", "download", "HTTP 404", URL_OF_ARCHIVE, spoil=always(ARCHIVE, Status(404))
    ),
    "archive 410": Bad(
        3, "ArchiveWithdrawn", "download", "HTTP 410", URL_OF_ARCHIVE, spoil=always(ARCHIVE, Status(410))
    ),
    "component": Bad(
        3,
        "ComponentNotFound",
        "choose",
        "there are cudnn",
        URL_OF_MANIFEST,
        words=("--component", "cudnn_jit"),
    ),
    "platform": Bad(
        3,
        "PlatformNotFound",
        "choose",
        "no archive for linux-ppc64le",
        URL_OF_MANIFEST,
        words=("--platform", "linux-ppc64le"),
    ),
    "variant": Bad(
        3, "VariantNotFound", "choose", "it has cuda12, cuda13", URL_OF_MANIFEST, words=("--cuda", "11")
    ),
    "version": Bad(3, "VersionNotFound", "choose", "9.27.0.42", URL_OF_MANIFEST, label="9.27.0.43"),
    # the line or the server
    "nobody listens": Bad(4, "TransientTransferError", "manifest", "Connect", "{url}", spoil=nobody_listens),
    "500 for ever": Bad(
        4,
        "TransientTransferError",
        "download",
        "HTTP 500",
        URL_OF_ARCHIVE,
        spoil=always(ARCHIVE, Status(500)),
    ),
    "manifest 503": Bad(
        4, "TransientTransferError", "manifest", "HTTP 503", "{url}", spoil=always(MANIFEST, Status(503))
    ),
    "403": Bad(
        4, "TransferError", "download", "HTTP 403", URL_OF_ARCHIVE, spoil=always(ARCHIVE, Status(403))
    ),
    "cut for ever": Bad(
        4,
        "TransientTransferError",
        "download",
        "incomplete: got 2000 of ",
        URL_OF_ARCHIVE,
        spoil=always(ARCHIVE, Cut(1000)),
        resumable=True,
    ),
    # other bytes than promised
    "digest": Bad(
        5, "DigestMismatch", "verify", "sha256", URL_OF_ARCHIVE, spoil=always(ARCHIVE, Flipped(5000))
    ),
    "digest in the manifest": Bad(
        5, "DigestMismatch", "verify", "sha256", URL_OF_ARCHIVE, spoil=entry(sha256="0" * 64)
    ),
    "size": Bad(5, "SizeMismatch", "download", "promises 7", URL_OF_ARCHIVE, spoil=entry(size="7")),
    "short file": Bad(
        5,
        "SizeMismatch",
        "download",
        "offers 1000 bytes",
        URL_OF_ARCHIVE,
        spoil=always(ARCHIVE, Truncated(1000)),
    ),
    "page for an archive": Bad(
        5, "SizeMismatch", "download", "looks like a web page", URL_OF_ARCHIVE, spoil=always(ARCHIVE, Page())
    ),
    "pinned": Bad(
        5,
        "ManifestChanged",
        "manifest",
        "pinned to 000",
        URL_OF_MANIFEST,
        words=("--manifest-sha256", "0" * 64),
    ),
    # damaged or unsafe
    "page for a manifest": Bad(
        6,
        "ManifestError",
        "manifest",
        "not JSON but a page",
        URL_OF_MANIFEST,
        spoil=manifest(b"<html></html>"),
    ),
    "page for every manifest": Bad(
        6, "ManifestError", "manifest", "not JSON but a page", "{url}", spoil=always(MANIFEST, Page())
    ),
    "not JSON": Bad(6, "ManifestError", "manifest", "JSON", URL_OF_MANIFEST, spoil=manifest(b"{")),
    "empty": Bad(6, "ManifestError", "manifest", "the body is empty", URL_OF_MANIFEST, spoil=manifest(b"")),
    "duplicate keys": Bad(
        6,
        "ManifestError",
        "manifest",
        "cudnn: this key is given twice",
        URL_OF_MANIFEST,
        spoil=manifest(b'{"cudnn": {}, "cudnn": {}}'),
    ),
    "a list": Bad(
        6, "ManifestError", "manifest", "the JSON is not an object", URL_OF_MANIFEST, spoil=manifest(b"[]")
    ),
    "path that leaves": Bad(
        6,
        "ManifestError",
        "plan",
        "is not relative to the manifest",
        "{url}cudnn/redist/",
        spoil=entry(relative_path="http://elsewhere/a.tar.xz"),
    ),
    "no sha256": Bad(6, "ManifestError", "plan", "no sha256", URL_OF_ARCHIVE, spoil=entry(sha256=None)),
    "climbing member": Bad(
        6, "ArchiveError", "unpack", "climbs with '..'", URL_OF_ARCHIVE, spoil=unsafe("../../x", File(b"x"))
    ),
    "climbing link": Bad(
        6,
        "ArchiveError",
        "unpack",
        "which leaves the tree",
        URL_OF_ARCHIVE,
        spoil=unsafe("lib/x", Link("../../../x")),
    ),
    "absolute link": Bad(
        6, "ArchiveError", "unpack", "which is absolute", URL_OF_ARCHIVE, spoil=unsafe("lib/x", Link("/etc"))
    ),
    "cut xz": Bad(6, "ArchiveError", "unpack", "the file ends too early", URL_OF_ARCHIVE, spoil=cut_xz),
    "cut tar": Bad(
        6, "ArchiveError", "unpack", "the tar data is cut short", URL_OF_ARCHIVE, spoil=surplus_xz
    ),
    "no archive": Bad(
        6,
        "ArchiveError",
        "unpack",
        "this is no archive but text",
        URL_OF_ARCHIVE,
        spoil=archive(b"no archive at all"),
    ),
    "no space": Bad(7, "PrefixError", "space", "are free", spoil=entry(size=str(10**15))),
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root that holds another release."""
    folder = tmp_path_factory.mktemp("standing")
    tree = RedistTree(folder / "tree")
    tree.add_release("9.26.0")
    words = ("fetch", "9.26.0", *CHOICE, "--root", folder / "root", "--source", tree.path)
    assert run_command(*words, env={"HOME": str(folder)}).code == 0
    return folder / "root"


@pytest.mark.parametrize("bad", TABLE.values(), ids=TABLE)
def test_C76_a_failure_has_its_code_and_one_reason_and_installs_nothing(
    bad: Bad, redist_tree: RedistTree, redist_server: RedistServer, root: Path, installed: Path
) -> None:
    shutil.copytree(installed, root, symlinks=True)
    whole, other = snapshot(root), snapshot(root / "cudnn/9.26.0")
    bad.spoil(Ground(redist_tree, redist_server, root))

    # Options that may be given once come last; those that add up replace ours.
    choice = [] if "--cuda" in bad.words else ["--cuda", "13"]
    choice += [] if "--platform" in bad.words else ["--platform", "linux-x86_64"]
    choice += [] if "--source" in bad.words else ["--source", redist_server.url]
    words = ("fetch", bad.label, "--root", root, *choice, "--retries", "1", *bad.words, "--json")
    done = run_command(*words, env=dict(bad.env))

    told = reason(done)
    error = json.loads(done.out)["error"]
    where = bad.where.format(url=redist_server.url)
    assert (done.code, error["exit_code"], error["type"]) == (bad.code, bad.code, bad.kind), told
    assert told.startswith(f"{bad.phase}: {where}" if bad.phase else ""), told
    assert bad.cause in told
    assert (error["phase"], error["cause"]) != ("", "")
    assert snapshot(root / "cudnn/9.26.0") == other
    if error["phase"] not in ("download", "verify", "unpack"):
        assert snapshot(root) == whole
    assert not (root / "cudnn/9.27.0").exists()
    assert leftovers(root) == []
    assert bool(partials(root)) is bad.resumable
