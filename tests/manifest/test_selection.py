from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from manifest.samples import (
    ask,
    component,
    entry,
    flat,
    four_part,
    modern,
    nested,
    oldest,
    parsed,
    release,
    with_jetson,
)

from cudnn_redist.errors import (
    ComponentNotFound,
    PlatformNotFound,
    UsageError,
    VariantNotFound,
    VersionNotFound,
)
from cudnn_redist.manifest import Choice, Manifest, choose, offers, select

if TYPE_CHECKING:
    from collections.abc import Iterator


def file_name(manifest: Manifest, platform: str, cuda: str | None = None, **rest: str) -> str:
    return select(manifest, ask(platform, cuda, **rest)).archive.file_name


@pytest.mark.parametrize(
    ("platform", "cuda", "name"),
    [
        ("windows-arm64", "cuda13", "cudnn-windows-arm64-9.27.0.42_cuda13-archive.tar.xz"),
        ("windows-arm64", "13", "cudnn-windows-arm64-9.27.0.42_cuda13-archive.tar.xz"),
        ("windows-arm64", "13.4", "cudnn-windows-arm64-9.27.0.42_cuda13.4-archive.zip"),
        ("windows-arm64", None, "cudnn-windows-arm64-9.27.0.42_cuda13-archive.tar.xz"),
        ("linux-x86_64", "13.4", "cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"),
        ("linux-sbsa", "12.8.1", "cudnn-linux-sbsa-9.27.0.42_cuda12-archive.tar.xz"),
    ],
)
def test_the_archive_that_is_taken(platform: str, cuda: str | None, name: str) -> None:
    assert file_name(parsed(modern()), platform, cuda) == name


def test_a_selection_has_its_component_archive_and_reasons() -> None:
    manifest = parsed(modern())
    selection = select(manifest, ask("windows-arm64", "13.4"))
    assert selection.component is manifest.components["cudnn"]
    assert selection.archive is selection.component.platforms["windows-arm64"][1]
    assert selection.reasons == ("platform windows-arm64: given", "cuda13.4: given")


@pytest.mark.parametrize("platform", ["linux-x86_64", "windows-arm64", "linux-riscv64", "source"])
def test_samples_are_for_any_host_and_any_cuda(platform: str) -> None:
    name = file_name(parsed(modern()), platform, "12", component="cudnn_samples")
    assert name == "cudnn_samples-source-9.27.0.42-archive.tar.xz"


def test_what_a_platform_lacks_is_answered_with_what_it_has() -> None:
    with pytest.raises(VariantNotFound) as caught:
        select(parsed(modern()), ask("windows-arm64", "cuda12"))
    assert caught.value.available == ("cuda13", "cuda13.4")
    assert caught.value.cause == (
        "cudnn 9.27.0 on windows-arm64 has no archive for CUDA 12 (given); it has cuda13, cuda13.4"
    )


def test_what_a_component_lacks_is_answered_with_what_it_has() -> None:
    with pytest.raises(PlatformNotFound) as caught:
        select(parsed(modern()), ask("windows-x86_64", component="cudnn_jit"))
    assert caught.value.available == ("linux-sbsa", "linux-x86_64")
    assert caught.value.cause == (
        "cudnn_jit 9.27.0 has no archive for windows-x86_64 (given); it has linux-sbsa, linux-x86_64"
    )


def test_a_manifest_without_a_label_is_named_by_its_component_alone() -> None:
    document = {"lib": component("1.0", **{"linux-sbsa": flat("lib", "linux-sbsa", "1.0")})}
    with pytest.raises(PlatformNotFound, match="choose: lib has no archive"):
        select(parsed(document), ask())


def test_a_flat_archive_belongs_to_the_cuda_in_its_name() -> None:
    manifest = parsed(four_part())
    assert (
        file_name(manifest, "linux-x86_64", "cuda12") == "cudnn-linux-x86_64-8.9.7.29_cuda12-archive.tar.xz"
    )
    with pytest.raises(VariantNotFound, match=r"it has cuda12$"):
        select(manifest, ask(cuda="cuda11"))


def test_a_flat_archive_with_a_minor_never_answers_a_bare_major() -> None:
    document = release(
        "1.0.0", lib=component("1.0", **{"linux-sbsa": flat("lib", "linux-sbsa", "1.0", "cuda13.4")})
    )
    assert select(parsed(document), ask("linux-sbsa", "13.4")).archive.variant is None
    with pytest.raises(VariantNotFound, match=r"it has cuda13\.4$"):
        select(parsed(document), ask("linux-sbsa", "13"))


def test_where_key_and_file_name_say_the_same_the_key_is_meant() -> None:
    platform = entry("lib-1.0_cuda13-archive.zip") | {"cuda13": entry("lib-1.1_cuda13-archive.zip")}
    manifest = parsed(release("1.0.0", lib=component("1.0", **{"linux-x86_64": platform})))
    assert select(manifest, ask(cuda="13")).archive.variant == "cuda13"


def test_offers_are_enough_to_choose_again() -> None:
    offered = offers(parsed(modern()).components["cudnn"])
    assert offered == {
        "linux-x86_64": ("cuda12", "cuda13"),
        "linux-sbsa": ("cuda12", "cuda13"),
        "windows-arm64": ("cuda13", "cuda13.4"),
    }
    assert choose(ask("windows-arm64", "13.4"), offered) == Choice(
        platform=next(platform for platform in offered if platform == "windows-arm64"),
        variant="cuda13.4",
        reasons=("platform windows-arm64: given", "cuda13.4: given"),
    )


def test_empty_platforms_are_no_offer() -> None:
    document = release(
        "1.0.0", lib=component("1.0", source=flat("lib", "source", "1.0"), **{"linux-sbsa": {}})
    )
    assert offers(parsed(document).components["lib"]) == {"source": (None,)}


@pytest.mark.parametrize(
    ("product", "keys", "main"),
    [
        pytest.param("cudnn", ["cudnn_jit", "cudnn", "other"], "cudnn", id="product"),
        pytest.param("cudnn-v8-9-cuda-12", ["cudnn_samples", "cudnn"], "cudnn", id="product-and-more"),
        pytest.param("a-b-c", ["a", "a-b", "x"], "a-b", id="longest-part-of-product"),
        pytest.param("cublasmp", ["libcal"], "libcal", id="the-only-one"),
        pytest.param(None, ["cudnn_jit", "cudnn_samples", "cudnn"], "cudnn", id="extended-by-all-others"),
    ],
)
def test_the_main_component(product: str | None, keys: list[str], main: str) -> None:
    document = release("1.0.0", **{key: component("1.0", source=flat(key, "source", "1.0")) for key in keys})
    assert select(parsed(document | {"release_product": product}), ask()).component.key == main


def test_no_main_component_is_a_question() -> None:
    with pytest.raises(UsageError, match="fabricmanager, libnvidia_nscq; choose one with --component"):
        select(parsed(oldest()), ask())


def test_many_components_are_listed_shortened() -> None:
    many = {f"lib{number:02}": component("1.0", source=flat("lib", "source", "1.0")) for number in range(25)}
    with pytest.raises(UsageError, match=r"lib00, lib01, .*, lib19 and 5 more; choose"):
        select(parsed(release("1.0.0", **many)), ask())


def test_an_unknown_component_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ComponentNotFound, match=r"no component 'nope'; .* cudnn, cudnn_jit, cudnn_samples"
    ) as caught:
        select(parsed(modern()), ask(component="nope"))
    assert caught.value.available == ("cudnn", "cudnn_jit", "cudnn_samples")


def test_a_four_part_label_must_be_the_version_inside() -> None:
    manifest = parsed(modern("9.13.0", "9.13.0.50"))
    assert select(manifest, ask(version="9.13.0.50")).archive.version == "9.13.0.50"
    with pytest.raises(VersionNotFound) as caught:
        select(manifest, ask(version="9.13.0.99"))
    assert caught.value.cause == "9.13.0 holds cudnn 9.13.0.50, not 9.13.0.99"
    assert caught.value.available == ("9.13.0.50",)


def test_two_builds_in_one_component_are_told_apart_by_the_file_name() -> None:
    builds = {
        "cuda12": flat("cudnn", "linux-x86_64", "9.15.0.57", "cuda12"),
        "cuda13": flat("cudnn", "linux-x86_64", "9.15.0.58", "cuda13"),
    }
    manifest = parsed(release("9.15.0", cudnn=component("9.15.0.57", **{"linux-x86_64": builds})))
    assert select(manifest, ask(cuda="13", version="9.15.0.58")).archive.version == "9.15.0.58"
    with pytest.raises(VersionNotFound) as caught:
        select(manifest, ask(cuda="13", version="9.15.0.57"))
    assert caught.value.cause == (
        "9.15.0 holds cudnn 9.15.0.58, not 9.15.0.57, which it has for linux-x86_64/cuda12"
    )
    assert caught.value.available == ("9.15.0.57", "9.15.0.58")


def test_a_manifest_of_exactly_the_wanted_name_needs_no_version_inside() -> None:
    document = release("2.0.2.1", cutensor=component("2.0.2.5", source=flat("cutensor", "source", "2.0.2.5")))
    assert select(parsed(document), ask(version="2.0.2.1")).archive.version == "2.0.2.5"


def others() -> Iterator[Manifest]:
    """Manifests at hand: with the Jetson build in several, without it in the newest."""
    yield parsed(with_jetson("9.14.0", "9.14.0.64"))
    yield parsed(with_jetson("9.20.0", "9.20.0.48"))
    yield parsed(with_jetson("9.9.0", "9.9.0.52"))
    yield parsed(modern())
    yield parsed(oldest())
    yield parsed(with_jetson() | {"release_label": None})


@pytest.mark.parametrize(
    ("cuda", "told"),
    [
        (None, "; last in 9.20.0 (cuda12)"),
        ("12", "; last in 9.20.0 (cuda12)"),
        ("13", "it has linux-sbsa, linux-x86_64, windows-arm64"),
    ],
)
def test_a_refusal_names_the_newest_label_at_hand_that_has_the_pair(cuda: str | None, told: str) -> None:
    with pytest.raises(PlatformNotFound) as caught:
        select(parsed(modern("9.22.0", "9.22.0.52")), ask("linux-aarch64", cuda), elsewhere=others())
    assert str(caught.value).endswith(told)
    assert caught.value.available == ("linux-sbsa", "linux-x86_64", "windows-arm64")


def test_a_variant_may_have_been_elsewhere_too() -> None:
    old = {"linux-x86_64": nested("cudnn", "linux-x86_64", "9.8.0.87", "cuda11", "cuda12")}
    at_hand = [parsed(release("9.8.0", cudnn=component("9.8.0.87", **old)))]
    with pytest.raises(VariantNotFound, match=r"it has cuda12, cuda13; last in 9\.8\.0 \(cuda11\)$"):
        select(parsed(modern()), ask(cuda="11"), elsewhere=at_hand)


def test_a_platform_without_variants_is_named_itself() -> None:
    at_hand = [parsed(release("9.8.0", cudnn=component("1.0", source=flat("cudnn", "source", "1.0"))))]
    with pytest.raises(PlatformNotFound, match=r"last in 9\.8\.0 \(source\)$"):
        select(parsed(modern()), ask("linux-ppc64le"), elsewhere=at_hand)


def test_other_manifests_are_not_read_without_need() -> None:
    def never() -> Iterator[Any]:
        raise AssertionError
        yield

    assert select(parsed(modern()), ask(), elsewhere=never()).archive.cuda
