from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from manifest.samples import ask

from cudnn_redist.errors import NotAvailableError, PlatformNotFound, UsageError, VariantNotFound
from cudnn_redist.manifest import CudaVariant, Platform, choose, choose_platform, choose_variant

if TYPE_CHECKING:
    from collections.abc import Collection

ARM = ("linux-sbsa", "linux-aarch64")


def offering(**platforms: Collection[str | None]) -> dict[Platform, Collection[str | None]]:
    return {Platform(name.replace("__", "-")): names for name, names in platforms.items()}


def variants(*names: str) -> list[CudaVariant]:
    return [CudaVariant.asked(name) for name in names]


@pytest.mark.parametrize(
    ("wanted", "offered", "platform"),
    [
        pytest.param("linux-x86_64", ["linux-sbsa", "linux-x86_64"], "linux-x86_64", id="offered"),
        pytest.param("linux-x86_64", ["linux-x86_64", "source"], "linux-x86_64", id="rather-than-source"),
        pytest.param("windows-arm64", ["linux-x86_64", "source"], "source", id="source-serves-any-host"),
        pytest.param("linux-x86_64", ["linux-all"], "linux-all", id="linux-all-serves-any-host"),
        pytest.param("source", ["linux-x86_64", "source"], "source", id="source-asked-for"),
        pytest.param((), ["source"], "source", id="a-host-without-a-platform"),
        pytest.param(ARM, ["linux-sbsa", "linux-x86_64"], "linux-sbsa", id="arm-servers-only"),
        pytest.param(ARM, ["linux-aarch64"], "linux-aarch64", id="jetson-only"),
    ],
)
def test_the_platform_that_is_taken(wanted: str | tuple[str, ...], offered: list[str], platform: str) -> None:
    assert choose_platform(ask(wanted), [Platform(name) for name in offered]) == platform


@pytest.mark.parametrize("wanted", ["windows-x86_64", "linux-aarch64", ()])
def test_a_platform_that_is_not_offered(wanted: str | tuple[str, ...]) -> None:
    with pytest.raises(PlatformNotFound, match=r"it has linux-sbsa, linux-x86_64$") as caught:
        choose_platform(ask(wanted), [Platform("linux-x86_64"), Platform("linux-sbsa")])
    assert caught.value.available == ("linux-sbsa", "linux-x86_64")


def test_nothing_is_offered_at_all() -> None:
    with pytest.raises(PlatformNotFound, match="it has none"):
        choose(ask(), offering(linux__x86_64=()))


def test_two_arm_builds_must_be_told_apart_by_the_user() -> None:
    with pytest.raises(
        UsageError, match=r"linux-sbsa or linux-aarch64; choose one with --platform"
    ) as caught:
        choose_platform(ask(ARM), [Platform("linux-aarch64"), Platform("linux-sbsa")])
    assert caught.value.phase == "choose"


@pytest.mark.parametrize(
    ("cuda", "offered", "name"),
    [
        *[
            (spelled, ["12", "13"], "cuda12")
            for spelled in ("12", "12.8", "12.8.1", "cuda12", "cu12", "cu128")
        ],
        ("13.4", ["13", "13.4"], "cuda13.4"),
        ("13.4", ["13", "13.5"], "cuda13"),
        ("13", ["13", "13.4"], "cuda13"),
        ("13.0.2", ["12", "13"], "cuda13"),
        (None, ["12", "13"], "cuda13"),
        (None, ["12", "13", "13.4"], "cuda13"),
        (None, ["12", "13.4", "13.5"], "cuda13.5"),
        (None, ["9", "11"], "cuda11"),
    ],
)
def test_the_variant_that_is_taken(cuda: str | None, offered: list[str], name: str) -> None:
    assert choose_variant(ask(cuda=cuda), variants(*offered)).name == name


@pytest.mark.parametrize(
    ("runnable", "offered", "name"),
    [
        ("13.0", ["12", "13"], "cuda13"),
        ("12.8", ["12", "13"], "cuda12"),
        ("13.4", ["12", "13.4"], "cuda13.4"),
        ("13.0", ["12", "13.4"], "cuda12"),
        ("14.0", ["12", "13"], "cuda13"),
    ],
)
def test_the_driver_limits_the_default(runnable: str, offered: list[str], name: str) -> None:
    assert choose_variant(ask(runnable=runnable), variants(*offered)).name == name


def test_what_is_asked_for_is_not_limited_by_the_driver() -> None:
    assert choose_variant(ask(cuda="13", runnable="12.8"), variants("12", "13")).name == "cuda13"


@pytest.mark.parametrize(
    ("cuda", "runnable", "offered", "cause"),
    [
        pytest.param(
            "11", None, ["13", "12"], r"no archive for CUDA 11 \(given\); it has cuda12, cuda13$", id="major"
        ),
        pytest.param("14", None, ["12", "13"], r"CUDA 14 \(given\)", id="newer"),
        pytest.param(
            "13", None, ["13.4"], r"CUDA 13 \(given\); it has cuda13.4$", id="bare-major-takes-no-minor"
        ),
        pytest.param("13.5", None, ["13.4"], r"CUDA 13.5 \(given\)", id="another-minor"),
        pytest.param(
            None, "11.8", ["12", "13"], "CUDA 11.8 or older, which the driver here runs", id="old-driver"
        ),
        pytest.param(None, None, [], "any CUDA; it has none", id="nothing"),
    ],
)
def test_a_variant_that_is_not_offered(
    cuda: str | None, runnable: str | None, offered: list[str], cause: str
) -> None:
    with pytest.raises(VariantNotFound, match=cause) as caught:
        choose_variant(ask(cuda=cuda, runnable=runnable), variants(*offered))
    assert caught.value.available == tuple(variant.name for variant in sorted(variants(*offered)))


def test_a_default_names_what_was_found_and_why() -> None:
    choice = choose(ask(), offering(linux__x86_64=("cuda12", "cuda13")))
    assert (choice.platform, choice.variant) == ("linux-x86_64", "cuda13")
    assert choice.reasons == ("platform linux-x86_64: given", "cuda13: newest offered, no toolkit found")


@pytest.mark.parametrize(
    ("cuda", "runnable", "names", "reason"),
    [
        ("12", None, ("cuda12", "cuda13"), "cuda12: given"),
        ("13.4", None, ("cuda13",), "cuda13: serves CUDA 13.4, given"),
        (
            None,
            "12.8",
            ("cuda12", "cuda13"),
            "cuda12: newest that the driver runs (CUDA 12.8), no toolkit found",
        ),
        ("12", None, (None,), "no CUDA variant: one archive serves every CUDA"),
        ("12", None, ("cpu",), "cpu: the only archive"),
    ],
)
def test_every_choice_of_a_variant_has_its_reason(
    cuda: str | None, runnable: str | None, names: tuple[str | None, ...], reason: str
) -> None:
    choice = choose(ask(cuda=cuda, runnable=runnable), offering(linux__x86_64=names))
    assert choice.reasons == ("platform linux-x86_64: given", reason)


def test_one_archive_that_says_nothing_of_cuda_needs_no_reason_where_none_was_asked_for() -> None:
    choice = choose(ask("windows-arm64"), offering(source=(None,)))
    assert (choice.variant, choice.reasons) == (None, ("platform source: serves any host",))


def test_keys_that_are_no_cuda_are_passed_over_where_there_is_a_choice_by_cuda() -> None:
    assert choose(ask(), offering(linux__x86_64=("cpu", "cuda12", None))).variant == "cuda12"
    assert choose(ask(), offering(linux__x86_64=("cpu", None))).variant is None
    with pytest.raises(VariantNotFound, match="only cpu, rocm6") as caught:
        choose(ask(cuda="12"), offering(linux__x86_64=("rocm6", "cpu")))
    assert caught.value.available == ("cpu", "rocm6")


def test_an_empty_platform_is_not_available() -> None:
    with pytest.raises(PlatformNotFound) as caught:
        choose(ask("linux-aarch64"), offering(linux__aarch64=(), linux__sbsa=("cuda12",)))
    assert caught.value.available == ("linux-sbsa",)


BOTH_ARM = offering(linux__sbsa=("cuda12", "cuda13"), linux__aarch64=("cuda12",))
SBSA_ONLY = offering(linux__sbsa=("cuda12", "cuda13"))


@pytest.mark.parametrize(
    ("wanted", "cuda", "offers", "platform"),
    [
        pytest.param(ARM, "13", BOTH_ARM, "linux-sbsa", id="only-one-has-the-cuda"),
        pytest.param(ARM, "13", SBSA_ONLY, "linux-sbsa", id="only-one-is-there"),
        pytest.param(ARM, "12", SBSA_ONLY, "linux-sbsa", id="only-one-is-there-cuda12"),
        pytest.param("linux-aarch64", "12", BOTH_ARM, "linux-aarch64", id="jetson-asked-for"),
        pytest.param("linux-sbsa", "12", BOTH_ARM, "linux-sbsa", id="sbsa-asked-for"),
    ],
)
def test_arm_linux_is_decided_by_what_the_manifest_holds(
    wanted: str | tuple[str, ...],
    cuda: str,
    offers: dict[Platform, Collection[str | None]],
    platform: str,
) -> None:
    assert choose(ask(wanted, cuda), offers).platform == platform


def test_deciding_between_the_arm_builds_is_told() -> None:
    choice = choose(ask(ARM, "13"), BOTH_ARM)
    assert choice.reasons[0] == (
        "platform linux-sbsa: given, and the only one of linux-sbsa, linux-aarch64 with CUDA 13"
    )


@pytest.mark.parametrize(
    ("wanted", "cuda", "kind"),
    [
        pytest.param(ARM, "12", UsageError, id="both-have-it"),
        pytest.param(ARM, "11", UsageError, id="neither-has-it"),
        pytest.param(ARM, None, UsageError, id="no-cuda-asked-for"),
        pytest.param("linux-aarch64", "13", VariantNotFound, id="jetson-is-no-synonym"),
    ],
)
def test_arm_linux_is_never_guessed(
    wanted: str | tuple[str, ...], cuda: str | None, kind: type[UsageError | NotAvailableError]
) -> None:
    with pytest.raises(kind):
        choose(ask(wanted, cuda), BOTH_ARM)
