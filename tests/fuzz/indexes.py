"""The reader of index pages."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory  # noqa: TID251 - the ban is for what the product writes
from urllib.parse import urlsplit

from fuzz.target import Subject, Target
from redist.indexes import index_page

from cudnn_redist.manifest import ReleaseLabel, label_of
from cudnn_redist.source.index import labels_of_page

__all__ = ["TARGET", "check", "labels"]

KNOWN = ReleaseLabel.parse("1234.5.6")


def labels(data: bytes) -> tuple[ReleaseLabel, ...]:
    return labels_of_page(data.decode("utf-8", "replace"))


def check(data: bytes, labels: Subject = labels) -> None:
    """Whatever the page, links before it count, what is in a comment does not, and the newest comes last."""
    found = labels(data)
    assert list(found) == sorted(set(found))
    assert all(label_of(label.manifest_name) == label for label in found)
    assert labels(_page(found)) == found
    assert set(labels(_page((KNOWN,)) + data)) == {KNOWN, *found}
    assert labels(b"<!-- " + data.replace(b"-", b" ") + b" -->") == ()


def _page(found: tuple[ReleaseLabel, ...]) -> bytes:
    return "".join(f'<a href="{label.manifest_name}">x</a>\n' for label in found).encode()


def seeds() -> list[bytes]:
    with TemporaryDirectory() as folder:
        for label in ("9.1.1", "9.9.0", "9.27.0"):
            Path(folder, f"redistrib_{label}.json").touch()
        dialects = ("nvidia", "nginx", "apache", "python")
        pages = [index_page(dialect, Path(folder), "/cudnn/redist/").encode() for dialect in dialects]
    return [
        *pages,
        _page((ReleaseLabel.parse("9.1.1"), ReleaseLabel.parse("9.2.0"))),
        b'<A class=x HREF=redistrib&#95;9.27.0.json?a#b title="x>y">x</A>',
        b"<!-- <a href='redistrib_9.1.1.json'> --><a href='http://[::1]/redistrib%5F9.2.0.json'>",
        b"<script>'<a href=redistrib_9.1.1.json>'</script><![CDATA[ <? > ]]><br/><a / href = x>",
    ]


def _unguarded(data: bytes) -> tuple[ReleaseLabel, ...]:
    for target in re.findall(r'href="([^"]*)"', data.decode("utf-8", "replace")):
        urlsplit(target)
    return labels(data)


def _by_text(data: bytes) -> tuple[ReleaseLabel, ...]:
    return tuple(sorted(labels(data), key=str))


TARGET = Target(
    name="index",
    subject=labels,
    check=check,
    seeds=seeds,
    planted={
        "a target that is no URL leaks urllib's error": _unguarded,
        "labels are ordered as text": _by_text,
    },
    words=(
        *(
            b'<a href="',
            b"<a ",
            b"href=",
            b"redistrib_",
            b"9.10.0.json",
            b"<!--",
            b"-->",
            b"<script>",
            b"</script>",
        ),
        *(b"http://[", b"//", b"%5f", b"&#95;", b"&quot;", b"<![", b"<?", b"?a#b", b"../"),
    ),
)
