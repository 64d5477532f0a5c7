"""Where a source keeps a product: redist folders as URLs, and paths joined to them. No source is asked.

A source is the text a user gives: an HTTP root, a ``file:`` URL or a directory. It holds a product's manifests in
one of two places: in the source itself (``https://mirror/redist/``), or, when it is laid out like NVIDIA's root,
in ``<product>/redist/`` below it.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit, urlunsplit

from .errors import ManifestError, UsageError

__all__ = [
    "CHANNELS_BELOW",
    "NVIDIA_CHANNELS",
    "NVIDIA_ROOT",
    "Folder",
    "channel_folder",
    "folders",
    "is_local",
    "is_relative",
    "local_path",
    "redacted",
]

NVIDIA_ROOT = "https://developer.download.nvidia.com/compute/"

NVIDIA_CHANNELS = "https://packages.nvidia.com/"
"""The content-addressed server, which nvidia-binarchive 0.7.0 names."""

CHANNELS_BELOW = "bin-archive/release/"
"""Where such a server lists its channels."""

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
        return is_local(self.url)

    @property
    def index_url(self) -> str:
        """The URL that lists the folder."""
        return self._with_query(self.url)

    def join(self, relative_path: str) -> str:
        """Resolve a manifest's path against this folder, as a browser would.

        NVIDIA's newer tree climbs (``../../../pool/...``), so climbing is legal as long as scheme and host stay.
        Raises ``ManifestError`` for a path that is absolute, names a host, or leaves a directory source.
        """
        if not is_relative(relative_path):
            raise ManifestError(
                f"path {relative_path!a:.200} is not relative to the manifest",
                phase="plan",
                where=redacted(self.url),
            )
        url = urljoin(self.url, quote(relative_path, safe=_UNRESERVED_IN_PATH))
        if self.local and not _is_below(url, self.tree):
            raise ManifestError(f"path {relative_path!r} leaves the source", phase="plan", where=self.tree)
        return self._with_query(url)

    def _with_query(self, url: str) -> str:
        return f"{url}?{self.query}" if self.query else url


def folders(source: str, product: str) -> tuple[Folder, ...]:
    """Return the places in ``source`` that may hold ``product``'s manifests, likeliest first.

    Raises ``UsageError`` for a source that is neither an HTTP URL, a ``file:`` URL nor a directory path.
    """
    tree, query = _tree(source)
    itself = Folder(url=tree, tree=tree, query=query)
    below = Folder(url=urljoin(tree, f"{product}/redist/"), tree=tree, query=query)
    if tree == NVIDIA_ROOT:
        return (below,)
    if posixpath.basename(tree.rstrip("/")) == "redist":
        return (itself,)
    return (itself, below)


def channel_folder(source: str, product: str = "") -> Folder:
    """Return where a content-addressed ``source`` lists its channels, or the releases of a ``product``.

    Raises ``UsageError`` as ``folders`` does.
    """
    tree, query = _tree(source)
    below = urljoin(tree, CHANNELS_BELOW + (f"{product}/" if product else ""))
    return Folder(url=below, tree=tree, query=query)


def redacted(url: str) -> str:
    """Return ``url`` fit for a message, a log or a record: no user name, password or query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"{url.partition(':')[0]}://..."
    if not parts.scheme or not (parts.netloc or parts.query):
        return url
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_local(url: str) -> bool:
    """Whether a URL names something on this machine."""
    return url.startswith("file:")


def is_relative(path: str) -> bool:
    """Whether a path names no host, scheme or root of its own; it may climb."""
    try:
        parts = urlsplit(path)
    except ValueError:
        return False
    decoded = unquote(path)
    absolute = parts.scheme or parts.netloc or path.startswith("/")
    return not absolute and "\\" not in decoded and decoded.isprintable()


def local_path(url: str) -> Path:
    """Return the path a ``file:`` URL names on this machine; with a host, a share of Windows."""
    parts = urlsplit(url)
    share = f"//{parts.netloc}" if parts.netloc not in ("", "localhost") else ""
    # Its module brings a whole HTTP client along, which only a file: URL has to pay for.
    from urllib.request import url2pathname

    return Path(url2pathname(share + parts.path))


def _tree(source: str) -> tuple[str, str]:
    """Return the URL of a source, which ends in a slash, and the query that goes along with every request."""
    parts = _parsed(source)
    path = parts.path if parts.path.endswith("/") else parts.path + "/"
    return urlunsplit((parts.scheme, parts.netloc, path, "", "")), parts.query


def _parsed(source: str) -> SplitResult:
    if not source.strip() or "\0" in source:
        raise UsageError("an empty or unreadable source; give http(s)://, file: or a directory")
    scheme, colon, _ = source.strip().partition(":")
    scheme = scheme.lower() if colon else ""
    if scheme in ("http", "https"):
        return _web(source.strip())
    if scheme == "file":
        return _directory(_named_directory(source.strip()))
    if "://" in source:
        raise UsageError(
            f"{scheme}: is no kind of source; give http(s)://, file: or a directory", where=redacted(source)
        )
    return _directory(source)


def _web(source: str) -> SplitResult:
    try:
        parts = urlsplit(source)
        usable = bool(parts.hostname) and parts.port != 0
        # As a browser would send them: other programs, to which these URLs are handed on, take no blank.
        path = quote(parts.path, safe=_UNRESERVED_IN_PATH, errors="surrogateescape")
        query = quote(parts.query, safe=f"{_UNRESERVED_IN_PATH}?", errors="surrogateescape")
    except ValueError:
        usable = False
    if not usable:
        # The URL itself is not quoted: where it cannot be read, nobody knows which part of it is a password.
        raise UsageError(
            "a source URL needs a host and may name a port, as in https://mirror:8443/redist/; "
            "special characters in a login must be percent-encoded"
        )
    return parts._replace(path=path, query=query)


def _directory(path: str | Path) -> SplitResult:
    """Return the ``file:`` URL of a directory; joining treats ``..`` as text, which is wrong behind a link."""
    try:
        return urlsplit(Path(os.path.realpath(path)).as_uri())
    except OSError as error:
        raise UsageError(
            "counts from the working directory, which is gone", phase="source", where=path
        ) from error


def _named_directory(url: str) -> Path:
    try:
        host = urlsplit(url).netloc
    except ValueError:
        host = "?"
    if host not in ("", "localhost") and (os.name != "nt" or host == "?"):
        raise UsageError("a file: URL has no host here; write file:///path", where=redacted(url))
    path = local_path(url)
    if "\0" in str(path):
        raise UsageError("no directory has such a name; write file:///path", where=redacted(url))
    return path


def _is_below(url: str, tree: str) -> bool:
    path = posixpath.normpath(unquote(urlsplit(url).path))
    root = posixpath.normpath(unquote(urlsplit(tree).path))
    return path.startswith(root.rstrip("/") + "/")
