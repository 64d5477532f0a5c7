"""Ways to get an archive unpacked, or a part of that: each is a name, what it needs, and a line for bash.

A line runs in an empty directory. Its variables are those of ``Archive.variables`` for the archive it names, and
``SHARED``, the directory that its experiment's ``setup`` filled. ``cudnn-redist`` and ``python`` are those of the
fresh environment that ours is installed in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Gives = Literal["archive", "wheel", "file", "nothing"]

# What ours puts beside the archive's own files.
_OUR_ADDITIONS = (".cudnn-redist.json", "lib64", "lib/cmake", "lib/pkgconfig")
_CURL = 'curl -sSf -o "$FILE" "$URL"'
_CHECK = 'echo "$SHA256  $FILE" | sha256sum --check --quiet'
_STREAM = 'curl -sSf "$URL" | tee >(sha256sum >digest)'


@dataclass(frozen=True, kw_only=True)
class Way:
    """``result`` is the directory that holds what the way ``gives``, but for the paths it ``adds``."""

    name: str
    line: str
    needs: tuple[str, ...] = ()
    archive: str = "xz"
    result: str = "$TOP"
    gives: Gives = "archive"
    adds: tuple[str, ...] = ()


def ours(name: str = "ours", *, options: str = "", archive: str = "xz", source: str = "$SOURCE") -> Way:
    return Way(
        name=name,
        line=f'cudnn-redist fetch "$LABEL" $CHOICE --source "{source}" --root root --no-progress {options}',
        archive=archive,
        result="root/$PREFIX",
        adds=_OUR_ADDITIONS,
    )


def curl_and_tar(threads: int) -> Way:
    """Return the line that most people write, with as many threads as xz is told (0: one a core)."""
    return Way(
        name=f"curl; sha256sum -c; XZ_DEFAULTS=-T{threads} tar -xJf",
        line=f'{_CURL}; {_CHECK}; XZ_DEFAULTS=-T{threads} tar -xJf "$FILE"',
        needs=("curl", "xz"),
    )


def unpacker(name: str, line: str, *, needs: str, archive: str, got: str = _CURL) -> Way:
    """Return a way that gets the file whole, checks it and gives it to one tool."""
    return Way(
        name=f"curl; sha256sum -c; {name}",
        line=f"{got}; {_CHECK}; {line}",
        needs=("curl", needs),
        archive=archive,
    )


def local(name: str, line: str, *, needs: tuple[str, ...], archive: str) -> Way:
    """Return a way that unpacks the file where it lies, checking nothing."""
    return Way(name=name, line=line, needs=needs, archive=archive)


def bare(name: str, line: str, *, needs: tuple[str, ...] = ()) -> Way:
    """Return a line that leaves nothing to compare."""
    return Way(name=name, line=line, needs=needs, gives="nothing")


CURL_ALONE = Way(name="curl -o alone", line=_CURL, needs=("curl",), result=".", gives="file")
XZ_ALONE = bare("limit: xz -T0 -dc >/dev/null", 'xz -T0 -dc "$LOCAL" >/dev/null', needs=("xz",))

_OURS_FAST = ours("ours with the extra fast")
_MOST_WRITTEN = Way(
    name="curl; sha256sum -c; tar -xJf",
    line=f'{_CURL}; {_CHECK}; tar -xJf "$FILE"',
    needs=("curl", "xz"),
)
_PIPELINE = Way(
    name="curl | tee >(sha256sum) | xz -T0 -dc | tar -x",
    line=f"{_STREAM} | xz -T0 -dc | tar -x",
    needs=("curl", "xz"),
)
_NVIDIA = Way(
    name="nvidia-binarchive",
    line='nvidia-binarchive --url "$MANIFEST" --component "$COMPONENT"'
    ' --os "$SYSTEM" --arch "$MACHINE" --variant "$VARIANT" --output flat',
    needs=("nvidia-binarchive",),
    result="flat/$SYSTEM-$MACHINE/$VARIANT",
)

FETCH = (
    ours(),
    _MOST_WRITTEN,
    curl_and_tar(0),
    _PIPELINE,
    _NVIDIA,
    Way(
        name="aria2c -x8; sha256sum -c; XZ_DEFAULTS=-T0 tar -xJf",
        line='aria2c -q -x8 -s8 --file-allocation=none -o "$FILE" "$URL";'
        f' {_CHECK}; XZ_DEFAULTS=-T0 tar -xJf "$FILE"',
        needs=("aria2c", "xz"),
    ),
    unpacker("bsdtar -xf", 'bsdtar -xf "$FILE"', needs="bsdtar", archive="xz"),
    Way(
        name="uv pip install (the wheel)",
        line='uv -q pip install --no-deps --no-cache --target site "$WHEEL"',
        needs=("uv",),
        result="site/nvidia/$COMPONENT",
        gives="wheel",
    ),
    CURL_ALONE,
    XZ_ALONE,
)
FAST = (
    replace(_OURS_FAST, line=f'PYTHONPATH="$LZMA_MT" {_OURS_FAST.line}', needs=("lzma-mt",)),
    ours(),
    _MOST_WRITTEN,
    _PIPELINE,
    _NVIDIA,
)
ZIP = (
    ours(archive="zip"),
    unpacker("unzip -q", 'unzip -q "$FILE"', needs="unzip", archive="zip"),
    unpacker("bsdtar -xf", 'bsdtar -xf "$FILE"', needs="bsdtar", archive="zip"),
)
ZIP_FILE = (
    ours("ours, from a directory", archive="zip", source="$REDIST"),
    local("unzip -q", 'unzip -q "$LOCAL"', needs=("unzip",), archive="zip"),
    local("bsdtar -xf", 'bsdtar -xf "$LOCAL"', needs=("bsdtar",), archive="zip"),
)
ZST = (
    ours(archive="zst"),
    unpacker("zstd -dc | tar -x", 'zstd -qdc "$FILE" | tar -x', needs="zstd", archive="zst"),
    Way(
        name="curl | tee >(sha256sum) | zstd -dc | tar -x",
        line=f"{_STREAM} | zstd -qdc | tar -x",
        needs=("curl", "zstd"),
        archive="zst",
    ),
)
ZST_FILE = (
    ours("ours, from a directory", archive="zst", source="$REDIST"),
    local("zstd -dc | tar -x", 'zstd -qdc "$LOCAL" | tar -x', needs=("zstd",), archive="zst"),
)
MEMORY = (ours("ours, this archive"), ours("ours, the small archive", archive="small xz"))
DURABLE = (ours(), ours("ours --durable", options="--durable"))
NO_OP = (
    bare(
        "ours, installed already", 'cudnn-redist fetch "$LABEL" $CHOICE --root "$SHARED/root" --no-progress'
    ),
    bare("ours where", 'cudnn-redist where "$LABEL" $CHOICE --root "$SHARED/root"'),
    bare("ours --version", "cudnn-redist --version"),
    bare("python -c pass", "python -c pass"),
    bare('python -c "import httpx"', 'python -c "import httpx"'),
)
VERIFY = (
    bare("ours verify", 'cudnn-redist verify "$LABEL" $CHOICE --root "$SHARED/root" --no-progress'),
    bare(
        "limit: openssl dgst -sha256 of every file, one a core",
        'find "$SHARED/root" -type f -print0 | xargs -0 -n1 -P"$(nproc)" openssl dgst -sha256 >digests',
        needs=("openssl",),
    ),
    bare(
        "sha256sum of every file, one a core",
        'find "$SHARED/root" -type f -print0 | xargs -0 -n1 -P"$(nproc)" sha256sum >digests',
    ),
)


def by_threads(cores: int) -> tuple[Way, ...]:
    """Return ours and the shell line with 1, 2, 4, ... threads, as far as there are ``cores``."""
    powers = [1 << exponent for exponent in range(cores.bit_length())]
    counts = powers if powers[-1] == cores else [*powers, cores]
    counted = [
        (ours(f"ours --threads {count}", options=f"--threads {count}"), curl_and_tar(count))
        for count in counts
    ]
    return tuple(way for pair in counted for way in pair)
