"""Where a source keeps a product: redist folders as URLs, and paths joined to them. Pure.

A source is the text a user gives: an HTTP root, a ``file:`` URL or a directory. It holds a product's manifests in
one of two places: in the source itself (``https://mirror/redist/``), or, when it is laid out like NVIDIA's root,
in ``<product>/redist/`` below it.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit, urlunsplit
from urllib.request import url2pathname

from .errors import ManifestError, UsageError

__all__ = ["NVIDIA_ROOT", "Folder", "folders", "local_path", "redacted"]

NVIDIA_ROOT = "https://developer.download.nvidia.com/compute/"

_UNRESERVED_IN_PATH = "/%:@!$&'()*+,;=~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One place that may hold a product's manifests.

    ``url`` ends in a slash (a query the user gave, such as an access token, is kept apart and goes along with
    every request); ``tree`` is the source itself: a path below a directory source never leaves it.
    """

    url: str
    tree: str
    query: str = ""

    @property
    def local(self) -> bool:
        """Whether this is a directory of this machine."""
        return self.url.startswith("file:")

    def join(self, relative_path: str) -> str:
        """Resolve a manifest's path against this folder, as a browser would.

        NVIDIA's newer tree climbs (``../../../pool/...``), so climbing is legal as long as scheme and host stay.
        Raises ``ManifestError`` for a path that is absolute, names a host, or leaves a directory source.
        """
        parts = urlsplit(relative_path)
        if parts.scheme or parts.netloc or relative_path.startswith("/") or "\\" in relative_path:
            raise ManifestError(
                f"path {relative_path!r} is not relative to the manifest", phase="plan", where=self.url
            )
        url = urljoin(self.url, quote(relative_path, safe=_UNRESERVED_IN_PATH))
        if self.local and not _is_below(url, self.tree):
            raise ManifestError(f"path {relative_path!r} leaves the source", phase="plan", where=self.tree)
        return f"{url}?{self.query}" if self.query else url


def folders(source: str, product: str) -> tuple[Folder, ...]:
    """Return the places in ``source`` that may hold ``product``'s manifests, likeliest first.

    Raises ``UsageError`` for a source that is neither an HTTP URL, a ``file:`` URL nor a directory path.
    """
    parts = _parsed(source)
    path = parts.path if parts.path.endswith("/") else parts.path + "/"
    tree = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    itself = Folder(url=tree, tree=tree, query=parts.query)
    below = Folder(url=urljoin(tree, f"{product}/redist/"), tree=tree, query=parts.query)
    if tree == NVIDIA_ROOT:
        return (below,)
    if posixpath.basename(path.rstrip("/")) == "redist":
        return (itself,)
    return (itself, below)


def redacted(url: str) -> str:
    """Return ``url`` fit for a message, a log or a record: no user name, password or query."""
    parts = urlsplit(url)
    if not parts.scheme or not (parts.netloc or parts.query):
        return url
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def local_path(url: str) -> Path:
    """Return the path a ``file:`` URL names on this machine."""
    return Path(url2pathname(urlsplit(url).path))


def _parsed(source: str) -> SplitResult:
    scheme = urlsplit(source).scheme.lower()
    if scheme in ("http", "https"):
        parts = urlsplit(source)
        if not parts.hostname:
            raise UsageError("a source URL needs a host", where=redacted(source))
        return parts
    if scheme == "file":
        return urlsplit(local_path(source).absolute().as_uri())
    if "://" in source:
        raise UsageError(
            f"{scheme}: is no kind of source; give http(s)://, file: or a directory", where=source
        )
    return urlsplit(Path(source).absolute().as_uri())


def _is_below(url: str, tree: str) -> bool:
    path = posixpath.normpath(unquote(urlsplit(url).path))
    root = posixpath.normpath(unquote(urlsplit(tree).path))
    return path.startswith(root.rstrip("/") + "/")
