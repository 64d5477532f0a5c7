from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudnn_redist.errors import UsageError
from cudnn_redist.manifest import CudaVariant, is_plain_name, parse_platform


@pytest.mark.parametrize(
    ("text", "platforms"),
    [
        ("linux/amd64", ("linux-x86_64",)),
        ("linux/arm64", ("linux-sbsa", "linux-aarch64")),
        ("windows/amd64", ("windows-x86_64",)),
        ("windows/arm64", ("windows-arm64",)),
        ("linux-sbsa", ("linux-sbsa",)),
        ("linux-aarch64", ("linux-aarch64",)),
        ("source", ("source",)),
        ("linux-riscv64", ("linux-riscv64",)),
    ],
)
def test_spellings_of_platforms(text: str, platforms: tuple[str, ...]) -> None:
    assert parse_platform(text) == platforms


NOT_PLAIN = [
    "",
    ".",
    "..",
    "a/b",
    "../x",
    "a\\b",
    "-x",
    ".x",
    "_x",
    "Linux-x86_64",
    "x.",
    "x ",
    "x\n",
    "ünïx",
    "a\0",
]


@pytest.mark.parametrize("text", [*NOT_PLAIN, "linux/riscv64", "nul", "con.txt", "com1", "x" * 65])
def test_what_cannot_be_a_directory_on_every_system_is_no_platform(text: str) -> None:
    with pytest.raises(UsageError, match="not a platform"):
        parse_platform(text)


@pytest.mark.parametrize("text", ["cudnn", "linux-x86_64", "cuda13.4", "console", "a", "x" * 64, "9"])
def test_plain_names(text: str) -> None:
    assert is_plain_name(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("12", "cuda12"),
        ("cuda12", "cuda12"),
        ("cu12", "cuda12"),
        ("cu128", "cuda12.8"),
        ("12.8", "cuda12.8"),
        ("12.8.1", "cuda12.8"),
        ("cuda13.4", "cuda13.4"),
        ("13.0.2", "cuda13.0"),
        ("cu130", "cuda13.0"),
        ("cu1210", "cuda12.10"),
        ("9", "cuda9"),
    ],
)
def test_spellings_of_cuda(text: str, name: str) -> None:
    assert CudaVariant.asked(text).name == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "cu",
        "cuda",
        "0",
        "012",
        "128",
        "cuda128",
        "12.",
        ".8",
        "12.8.1.0",
        "-12",
        "12 ",
        "١٢",
        "v12.8",
        "CUDA12",
        "cuda-12",
    ],
)
def test_what_is_no_cuda_version_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a CUDA version"):
        CudaVariant.asked(text)


@pytest.mark.parametrize(
    ("key", "variant"),
    [
        ("cuda13", CudaVariant(13)),
        ("cuda13.5", CudaVariant(13, 5)),
        ("cuda13.0", CudaVariant(13, 0)),
        ("cpu", None),
        ("13", None),
        ("cuda", None),
        ("cuda013", None),
        ("cuda13.05", None),
        ("cuda13.5.1", None),
        ("cuda13\n", None),
    ],
)
def test_variant_keys(key: str, variant: CudaVariant | None) -> None:
    assert CudaVariant.of_key(key) == variant


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("cudnn/windows-arm64/cudnn-windows-arm64-9.27.0.42_cuda13.4-archive.zip", "cuda13.4"),
        ("cudnn-linux-x86_64-8.9.7.29_cuda12-archive.tar.xz", "cuda12"),
        ("cudnn_samples/source/cudnn_samples-source-9.27.0.42-archive.tar.xz", None),
        ("x_cuda12-archive.d/y-1.0-archive.tar.xz", None),
        ("x-1.0_cuda..-archive.tar.xz", None),
    ],
)
def test_the_variant_in_a_file_name(path: str, name: str | None) -> None:
    variant = CudaVariant.in_file_name(path)
    assert (variant and str(variant)) == name


def test_a_bare_major_stands_below_its_minors() -> None:
    shuffled = [
        CudaVariant(13, 4),
        CudaVariant(12),
        CudaVariant(13),
        CudaVariant(13, 0),
        CudaVariant(9, 2),
        CudaVariant(12, 10),
    ]
    in_order = ["cuda9.2", "cuda12", "cuda12.10", "cuda13", "cuda13.0", "cuda13.4"]
    assert [variant.name for variant in sorted(shuffled)] == in_order


variants = st.builds(CudaVariant, st.integers(1, 99), st.none() | st.integers(0, 999))


@settings(deadline=None)
@given(variants, variants)
def test_names_and_order_agree_with_equality(one: CudaVariant, other: CudaVariant) -> None:
    assert CudaVariant.of_key(one.name) == one
    assert CudaVariant.asked(one.name) == one
    assert (one == other) == (one.name == other.name) == (one <= other <= one)


@pytest.mark.parametrize(
    ("variant", "limit", "runs"),
    [
        ("12", "12.8", True),
        ("13", "12.8", False),
        ("12.9", "13.0", True),
        ("13.4", "13.0", False),
        ("13.4", "13.4", True),
        ("13.4", "13", True),
        ("13", "13.0", True),
    ],
)
def test_what_a_driver_runs(variant: str, limit: str, runs: bool) -> None:  # noqa: FBT001 - a table's column
    assert CudaVariant.asked(variant).within(CudaVariant.asked(limit)) is runs
