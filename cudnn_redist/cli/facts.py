"""From the values of the library to JSON: the schema that README documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..manifest.models import Manifest
    from ..planner import Plan, PlannedArchive
    from ..prefix.installed import Prefix

__all__ = ["archive_facts", "manifest_facts", "plan_facts", "prefix_facts", "prefixes_facts"]


def prefixes_facts(prefixes: Iterable[Prefix]) -> dict[str, Any]:
    """Return several prefixes as one object."""
    return {"prefixes": [prefix_facts(prefix) for prefix in prefixes]}


def prefix_facts(prefix: Prefix) -> dict[str, Any]:
    """Return what a program wants to know of a prefix."""
    record = prefix.record
    return {
        "path": str(prefix.path),
        "product": record.product,
        "label": record.label,
        "component": record.component,
        "version": record.version,
        "platform": record.platform,
        "variant": record.variant,
        "include_dir": str(prefix.include_dir),
        "lib_dir": str(prefix.lib_dir),
        "bin_dir": None if prefix.bin_dir is None else str(prefix.bin_dir),
        "archive_sha256": record.archive_sha256,
        "manifest_sha256": record.manifest_sha256,
        "tree": record.tree,
    }


def archive_facts(archive: PlannedArchive) -> dict[str, Any]:
    """Return what a program wants to know of an archive before it is fetched."""
    return {
        "url": archive.urls[0],
        "urls": list(archive.urls),
        "product": archive.product,
        "label": archive.label,
        "component": archive.component,
        "version": archive.version,
        "platform": archive.platform,
        "variant": archive.variant,
        "relative_path": archive.relative_path,
        "sha256": archive.sha256,
        "size": archive.size,
        "prefix": str(archive.prefix),
    }


def plan_facts(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON: what would be fetched, from where, to where, and why."""
    return {
        "product": plan.product,
        "label": plan.label,
        "manifest": {"origin": plan.manifest_origin, "sha256": plan.manifest_sha256},
        "download_size": plan.download_size,
        "disk_size": plan.disk_size,
        "reasons": list(plan.reasons),
        "archives": [archive_facts(archive) for archive in plan.archives],
    }


def manifest_facts(manifest: Manifest) -> dict[str, Any]:
    """Return what one label has: its components and their archives."""
    return {
        "label": None if manifest.label is None else manifest.label.text,
        "product": manifest.product,
        "date": manifest.date,
        "manifest": {"origin": manifest.origin, "sha256": manifest.sha256},
        "components": [
            {
                "component": component.key,
                "name": component.name,
                "version": component.version,
                "license": component.license,
                "archives": [
                    {
                        "platform": archive.platform,
                        "variant": archive.variant_name,
                        "relative_path": archive.relative_path,
                        "sha256": archive.sha256,
                        "size": archive.size,
                    }
                    for archive in component.archives()
                ],
            }
            for component in manifest.components.values()
        ],
    }
