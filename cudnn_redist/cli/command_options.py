"""The options of the commands, those that have a file of their own apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lock_options import add_lock_use, add_verify_lock
from .options import (
    HOW,
    TO,
    WHAT,
    add_archives,
    add_choices,
    add_manner,
    add_parts,
    add_patience,
    add_places,
    add_product,
    add_root,
    add_sources,
    add_strict,
    add_telling,
)
from .values import count, path, word

if TYPE_CHECKING:
    from .parser import Parser

__all__ = [
    "add_adopt",
    "add_doctor",
    "add_env",
    "add_fetch",
    "add_list",
    "add_remove",
    "add_url",
    "add_verify",
    "add_where",
]

_LABEL_HELP = "9.27.0; the newest of 9.27 or 9; latest"
_CONSUMERS_HELP = (
    "torch, torch-extension, jax, xla, tensorflow, onnxruntime, opencv, ctranslate2, transformer-engine, "
    "cudnn-frontend, cmake, pkg-config, compiler or loader"
)
_FORMATS = ("sh", "fish", "pwsh", "cmd", "dotenv", "github", "json")


def add_fetch(fetch: Parser) -> None:
    """Add the options of ``fetch``."""
    fetch.group(WHAT).add_argument("labels", metavar="LABEL", nargs="*", help=_LABEL_HELP)
    add_choices(fetch, product=None)
    add_parts(fetch)
    add_lock_use(fetch)
    add_sources(fetch)
    add_archives(fetch)
    add_places(fetch)
    add_manner(fetch)
    add_strict(fetch)
    add_patience(fetch)
    add_telling(fetch)


def add_list(show: Parser) -> None:
    """Add the options of ``list``."""
    add = show.group(WHAT).add_argument
    add("label", metavar="LABEL", nargs="?", help="show what this release has")
    add("--installed", action="store_true", help="show what is installed, of every product or the one given")
    add("--channels", action="store_true", help="show the channels of a content-addressed server")
    add_product(show, default=None)
    add_sources(show)
    add_root(show)
    add_strict(show)
    add_patience(show)
    add_telling(show)


def add_url(url: Parser) -> None:
    """Add the options of ``url``."""
    url.group(WHAT).add_argument("labels", metavar="LABEL", nargs="*", help=_LABEL_HELP)
    add_choices(url, product=None)
    add_parts(url)
    add_lock_use(url)
    add_sources(url)
    add_root(url)
    add_patience(url)
    add_telling(url)


def add_where(where: Parser) -> None:
    """Add the options of ``where``."""
    where.group(WHAT).add_argument("label", metavar="LABEL", help="a full label, such as 9.27.0")
    add_choices(where)
    add_parts(where)
    add_root(where)
    add_telling(where)


def add_env(env: Parser) -> None:
    """Add the options of ``env``."""
    add = env.group(WHAT).add_argument
    add("label", metavar="LABEL|PREFIX", help="a full label, such as 9.27.0, or a directory (./DIR)")
    add("--for", dest="consumer", required=True, metavar="CONSUMER", help=_CONSUMERS_HELP)
    add("--format", choices=_FORMATS, default="sh", metavar="F", help=f"{', '.join(_FORMATS)} (sh)")
    add_choices(env)
    add_parts(env)
    add_root(env)
    add_telling(env)


def add_verify(verify: Parser) -> None:
    """Add the options of ``verify``."""
    _add_target(verify, needed=False)
    add_verify_lock(verify)
    add_root(verify)
    add = verify.group(HOW).add_argument
    add("--load", action="store_true", help="load the library too, in a child process (no GPU needed)")
    add("--gpu", action="store_true", help="let it work on the GPU too, in a child process")
    add_telling(verify)


def add_adopt(adopt: Parser) -> None:
    """Add the options of ``adopt``."""
    add = adopt.group(WHAT).add_argument
    add(
        "path", type=path, metavar="PATH", help="an archive, a wheel from PyPI, or a directory that has cuDNN"
    )
    add("--as", dest="version", metavar="VERSION", help="its version, where nothing in it tells")
    add("--component", type=word, metavar="C", help="what it is meant to be: cudnn or cudnn_jit")
    add("--platform", metavar="P", help="linux-sbsa or linux-aarch64, where only that is in doubt")
    add("--cuda", metavar="V", help="the CUDA it is for, where its name does not tell")
    add_sources(adopt, pinned=False, copied=True)
    add_root(adopt)
    adopt.group(TO).add_argument("--force", action="store_true", help="replace the prefix that is there")
    add_patience(adopt)
    add_telling(adopt)


def add_remove(remove: Parser) -> None:
    """Add the options of ``remove``."""
    _add_target(remove, needed=True)
    add_root(remove)
    add_telling(remove)


def _add_target(parser: Parser, *, needed: bool) -> None:
    parser.group(WHAT).add_argument(
        "target",
        metavar="LABEL|PREFIX",
        nargs=None if needed else "?",
        help="every prefix of a label that fits, or one directory (./DIR)",
    )
    add_choices(parser, otherwise="any")
    add_parts(parser, otherwise="any")


def add_doctor(doctor: Parser) -> None:
    """Add the options of ``doctor``."""
    add = doctor.group(WHAT).add_argument
    add("command", metavar="COMMAND", nargs="*", help="run this after --, and say what it maps of cuDNN")
    add("--pid", type=count, metavar="N", help="say what a running process has mapped")
    add(
        "--python", action="append", type=path, metavar="PROGRAM", help="look at its packages too; repeatable"
    )
    add(
        "--system-root",
        type=path,
        metavar="DIR",
        help="look at the system whose root is DIR (an image, a chroot)",
    )
    add_root(doctor)
    doctor.group(HOW).add_argument(
        "--report", action="store_true", help="Markdown for a bug report, without names, home or credentials"
    )
    add_telling(doctor)
