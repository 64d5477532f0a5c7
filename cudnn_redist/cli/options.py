"""The options of the command line, by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..parts import PARTS
from .values import count, directory_variable, path, positive, seconds, sha256, switch_variable, word

if TYPE_CHECKING:
    from .parser import Parser

__all__ = [
    "HOW",
    "TO",
    "WHAT",
    "add_archives",
    "add_choices",
    "add_manner",
    "add_parts",
    "add_patience",
    "add_places",
    "add_product",
    "add_root",
    "add_sources",
    "add_strict",
    "add_telling",
]

WHAT, _FROM, TO = "what", "from where", "where"
HOW, _TOLD = "how", "what is told"


def add_choices(parser: Parser, *, otherwise: str = "this machine's", product: str | None = "cudnn") -> None:
    """Add which product, component, platform and CUDA; ``otherwise`` is what silence about the last two means."""
    add_product(parser, default=product)
    add = parser.group(WHAT).add_argument
    main = "the main one" if otherwise == "this machine's" else otherwise
    add("--component", action="append", type=word, metavar="C", help=f"cudnn_jit, ... ({main}); repeatable")
    add("--platform", action="append", metavar="P", help=f"linux-x86_64, ... ({otherwise}); repeatable")
    add("--cuda", action="append", metavar="V", help=f"12, 12.8, cuda13, ... ({otherwise}); repeatable")


def add_parts(parser: Parser, *, otherwise: str = "all of it") -> None:
    """Add which parts of an archive; ``otherwise`` is what silence means."""
    parser.group(WHAT).add_argument(
        "--only",
        action="append",
        choices=PARTS,
        metavar="PART",
        help=f"{', '.join(PARTS)}: of the archive only that ({otherwise}); repeatable",
    )


def add_product(parser: Parser, *, default: str | None = "cudnn") -> None:
    """Add which product; ``default`` is what silence means."""
    parser.group(WHAT).add_argument(
        "--product", default=default, metavar="NAME", help="cudnn (default), cuda, cutensor, ..."
    )


def add_sources(parser: Parser, *, pinned: bool = True, copied: bool = False) -> None:
    """Add the sources and what to think of their manifests.

    ``pinned``: there is one manifest, whose digest may be given. What is ``copied`` is the classic tree as it is now.
    """
    add = parser.group(_FROM).add_argument
    add(
        "--source",
        action="append",
        type=word,
        metavar="URL|DIR|BUNDLE",
        help="an HTTP root, a directory laid out like NVIDIA's, or a bundle; repeatable, tried in order "
        "(CUDNN_REDIST_SOURCE, separated by blanks; else NVIDIA)",
    )
    add(
        "--offline",
        action="store_true",
        default=switch_variable("CUDNN_REDIST_OFFLINE"),
        help="ask no server: what is here has to do (CUDNN_REDIST_OFFLINE=1)",
    )
    add(
        "--no-fallback",
        action="store_true",
        default=switch_variable("CUDNN_REDIST_NO_FALLBACK"),
        help="ask the hosts of the named sources and nobody else (CUDNN_REDIST_NO_FALLBACK=1)",
    )
    if not copied:
        add("--refresh", action="store_true", help="read the manifest again, though it is kept")
    if pinned:
        add("--manifest-sha256", type=sha256, metavar="HEX", help="refuse any other manifest")
    if not copied:
        add(
            "--channel",
            type=word,
            metavar="NAME",
            help="from this channel of a content-addressed server (NVIDIA's newer one without a source)",
        )
    add("--ca-file", type=path, metavar="PEM", help="trust these certificates too")


def add_archives(parser: Parser) -> None:
    """Add the store of archives."""
    parser.group(_FROM).add_argument(
        "--archives",
        type=path,
        metavar="DIR",
        default=directory_variable("CUDNN_REDIST_ARCHIVES"),
        help="look for archives in this store first, and keep them there (CUDNN_REDIST_ARCHIVES)",
    )


def add_places(parser: Parser) -> None:
    """Add every place where a prefix may go."""
    add_root(parser)
    add = parser.group(TO).add_argument
    add(
        "--dest",
        type=path,
        metavar="DIR",
        help="install one archive into exactly DIR; the root then only holds partial downloads and the log",
    )
    add("--link", type=path, metavar="PATH", help="point the symlink PATH at the prefix")
    add("--force", action="store_true", help="install again, replacing the prefix that is there")


def add_root(parser: Parser) -> None:
    """Add the root."""
    parser.group(TO).add_argument(
        "--root",
        type=path,
        metavar="DIR",
        help="where prefixes live (CUDNN_REDIST_ROOT; else the user's data directory)",
    )


def add_manner(parser: Parser) -> None:
    """Add how to install."""
    add = parser.group(HOW).add_argument
    add("--dry-run", action="store_true", help="say what would be done and what it needs; write nothing")
    add("--verify-first", action="store_true", help="unpack only after the digest is known")
    add("--durable", action="store_true", help="flush to the disk before publishing")
    add("--threads", type=positive, metavar="N", help="threads that decode (all cores)")
    add("--memory", type=positive, metavar="BYTES", help="bytes of xz blocks under way (40 MiB a thread)")


def add_strict(parser: Parser) -> None:
    """Add what to do about a release that cannot run here."""
    parser.group(HOW).add_argument(
        "--strict",
        action="store_true",
        help="refuse (exit code 3) what cannot run on this machine, by driver, GPU, C library or CUDA",
    )


def add_patience(parser: Parser) -> None:
    """Add how patient to be with a source."""
    add = parser.group(HOW).add_argument
    add("--retries", type=count, metavar="N", help="failures in a row before giving up (5)")
    add("--stall-timeout", type=seconds, metavar="S", help="seconds without a byte that are a failure (30)")
    add(
        "--min-speed", type=count, metavar="B", help="fewer bytes per second, over 30 s, are a failure (1024)"
    )


def add_telling(parser: Parser) -> None:
    """Add what every command says, and how."""
    add = parser.group(_TOLD).add_argument
    add("-h", "--help", action="help", help="show this message and exit")
    add("--json", action="store_true", help="print one JSON object")
    add("-q", "--quiet", action="store_true", help="nothing on stderr but failures")
    add("--no-progress", action="store_true", help="no progress bar or lines")
    add("--debug", action="store_true", help="show requests, retries and tracebacks")
