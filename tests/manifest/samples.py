"""Small manifests of our own in every shape that NVIDIA's have, as the bytes that a server would send."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from cudnn_redist.manifest import CudaVariant, Manifest, Platform, Query, ReleaseLabel

Json = dict[str, Any]


def entry(relative_path: str) -> Json:
    """One archive with digests that depend on its path, spelled as NVIDIA does."""
    name = relative_path.encode()
    return {
        "relative_path": relative_path,
        "sha256": hashlib.sha256(name).hexdigest(),
        "md5": hashlib.md5(name, usedforsecurity=False).hexdigest(),
        "size": str(1000 + len(name)),
    }


def path(component: str, platform: str, version: str, variant: str = "", ext: str = "tar.xz") -> str:
    suffix = f"_{variant}" if variant else ""
    return f"{component}/{platform}/{component}-{platform}-{version}{suffix}-archive.{ext}"


def flat(component: str, platform: str, version: str, variant: str = "", ext: str = "tar.xz") -> Json:
    return entry(path(component, platform, version, variant, ext))


def nested(component: str, platform: str, version: str, *variants: str) -> Json:
    return {variant: flat(component, platform, version, variant) for variant in variants}


def component(version: str, **rest: Any) -> Json:  # noqa: ANN401 - platforms and odd fields alike
    return {"name": "A library", "license": "cudnn", "version": version, **rest}


def release(label: str, **components: Any) -> Json:  # noqa: ANN401 - components and odd fields alike
    return {
        "release_date": "2026-09-29",
        "release_label": label,
        "release_product": "cudnn",
        **components,
    }


def parsed(document: Json, *, origin: str = "redistrib.json", label: str | None = None) -> Manifest:
    asked = ReleaseLabel.parse(label) if label else None
    return Manifest.parse(json.dumps(document).encode(), origin=origin, label=asked)


def ask(
    platform: str | tuple[str, ...] = "linux-x86_64",
    cuda: str | None = None,
    *,
    component: str | None = None,
    runnable: str | None = None,
    version: str | None = None,
) -> Query:
    platforms = (platform,) if isinstance(platform, str) else platform
    return Query(
        component=component,
        platforms=tuple(Platform(name) for name in platforms),
        platform_reason="given",
        cuda=CudaVariant.asked(cuda) if cuda else None,
        cuda_reason="given" if cuda else "no toolkit found",
        runnable=CudaVariant.asked(runnable) if runnable else None,
        version=ReleaseLabel.parse(version) if version else None,
    )


def modern(label: str = "9.27.0", version: str = "9.27.0.42") -> Json:
    """Nested, a hybrid platform, a component on two platforms, a flat one for every host (cudnn 9.27.0)."""
    hybrid = nested("cudnn", "windows-arm64", version, "cuda13") | flat(
        "cudnn", "windows-arm64", version, "cuda13.4", "zip"
    )
    both = ("cuda12", "cuda13")
    return release(
        label,
        cudnn={
            "name": "A library",
            "version": version,
            "linux-x86_64": nested("cudnn", "linux-x86_64", version, *both),
            "cuda_variant": ["12", "13"],
            "linux-sbsa": nested("cudnn", "linux-sbsa", version, *both),
            "windows-arm64": hybrid,
        },
        cudnn_jit=component(
            version,
            **{name: nested("cudnn_jit", name, version, *both) for name in ("linux-x86_64", "linux-sbsa")},
        ),
        cudnn_samples=component(version, source=flat("cudnn_samples", "source", version)),
    )


def with_jetson(label: str = "9.20.0", version: str = "9.20.0.48") -> Json:
    """Both Arm Linux builds, the Jetson one for CUDA 12 alone (cudnn 9.20.0)."""
    return release(
        label,
        cudnn=component(
            version,
            **{
                "linux-sbsa": nested("cudnn", "linux-sbsa", version, "cuda12", "cuda13"),
                "linux-aarch64": nested("cudnn", "linux-aarch64", version, "cuda12"),
            },
        ),
        cudnn_samples=component(version, source=flat("cudnn_samples", "source", version)),
    )


def four_part() -> Json:
    """Flat, the variant only in the file names, a product that is more than a name (cudnn 8.9.7.29)."""
    label = "8.9.7.29"
    parts = {
        name: component(label, **{"linux-x86_64": flat(name, "linux-x86_64", label, "cuda12")})
        for name in ("cudnn", "cudnn_samples")
    }
    return release(label, **parts) | {"release_product": "cudnn-v8-9-cuda-12"}


def oldest() -> Json:
    """Component, version, platform, path; nothing else but a date (nvidia-driver 450.80.02)."""
    return {
        name: {
            "450.80.02": {
                "linux-x86_64": f"{name}/linux-x86_64/{name}-linux-x86_64-450.80.02.tar.gz",
                "release_date": "2020-09-30",
            }
        }
        for name in ("fabricmanager", "libnvidia_nscq")
    }
