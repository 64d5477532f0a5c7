"""Hypothesis strategies for what a publisher or a stranger may send: manifests, index pages and archives."""

from __future__ import annotations

import html
import tarfile
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st
from manifest.samples import component, entry, release
from unpack.building import Entry, file, folder, hard_link, link

__all__ = ["ENTRIES", "LABELS", "TAR_FORMATS", "Published", "labels_and_page", "published", "trees"]

LABELS = st.lists(st.integers(0, 10**10 - 1), min_size=1, max_size=5).map(
    lambda parts: ".".join(map(str, parts))
)
TAR_FORMATS = st.sampled_from((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))

# Manifests

_PLATFORMS = (
    "linux-x86_64",
    "linux-sbsa",
    "linux-aarch64",
    "windows-x86_64",
    "windows-arm64",
    "source",
    "linux-all",
    "qnx",
)
_VARIANTS = ("cuda11", "cuda12", "cuda13", "cuda13.4")
_COMPONENTS = ("cudnn", "cudnn_jit", "cudnn_samples", "fabricmanager")
_UNKNOWN = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.integers(), max_size=2)
)


@dataclass(frozen=True, kw_only=True)
class Published:
    """A manifest as JSON, and the archives in it: component, platform, variant key, path."""

    document: dict[str, Any]
    archives: frozenset[tuple[str, str, str | None, str]]


@st.composite
def published(draw: st.DrawFn) -> Published:
    """Draw a manifest in NVIDIA's shapes: flat, nested and both at once, with unknown fields, in any order."""
    archives = set()
    components = {}
    for name in draw(st.lists(st.sampled_from(_COMPONENTS), min_size=1, unique=True)):
        platforms = {}
        for platform in draw(st.lists(st.sampled_from(_PLATFORMS), min_size=1, max_size=4, unique=True)):
            keys = draw(st.lists(st.none() | st.sampled_from(_VARIANTS), min_size=1, max_size=3, unique=True))
            paths = {key: f"{name}/{platform}/{name}-{platform}-1.2.3_{key}-archive.tar.xz" for key in keys}
            node: dict[str, Any] = {key: entry(path) for key, path in paths.items() if key}
            node |= entry(paths[None]) if None in paths else {}
            archives |= {(name, platform, key, path) for key, path in paths.items()}
            platforms[platform] = dict(draw(st.permutations(list(node.items()))))
        unknown = {
            f"x-{key}": value for key, value in draw(st.dictionaries(LABELS, _UNKNOWN, max_size=2)).items()
        }
        node = component("1.2.3", **platforms, **unknown)
        components[name] = dict(draw(st.permutations(list(node.items()))))
    document = release(draw(LABELS), **components)
    return Published(
        document=dict(draw(st.permutations(list(document.items())))), archives=frozenset(archives)
    )


# Index pages

_BETWEEN = st.sampled_from(
    [
        "",
        "\n",
        "<br>",
        "text &lt; &amp;",
        "<img src='a' alt=x>",
        "<!-- <a href='redistrib_1.1.1.json'> -->",
        "<a>no target</a>",
        "<a name=x>",
        "<abbr href='redistrib_1.1.1.json'>",
        "<![CDATA[x]]>",
        "<?php ?>",
        "</a>",
    ]
)


@st.composite
def labels_and_page(draw: st.DrawFn) -> tuple[list[str], str]:
    """Draw labels, and a page with a link to the manifest of each; what follows the last link may be broken."""
    labels = draw(st.lists(LABELS, max_size=5))
    page = ""
    for label in labels:
        name = f"redistrib_{label}.json"
        folder = draw(st.sampled_from(["", "./", "/a/b/", "https://mirror.example/c/"]))
        target = folder + draw(
            st.sampled_from([name, quote(name), name.replace("_", "%5f"), f"{name}?a=b&c#d"])
        )
        mark = draw(st.sampled_from(['"', "'", ""]))
        tag = draw(st.sampled_from(["a", "A"])) + draw(
            st.sampled_from([" ", "\n", " class='x' ", " download "])
        )
        page += f"{draw(_BETWEEN)}<{tag}href{draw(st.sampled_from(['=', ' = ']))}{mark}{html.escape(target)}{mark}>"
    return labels, page + draw(_BETWEEN) + draw(
        st.just("") | st.sampled_from(["<!-- ", "<a href='", "<![", "<script> "])
    )


# Archives

_PART = st.sampled_from(["a", "b", "lib", "x.so", "\u00e9", "long-" * 30])
_PATHS = st.lists(_PART, min_size=1, max_size=3).map("/".join)
_ODD_PATHS = st.lists(
    _PART | st.sampled_from(["..", ".", "", "a\\b", "C:", "\n", "\udcff", "n" * 256, "nul"]), max_size=4
).map("/".join)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Entry, ...]:
    """Draw the members of a sound archive: files below one folder, then links to some of them."""
    paths = draw(st.lists(_PATHS, min_size=1, max_size=5, unique=True))
    files = [path for path in paths if not any(other.startswith(f"{path}/") for other in paths)]
    entries = [
        file(f"top/{path}", draw(st.binary(max_size=700)), draw(st.sampled_from([0o644, 0o755, 0o400])))
        for path in files
    ]
    for number, path in enumerate(draw(st.lists(st.sampled_from(files), max_size=3))):
        entries.append(link(f"top/l{number}", path))
    return (folder("top"), *entries)


_MEMBERS = st.one_of(
    st.builds(file, _ODD_PATHS, st.binary(max_size=20)),
    st.builds(folder, _ODD_PATHS),
    st.builds(link, _ODD_PATHS, _ODD_PATHS),
    st.builds(hard_link, _ODD_PATHS, _ODD_PATHS),
)
ENTRIES = st.lists(_MEMBERS, min_size=1, max_size=5)
"""Members of every kind with names good and bad, most of them not fit to stand beside one another."""
