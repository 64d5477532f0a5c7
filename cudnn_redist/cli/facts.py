"""From the values of the library to JSON: the schema that README documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..locations import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..manifest.models import Manifest
    from ..planner import Plan, PlannedArchive
    from ..prefix.installed import Prefix

__all__ = ["dry_run_facts", "manifest_facts", "plan_facts", "prefix_facts", "prefixes_facts"]


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
        "parts": list(record.parts),
        "disk_saved": record.disk_saved,
        "include_dir": str(prefix.include_dir),
        "lib_dir": str(prefix.lib_dir),
        "bin_dir": None if prefix.bin_dir is None else str(prefix.bin_dir),
        "archive_sha256": record.archive_sha256,
        "manifest_sha256": record.manifest_sha256,
        "tree": record.tree,
    }


def _archive_facts(archive: PlannedArchive) -> dict[str, Any]:
    urls = [redacted(url) for url in archive.urls]
    return {
        "url": urls[0],
        "urls": urls,
        "product": archive.product,
        "label": archive.label,
        "component": archive.component,
        "version": archive.version,
        "platform": archive.platform,
        "variant": archive.variant,
        "parts": list(archive.parts),
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
        "archives": [_archive_facts(archive) for archive in plan.archives],
    }


def dry_run_facts(plan: Plan, present: Sequence[bool]) -> dict[str, Any]:
    """Return a plan whose sizes count only what is not ``present`` yet."""
    facts = plan_facts(plan)
    missing = [archive for archive, there in zip(plan.archives, present, strict=True) if not there]
    left = replace(plan, archives=tuple(missing))
    for archive, there in zip(facts["archives"], present, strict=True):
        archive["present"] = there
    return {**facts, "download_size": left.download_size, "disk_size": left.disk_size}


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
