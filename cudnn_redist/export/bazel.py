"""For Bazel: repositories of archives, and the tables that two rule sets for CUDA read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..locations import redacted
from .archives import exported, heading, one_word, require_one_release
from .starlark import Variable, call, value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..planner import Plan
    from .archives import Exported

__all__ = ["bazel_text", "hermetic_text", "rules_cuda_text"]

_ARCHIVES = """\
# @HEADING@.
#
# For MODULE.bazel. The BUILD file loads @rules_cc, so the module needs a bazel_dep on it; targets are
# @REPOSITORY@//:@TARGET@ (to link) and @REPOSITORY@//:all_files.

http_archive = use_repo_rule("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")
"""

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

filegroup(
    name = "all_files",
    srcs = glob(["**"]),
)

cc_library(
    name = "@TARGET@",
    srcs = glob(
        ["lib/*.so", "lib/*.so.*", "lib/**/*.lib", "bin/**/*.dll"],
        allow_empty = True,
    ),
    hdrs = glob(
        ["include/**"],
        allow_empty = True,
    ),
    includes = ["include"],
)
"""

_RULES_CUDA = """\
# @HEADING@.
#
# For MODULE.bazel, with rules_cuda. It reads manifests by redist_json where they know no CUDA variants; archives with
# variants are components by themselves.

cuda = use_extension("@rules_cuda//cuda:extensions.bzl", "toolchain")
"""

_HERMETIC = """\
# @HEADING@.
#
# For rules_ml_toolchain (XLA, JAX, TensorFlow): *_REDISTRIBUTIONS goes to *_redist_init_repository, *_REDIST_JSON_DICT
# to *_json_init_repository.
"""


def bazel_text(plans: Sequence[Plan]) -> str:
    """Return ``http_archive`` calls for MODULE.bazel, each with its integrity and a BUILD file."""
    archives = exported(plans)
    require_one_release(archives, "bazel")
    first = archives[0]
    text = _ARCHIVES.replace("@HEADING@", heading(archives, "bazel")).replace("@TARGET@", first.component)
    parts = [text.replace("@REPOSITORY@", f"@{first.identifier}")]
    for component in dict.fromkeys(archive.component for archive in archives):
        content = _BUILD.replace("@TARGET@", component)
        parts.append(f'{_build_name(component).name} = """{content}"""\n')
    for archive in archives:
        arguments = _download(archive, name=archive.identifier)
        build = _build_name(archive.component)
        parts.append(call("http_archive", {**arguments, "build_file_content": build}))
    return "\n".join(parts)


def rules_cuda_text(plans: Sequence[Plan]) -> str:
    """Return ``redist_json`` and ``component`` tags of rules_cuda (its ``cuda/extensions.bzl``)."""
    archives = exported(plans)
    require_one_release(archives, "rules-cuda")
    parts = [_RULES_CUDA.replace("@HEADING@", heading(archives, "rules-cuda"))]
    parts += [call("cuda.redist_json", tag) for plan in plans for tag in _redist_json(plan)]
    for archive in archives:
        if archive.variant is not None:
            arguments = _download(archive, name=archive.identifier, component_name=archive.component)
            parts.append(call("cuda.component", {**arguments, "version": archive.version}))
    return "\n".join(parts)


def hermetic_text(plans: Sequence[Plan]) -> str:
    """Return the dictionaries of rules_ml_toolchain (its ``gpu/nvidia_common_rules.bzl``)."""
    archives = exported(plans)
    require_one_release(archives, "rules-ml-toolchain")
    parts = [_HERMETIC.replace("@HEADING@", heading(archives, "rules-ml-toolchain"))]
    for product in dict.fromkeys(archive.product for archive in archives):
        name = product.replace("-", "_").upper()
        manifests = {
            plan.label: [redacted(plan.manifest_origin), plan.manifest_sha256]
            for plan in plans
            if plan.product == product and ":" in plan.manifest_origin
        }
        if manifests:
            parts.append(f"{name}_REDIST_JSON_DICT = {value(manifests)}\n")
        table = _table(archive for archive in archives if archive.product == product)
        parts.append(f"{name}_REDISTRIBUTIONS = {value(table)}\n")
    return "\n".join(parts)


def _build_name(component: str) -> Variable:
    return Variable(f"_BUILD_OF_{one_word(component).upper()}")


def _download(archive: Exported, **names: str) -> dict[str, object]:
    return {
        **names,
        "integrity": archive.integrity,
        "strip_prefix": archive.top_folder,
        "urls": archive.urls,
    }


def _redist_json(plan: Plan) -> Iterator[dict[str, object]]:
    """Yield the tag of a manifest that knows no variants, where anybody knows its URL."""
    components = sorted({archive.component for archive in plan.archives if archive.variant is None})
    if components and ":" in plan.manifest_origin:
        yield {
            "name": f"{plan.product}_{plan.label.replace('.', '_')}_redist_json",
            "components": components,
            "sha256": plan.manifest_sha256,
            "urls": [redacted(plan.manifest_origin)],
            "version": plan.label,
        }


def _table(archives: Iterator[Exported]) -> dict[str, Any]:
    """Return component -> platform [-> variant] -> where it is and what it must be."""
    table: dict[str, Any] = {}
    for archive in archives:
        facts = {
            "full_path": archive.urls[0],
            "sha256": archive.sha256,
            "strip_prefix": archive.top_folder,
        }
        platforms = table.setdefault(archive.component, {})
        if archive.variant is None:
            platforms.setdefault(archive.platform, {}).update(facts)
        else:
            platforms.setdefault(archive.platform, {})[archive.variant] = facts
    return table
