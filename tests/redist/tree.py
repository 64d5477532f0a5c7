"""A redist tree on disk, laid out and described as NVIDIA's: manifests, archives, true sizes and digests.

    <path>/<product>/redist/redistrib_<label>.json
    <path>/<product>/redist/<component>/<platform>/<component>-<platform>-<version>[_<variant>]-archive.<kind>

Nothing is remembered between calls, so several ``RedistTree`` objects (several products, several processes)
may work on one path. The shapes are those of NVIDIA's own manifests.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .archives import pack
from .content import default_content

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .content import Entry

    Content = Callable[[str, str, str, str | None], Mapping[str, Entry]]

Node = dict[str, Any]

PLATFORMS = ("linux-x86_64", "linux-sbsa", "windows-x86_64")
VARIANTS = ("cuda12", "cuda13")
DATE = "2026-09-29"


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What ``add_release`` was asked for, with every default filled in."""

    label: str
    version: str
    variant_versions: Mapping[str, str]
    components: Sequence[str]
    platforms: Sequence[str]
    variants: Sequence[str]
    hybrid: Mapping[str, str]
    date: str
    kind: str | None
    content: Content

    def version_of(self, variant: str | None) -> str:
        return self.variant_versions.get(variant or "", self.version)

    def platforms_of(self, component: str) -> Sequence[str]:
        """Samples are published once, as ``source``, from cuDNN 9 on."""
        return ("source",) if component.endswith("_samples") else self.platforms


class RedistTree:
    """The tree of one product under ``path``, which is what a server serves and a directory source names."""

    def __init__(self, path: Path, product: str = "cudnn") -> None:
        self.path = Path(path)
        self.product = product
        self.redist = self.path / product / "redist"
        self.redist.mkdir(parents=True, exist_ok=True)

    def add_release(
        self,
        label: str = "9.27.0",
        *,
        version: str | None = None,
        variant_versions: Mapping[str, str] | None = None,
        components: Sequence[str] | None = None,
        platforms: Sequence[str] = PLATFORMS,
        variants: Sequence[str] = VARIANTS,
        layout: str | None = None,
        hybrid: Mapping[str, str] | None = None,
        date: str = DATE,
        kind: str | None = None,
        content: Content = default_content,
    ) -> Path:
        """Write a release, archives and all, and return its manifest's path.

        ``layout`` is ``nested`` (platform -> variant -> archive), ``flat`` (one archive a platform; its
        variant, the last of ``variants``, in the file name only) or ``oldest`` (component -> version ->
        platform -> path, no digests). Unless told otherwise, four-part labels are flat, as NVIDIA's are, and
        so is what has ``variants=()``. ``hybrid`` maps a platform to the variant whose flat archive lies
        beside the nested ones (``{"windows-arm64": "cuda13.4"}``). ``kind`` overrides zip for Windows and
        tar.xz elsewhere.
        """
        four_parts = label.count(".") == 3
        release = Release(
            label=label,
            version=version or (label if four_parts else f"{label}.42"),
            variant_versions=variant_versions or {},
            components=components or (self.product,),
            platforms=platforms,
            variants=variants,
            hybrid=hybrid or {},
            date=date,
            kind=kind,
            content=content,
        )
        layout = layout or ("flat" if four_parts or not variants else "nested")
        if layout == "oldest":
            return self._write_manifest(label, self._oldest(release), date)
        manifest: Node = {"release_date": date, "release_label": label, "release_product": self.product}
        for component in release.components:
            manifest[component] = self._component(release, component, nested=layout == "nested")
        return self._write_manifest(label, manifest, date)

    def manifest_path(self, label: str) -> Path:
        return self.redist / f"redistrib_{label}.json"

    def manifest(self, label: str) -> Node:
        """Return the manifest as parsed JSON."""
        parsed: Node = json.loads(self.manifest_path(label).read_bytes())
        return parsed

    def edit_manifest(self, label: str, edit: Callable[[Node], object]) -> Path:
        """Let ``edit`` change the parsed manifest in place, and write it back in NVIDIA's formatting."""
        manifest = self.manifest(label)
        edit(manifest)
        return self._write_manifest(label, manifest, manifest.get("release_date", DATE))

    def archive_path(
        self,
        label: str,
        component: str = "cudnn",
        platform: str = "linux-x86_64",
        variant: str | None = "cuda13",
    ) -> Path:
        """Return where an archive lies; ``variant=None`` means the flat one."""
        entry = _entry(self.manifest(label), component, platform, variant)
        return self.redist / (entry if isinstance(entry, str) else entry["relative_path"])

    def replace_archive(
        self,
        data: bytes,
        label: str,
        component: str = "cudnn",
        platform: str = "linux-x86_64",
        variant: str | None = "cuda13",
        *,
        update_manifest: bool = False,
    ) -> Path:
        """Put other bytes in an archive's place; the manifest promises the old ones unless updated too."""
        path = self.archive_path(label, component, platform, variant)
        manifest = self.manifest(label)
        _write(path, data, manifest.get("release_date", DATE))
        if update_manifest:
            entry = _entry(manifest, component, platform, variant)
            entry.update(_digests(data))
            self._write_manifest(label, manifest, manifest.get("release_date", DATE))
        return path

    def _component(self, release: Release, component: str, *, nested: bool) -> Node:
        node: Node = {
            "name": f"NVIDIA {component} (test)",
            "license": self.product,
            "license_path": f"{component}/LICENSE.txt",
            "version": release.version,
        }
        for platform in release.platforms_of(component):
            if not nested or platform == "source":
                variant = None if platform == "source" else next(iter(release.variants[-1:]), None)
                node[platform] = self._archive(release, component, platform, variant)
                continue
            node[platform] = {
                variant: self._archive(release, component, platform, variant) for variant in release.variants
            }
            if platform in release.hybrid:
                node[platform] |= self._archive(release, component, platform, release.hybrid[platform])
            # NVIDIA's list of variants comes after the first platform.
            node.setdefault("cuda_variant", [variant.removeprefix("cuda") for variant in release.variants])
        return node

    def _archive(self, release: Release, component: str, platform: str, variant: str | None) -> Node:
        version = release.version_of(variant)
        kind = release.kind or ("zip" if platform.startswith("windows-") else "tar.xz")
        suffix = f"_{variant}" if variant else ""
        top = f"{component}-{platform}-{version}{suffix}-archive"
        data = pack(kind, top, release.content(component, platform, version, variant))
        relative = f"{component}/{platform}/{top}.{kind}"
        _write(self.redist / relative, data, release.date)
        return {"relative_path": relative} | _digests(data)

    def _oldest(self, release: Release) -> Node:
        manifest: Node = {}
        for component in release.components:
            paths: Node = {}
            for platform in release.platforms_of(component):
                top = f"{component}-{platform}-{release.version}"
                data = pack("tar.gz", top, release.content(component, platform, release.version, None))
                paths[platform] = f"{component}/{platform}/{top}.tar.gz"
                _write(self.redist / paths[platform], data, release.date)
            manifest[component] = {release.version: paths | {"release_date": release.date}}
        return manifest

    def _write_manifest(self, label: str, manifest: Node, date: str) -> Path:
        oldest = "release_date" not in manifest
        # The oldest files are written with three blanks and a blank before the colon; none ends in a newline.
        text = json.dumps(manifest, indent=3 if oldest else 4, separators=(",", " : ") if oldest else None)
        path = self.manifest_path(label)
        _write(path, text.encode(), date)
        return path


def _entry(manifest: Node, component: str, platform: str, variant: str | None) -> Any:  # noqa: ANN401  parsed JSON
    node = manifest[component]
    if platform not in node:
        node = next(value for value in node.values() if isinstance(value, dict) and platform in value)
    found = node[platform]
    return found[variant] if variant is not None and variant in found else _flat(found, variant)


def _flat(found: Any, variant: str | None) -> Any:  # noqa: ANN401  parsed JSON
    path = found if isinstance(found, str) else found["relative_path"]
    if variant is not None and f"_{variant}-" not in path:
        raise KeyError(variant)
    return found


def _digests(data: bytes) -> dict[str, str]:
    return {
        "sha256": hashlib.sha256(data).hexdigest(),
        "md5": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        "size": str(len(data)),
    }


def _write(path: Path, data: bytes, date: str) -> None:
    """Write by rename, so that a server that has the old file open goes on with the old bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_bytes(data)
    when = datetime.fromisoformat(date).replace(hour=16, tzinfo=UTC).timestamp()
    os.utime(fresh, (when, when))
    fresh.replace(path)
