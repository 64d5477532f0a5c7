"""``docker``: one step of a Dockerfile, for every architecture that it is built for."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ..errors import NotAvailableError, UsageError
from .archives import exported, heading, require_one_release, require_web

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..planner import Plan
    from .archives import Exported

__all__ = ["docker_text"]

# https://docs.docker.com/reference/dockerfile/, "Automatic platform ARGs in the global scope"
_ARCHITECTURES = {
    "linux-x86_64": ("amd64",),
    "linux-sbsa": ("arm64",),
    "linux-aarch64": ("arm64",),
    "linux-ppc64le": ("ppc64le",),
    "linux-all": ("amd64", "arm64", "ppc64le"),
    "source": ("amd64", "arm64", "ppc64le"),
}

_TEXT = """\
# @HEADING@.
# A step for a Dockerfile, by BuildKit or Buildah. The image needs curl, CA certificates, tar and xz; the archive stays
# in the builder's cache and out of every layer.
ARG TARGETARCH
ARG @VARIANT@
ARG CUDNN_DIR=@DIRECTORY@
RUN --mount=type=cache,target=/var/cache/cudnn-redist,sharing=locked \\
    set -eu; \\
    cache=/var/cache/cudnn-redist; \\
    case "${TARGETARCH:-}/${CUDNN_VARIANT:-}" in \\
@CASES@    *) echo "no ${TARGETARCH:-}/${CUDNN_VARIANT:-} (TARGETARCH/CUDNN_VARIANT) of @COMPONENT@:@OFFERED@" >&2; \\
        exit 3 ;; \\
    esac; \\
    is_right() { [ -f "$1" ] && [ "$(sha256sum <"$1")" = "$sum  -" ]; }; \\
    if ! is_right "$cache/$sum"; then \\
        for url; do \\
            curl --fail --silent --show-error --location --retry 5 --output "$cache/$sum.part" -- "$url" \\
                && is_right "$cache/$sum.part" && mv "$cache/$sum.part" "$cache/$sum" && break; \\
            rm -f "$cache/$sum.part"; \\
        done; \\
        is_right "$cache/$sum" || { echo "no source gives an archive of sha256 $sum" >&2; exit 5; }; \\
    fi; \\
    mkdir -p "$CUDNN_DIR"; \\
    tar --extract --file "$cache/$sum" --strip-components=1 --no-same-owner --directory "$CUDNN_DIR"; \\
    [ ! -d "$CUDNN_DIR/lib" ] || [ -e "$CUDNN_DIR/lib64" ] || ln -s lib "$CUDNN_DIR/lib64"
ENV CUDNN_PATH=$CUDNN_DIR
"""


def docker_text(plans: Sequence[Plan]) -> str:
    """Return the step: ``TARGETARCH`` and ``CUDNN_VARIANT`` choose, the latter given where there is one alone.

    What is not for Linux is left out. ``UsageError`` for several components or releases, for a source that is no
    server, and where one architecture may mean two platforms; ``NotAvailableError`` where nothing is left.
    """
    archives = tuple(each for each in exported(plans) if each.platform in _ARCHITECTURES)
    if not archives:
        raise NotAvailableError("nothing of this is for Linux, where docker builds", phase="export")
    require_web(archives, "docker")
    require_one_release(archives, "docker")
    components = sorted({archive.component for archive in archives})
    if len(components) > 1:
        raise UsageError(
            f"docker takes one of {', '.join(components)}; choose with --component", phase="export"
        )
    by_key = _by_key(archives)
    variants = {archive.variant for archive in archives}
    named = f"={next(iter(variants)) or ''}" if len(variants) == 1 else ""
    return (
        _TEXT.replace("@HEADING@", heading(archives, "docker"))
        .replace("@VARIANT@", f"CUDNN_VARIANT{named}")
        .replace("@DIRECTORY@", f"/usr/local/{components[0]}")
        .replace("@CASES@", "".join(_case(key, archive) for key, archive in by_key.items()))
        .replace("@COMPONENT@", components[0])
        .replace("@OFFERED@", "".join(f" {key}" for key in by_key))
    )


def _by_key(archives: Sequence[Exported]) -> Mapping[str, Exported]:
    found: dict[str, Exported] = {}
    for archive in archives:
        for architecture in _ARCHITECTURES[archive.platform]:
            key = f"{architecture}/{archive.variant or ''}"
            other = found.setdefault(key, archive)
            if other is not archive:
                raise UsageError(
                    f"{key} may be {other.platform} or {archive.platform}; choose with --platform",
                    phase="export",
                )
    return found


def _case(key: str, archive: Exported) -> str:
    urls = " ".join(map(shlex.quote, archive.urls))
    return f"    {key}) sum={archive.sha256}; set -- {urls} ;; \\\n"
