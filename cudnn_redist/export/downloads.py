"""What only downloads and judges: ``sha256sums``, ``aria2`` and ``shell``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from .archives import exported, heading, require_web

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..planner import Plan

__all__ = ["aria2_text", "sha256sums_text", "shell_text"]

_SHELL = """\
#!/bin/sh
# @HEADING@.
#
#   sh FILE [DIR]   fetch each archive into DIR (the working directory), judged by its sha256; needs curl and sha256sum
#
# What is there and right is not fetched again. Exit codes: 0 done, 4 no source gives it, 5 the bytes are not the
# promised ones.
set -u
dir=${1:-.}
part=
trap '[ -z "$part" ] || rm -f -- "$part"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

is_right() { # SHA256 FILE
    [ "$(sha256sum <"$2")" = "$1  -" ]
}

get() { # SHA256 NAME URL...
    sum=$1 file=$dir/$2 code=4
    shift 2
    if [ -f "$file" ] && is_right "$sum" "$file"; then
        return
    fi
    part=$file.part
    for url; do
        rm -f -- "$part"
        curl --fail --silent --show-error --location --retry 5 --output "$part" -- "$url" || continue
        if is_right "$sum" "$part"; then
            mv -f -- "$part" "$file" && return
            exit 7
        fi
        echo "$url: sha256 is not $sum" >&2
        code=5
    done
    exit $code
}

mkdir -p -- "$dir" || exit 7
@CALLS@"""


def sha256sums_text(plans: Sequence[Plan]) -> str:
    """Return what ``sha256sum --check`` reads where the archives lie."""
    return "".join(f"{archive.sha256}  {archive.name}\n" for archive in exported(plans))


def aria2_text(plans: Sequence[Plan]) -> str:
    """Return what ``aria2c --input-file`` reads (aria2c(1), "Input File"); a source that is a directory is refused."""
    archives = exported(plans)
    require_web(archives, "aria2")
    parts = [f"# {heading(archives, 'aria2')}.\n"]
    for archive in archives:
        urls = "\t".join(archive.urls)
        parts.append(f"{urls}\n  out={archive.name}\n  checksum=sha-256={archive.sha256}\n")
    return "".join(parts)


def shell_text(plans: Sequence[Plan]) -> str:
    """Return a script for any POSIX shell."""
    archives = exported(plans)
    calls = [
        " ".join(("get", archive.sha256, *(shlex.quote(word) for word in (archive.name, *archive.urls))))
        for archive in archives
    ]
    text = _SHELL.replace("@HEADING@", heading(archives, "shell"))
    return text.replace("@CALLS@", "".join(f"{call}\n" for call in calls))
