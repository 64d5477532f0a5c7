from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from manifest.samples import (
    component,
    entry,
    flat,
    four_part,
    modern,
    nested,
    oldest,
    parsed,
    path,
    release,
    with_jetson,
)
from pydantic import ValidationError

from cudnn_redist.errors import ManifestError
from cudnn_redist.manifest import Archive, CudaVariant, Manifest, ReleaseLabel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Found = tuple[str, str, "str | None", str, "str | None", "int | None"]


def walk(document: dict[str, Any]) -> Iterator[Found]:
    """List the archives of a document by plain walking, as an independent check."""
    for key, node in document.items():
        for platform, below in node.items() if isinstance(node, dict) else ():
            if not isinstance(below, dict):
                continue
            for variant, fields in [(None, below), *below.items()]:
                if isinstance(fields, dict) and "relative_path" in fields:
                    size = fields.get("size")
                    sha256 = fields.get("sha256")
                    yield (
                        key,
                        platform,
                        variant,
                        fields["relative_path"],
                        sha256,
                        None if size is None else int(size),
                    )


def listed(manifest: Manifest) -> set[Found]:
    return {
        (a.component, a.platform, a.variant, a.relative_path, a.sha256, a.size) for a in manifest.archives()
    }


@pytest.mark.parametrize("shape", [modern, with_jetson, four_part])
def test_the_models_list_what_a_plain_walk_finds(shape: Callable[[], dict[str, Any]]) -> None:
    document = shape()
    assert listed(parsed(document)) == set(walk(document))


def test_a_manifest_keeps_its_bytes_their_digest_and_their_origin() -> None:
    data = json.dumps(modern(), indent=3).encode() + b"\n"
    manifest = Manifest.parse(data, origin="somewhere")
    assert (manifest.data, manifest.sha256) == (data, hashlib.sha256(data).hexdigest())
    assert (manifest.origin, manifest.product, manifest.date) == ("somewhere", "cudnn", "2026-09-29")
    assert "somewhere" in repr(manifest)
    assert "release_date" not in repr(manifest)


def test_a_manifest_can_be_dumped_as_json() -> None:
    dumped = json.loads(parsed(modern()).model_dump_json())
    assert dumped["label"] == "9.27.0"
    assert dumped["components"]["cudnn"]["platforms"]["windows-arm64"][1]["variant"] is None
    assert "data" not in dumped
    assert json.loads(parsed(oldest()).model_dump_json())["label"] is None


def test_both_archives_of_a_hybrid_platform_are_kept_apart() -> None:
    bare, minor = parsed(modern()).components["cudnn"].platforms["windows-arm64"]
    assert (bare.variant, bare.cuda, bare.variant_name) == ("cuda13", CudaVariant(13), "cuda13")
    assert (minor.variant, minor.cuda, minor.variant_name) == (None, CudaVariant(13, 4), "cuda13.4")
    assert minor.file_name == "cudnn-windows-arm64-9.27.0.42_cuda13.4-archive.zip"
    assert bare.sha256 != minor.sha256


def test_flat_and_nested_platforms_live_in_one_component() -> None:
    platforms = {
        "linux-x86_64": flat("cutensor", "linux-x86_64", "2.3.0.8"),
        "linux-sbsa": nested("cutensor", "linux-sbsa", "2.3.0.8", "cuda12", "cuda13"),
    }
    manifest = parsed(release("2.3.0", cutensor=component("2.3.0.8", **platforms)))
    found = [(archive.platform, archive.variant_name) for archive in manifest.archives()]
    assert found == [("linux-x86_64", None), ("linux-sbsa", "cuda12"), ("linux-sbsa", "cuda13")]


def test_a_flat_archive_takes_its_cuda_from_its_file_name() -> None:
    (archive,) = parsed(four_part()).components["cudnn"].archives()
    assert (archive.variant, archive.cuda, archive.variant_name) == (None, CudaVariant(12), "cuda12")


@pytest.mark.parametrize(
    ("variant", "cuda"), [("cuda13.5", CudaVariant(13, 5)), ("cpu", None), ("rocm6", None)]
)
def test_variants_are_an_open_set(variant: str, cuda: CudaVariant | None) -> None:
    document = release(
        "1.0.0",
        lib=component("1.0.0.1", **{"linux-x86_64": nested("lib", "linux-x86_64", "1.0.0.1", variant)}),
    )
    (archive,) = parsed(document).archives()
    assert (archive.variant, archive.cuda, archive.variant_name) == (variant, cuda, variant)


def test_the_oldest_form_has_paths_and_nothing_else() -> None:
    manifest = parsed(oldest(), origin="https://h/nvidia-driver/redist/redistrib_450.80.02.json?x=1")
    assert str(manifest.label) == "450.80.02"
    assert manifest.versions() == {"450.80.02"}
    assert [archive.component for archive in manifest.archives()] == ["fabricmanager", "libnvidia_nscq"]
    first = next(manifest.archives())
    assert first.relative_path == "fabricmanager/linux-x86_64/fabricmanager-linux-x86_64-450.80.02.tar.gz"
    assert (first.sha256, first.md5, first.size, first.version) == (None, None, None, "450.80.02")
    assert manifest.components["fabricmanager"].extra == {"release_date": "2020-09-30"}


def test_the_oldest_form_may_hold_two_versions_and_whole_entries() -> None:
    document = {
        "tool": {
            "9.1": {"linux-x86_64": "tool-9.1.zip", "license": "old", "license_path": "tool/LICENSE.txt"},
            "10.0": {"linux-sbsa": entry("tool-10.0.tar.xz"), "license": "new"},
        }
    }
    tool = parsed(document).components["tool"]
    assert (tool.version, tool.license, tool.license_path) == ("10.0", "new", "tool/LICENSE.txt")
    assert {archive.platform: archive.version for archive in tool.archives()} == {
        "linux-x86_64": "9.1",
        "linux-sbsa": "10.0",
    }


@pytest.mark.parametrize(
    ("relative_path", "version"),
    [
        (path("cudnn", "linux-x86_64", "9.15.0.57", "cuda12"), "9.15.0.57"),
        ("imex/linux-x86_64/nvidia-imex-linux-x86_64-565.57.01-archive.tar.xz", "565.57.01"),
        ("driver_assistant/source/driver_assistant-0.18.86.10-archive.tar.xz", "0.18.86.10"),
        ("TensorRT-10.0.0.6.Linux.x86_64-gnu.cuda-12.4.tar.gz", "9.9.9.9"),
    ],
)
def test_an_archive_s_version_is_in_its_name_or_else_the_component_s(
    relative_path: str, version: str
) -> None:
    manifest = parsed(release("1.0.0", lib=component("9.9.9.9", source=entry(relative_path))))
    assert next(manifest.archives()).version == version
    assert manifest.versions() == {"9.9.9.9", version}


def test_versions_may_be_missing() -> None:
    manifest = parsed({"lib": {"source": entry("lib.zip")}})
    assert next(manifest.archives()).version is None
    assert manifest.versions() == frozenset()
    assert manifest.label is None


def test_unknown_fields_are_kept_at_every_level() -> None:
    document = modern() | {"release_notes_url": "x", "support": {"eol": "2027"}, "schema": {"version": "3"}}
    cudnn = document["cudnn"]
    cudnn |= {"support": {"eol": "2027"}, "tags": ["a"], "notes": {"deep": {"er": 1}}, "Some Notes": {}}
    cudnn["linux-x86_64"] |= {"signed": True, "cuda11": {}}
    cudnn["linux-x86_64"]["cuda12"]["sha512"] = "ab"
    cudnn["windows-arm64"] |= {"component": "flat", "urls": {"a": 1}}

    manifest = parsed(document)
    assert manifest.extra == {
        "release_notes_url": "x",
        "support": {"eol": "2027"},
        "schema": {"version": "3"},
    }
    component_ = manifest.components["cudnn"]
    assert component_.extra == {
        "support": {"eol": "2027"},
        "tags": ["a"],
        "notes": {"deep": {"er": 1}},
        "Some Notes": {},
    }
    assert component_.platforms.keys() == {"linux-x86_64", "linux-sbsa", "windows-arm64"}
    assert component_.platform_extra == {"linux-x86_64": {"signed": True, "cuda11": {}}}
    assert component_.platforms["linux-x86_64"][0].extra == {"sha512": "ab"}
    bare, minor = component_.platforms["windows-arm64"]
    assert (dict(bare.extra), minor.extra) == ({}, {"component": "flat", "urls": {"a": 1}})
    assert listed(manifest) == set(walk(document))


@pytest.mark.parametrize("empty", [{}, {"cuda12": {}}, {"cuda12": {}, "cuda13": {}}])
def test_a_platform_may_be_there_but_empty(empty: dict[str, Any]) -> None:
    platforms = {"linux-x86_64": flat("lib", "linux-x86_64", "1.0"), "linux-aarch64": empty}
    lib = parsed(release("1.0.0", lib=component("1.0", **platforms))).components["lib"]
    assert lib.platforms["linux-aarch64"] == ()
    assert [archive.platform for archive in lib.archives()] == ["linux-x86_64"]


@pytest.mark.parametrize(
    "gone", [{"name": "A", "version": "1.0"}, {"version": "1.0", "linux-sbsa": {}}, {"1.0": {}}]
)
def test_a_component_may_have_lost_its_archives(gone: dict[str, Any]) -> None:
    manifest = parsed(release("1.0.0", gone=gone))
    assert list(manifest.components["gone"].archives()) == []


def test_a_release_of_the_oldest_form_may_be_empty() -> None:
    lib = parsed({"lib": {"1.0": {}, "0.9": {"source": "lib.zip"}}}).components["lib"]
    assert (lib.version, [archive.version for archive in lib.archives()]) == ("1.0", ["0.9"])


def test_what_is_missing_stays_missing() -> None:
    manifest = parsed(
        release(
            "1.0.0",
            lib={"source": {"relative_path": "a.zip"}, "linux-all": {"relative_path": "b.zip", "size": None}},
        )
    )
    for archive in manifest.archives():
        assert (archive.sha256, archive.md5, archive.size) == (None, None, None)
    lib = manifest.components["lib"]
    assert (lib.name, lib.version, lib.license, lib.license_path, lib.cuda_variant) == (
        None,
        None,
        None,
        None,
        (),
    )


@pytest.mark.parametrize(
    ("size", "number"), [("923946888", 923946888), (923946888, 923946888), ("0", 0), (0, 0), ("007", 7)]
)
def test_a_size_is_a_string_or_an_integer(size: object, number: int) -> None:
    (archive,) = parsed(release("1.0.0", lib={"source": entry("a.zip") | {"size": size}})).archives()
    assert archive.size == number


@pytest.mark.parametrize(("given", "hints"), [(["12", "13"], ("12", "13")), ([], ()), (None, ())])
def test_the_published_list_of_variants_is_a_hint(given: object, hints: tuple[str, ...]) -> None:
    manifest = parsed({"lib": {"cuda_variant": given, "source": entry("a.zip")}})
    assert manifest.components["lib"].cuda_variant == hints


def test_digests_become_lower_case() -> None:
    (archive,) = parsed(
        {"lib": {"source": entry("a.zip") | {"sha256": "AB" * 32, "md5": "CD" * 16}}}
    ).archives()
    assert (archive.sha256, archive.md5) == ("ab" * 32, "cd" * 16)


def test_key_order_does_not_matter() -> None:
    def backwards(node: Any) -> Any:  # noqa: ANN401 - any JSON
        return {key: backwards(node[key]) for key in reversed(node)} if isinstance(node, dict) else node

    assert listed(parsed(backwards(modern()))) == listed(parsed(modern()))


def test_values_cannot_be_changed() -> None:
    manifest = parsed(modern())
    archive = next(manifest.archives())
    with pytest.raises(ValidationError, match="frozen"):
        archive.sha256 = "0" * 64
    with pytest.raises(TypeError):
        manifest.components["x"] = manifest.components["cudnn"]  # type: ignore[index]


def in_variant(**fields: object) -> dict[str, Any]:
    document = modern()
    document["cudnn"]["linux-x86_64"]["cuda13"] |= fields
    return document


def in_component(**fields: object) -> dict[str, Any]:
    document = modern()
    document["cudnn"] |= fields
    return document


HERE = "cudnn.linux-x86_64.cuda13"
NO_DIRECTORY = "this key cannot be a directory name (lower-case letters, digits, . _ -)"


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        pytest.param(in_variant(sha256="ab"), f"{HERE}.sha256: not 64 hex digits", id="sha256-short"),
        pytest.param(in_variant(sha256="g" * 64), f"{HERE}.sha256: not 64 hex digits", id="sha256-letters"),
        pytest.param(
            in_variant(sha256="a" * 64 + "\n"), f"{HERE}.sha256: not 64 hex digits", id="sha256-line-feed"
        ),
        pytest.param(
            in_variant(sha256=int("1" * 64)), f"{HERE}.sha256: not 64 hex digits", id="sha256-number"
        ),
        pytest.param(in_variant(md5=""), f"{HERE}.md5: not 32 hex digits", id="md5-empty"),
        *[
            pytest.param(
                in_variant(size=size), f"{HERE}.size: not a number of bytes", id=f"size-{size!r}"[:20]
            )
            for size in (-1, "-1", "+1", "1.0", 1.5, True, "", " 1", "1e3", "٣", [], 10**18, "9" * 5000)
        ],
        pytest.param(in_variant(relative_path=""), f"{HERE}.relative_path: no path", id="path-empty"),
        pytest.param(in_variant(relative_path=None), f"{HERE}.relative_path: no path", id="path-null"),
        pytest.param(in_variant(relative_path=7), f"{HERE}.relative_path: not a string", id="path-number"),
        pytest.param(
            in_variant(relative_path="a\\b"), f"{HERE}.relative_path: holds a backslash", id="path-backslash"
        ),
        *[
            pytest.param(
                in_variant(relative_path=f"a{bad}b"),
                f"{HERE}.relative_path: holds a control character",
                id=f"path-{bad!a}",
            )
            for bad in ("\0", "\n", "\x1b", "\x7f", "\u202e")
        ],
        pytest.param(
            in_variant(relative_path="a\ud800b"),
            f"{HERE}.relative_path: half of a surrogate pair is no text",
            id="path-surrogate",
        ),
        pytest.param(in_component(version=9), "cudnn.version: not a string", id="version-number"),
        pytest.param(
            in_component(version="9\n0"), "cudnn.version: holds a control character", id="version-line-feed"
        ),
        pytest.param(in_component(name={"relative_path": "x"}), "cudnn.name: not a string", id="name-object"),
        pytest.param(
            in_component(cuda_variant="12"), "cudnn.cuda_variant: not a list of strings", id="hints-string"
        ),
        pytest.param(
            in_component(cuda_variant=[12]), "cudnn.cuda_variant: not a list of strings", id="hints-numbers"
        ),
        pytest.param(
            in_component(support={"sha256": "ab" * 32}),
            "cudnn.support.relative_path: missing",
            id="archive-without-path",
        ),
        pytest.param(
            in_component(new={"cuda12": {"size": "1"}}),
            "cudnn.new.cuda12.relative_path: missing",
            id="variant-without-path",
        ),
        pytest.param(
            in_component(relative_path="x.zip"),
            "cudnn.relative_path: an archive outside any platform",
            id="no-platform",
        ),
        pytest.param(
            in_component(**{"a/b": entry("x.zip")}), f"cudnn.a/b: {NO_DIRECTORY}", id="platform-key"
        ),
        pytest.param(
            in_component(**{"..": entry("x.zip")}), f"cudnn...: {NO_DIRECTORY}", id="platform-climbs"
        ),
        pytest.param(
            in_component(new={"X": entry("x.zip")}), f"cudnn.new.X: {NO_DIRECTORY}", id="variant-key"
        ),
        pytest.param(
            in_component(new={"nul": entry("x.zip")}), f"cudnn.new.nul: {NO_DIRECTORY}", id="device-key"
        ),
        pytest.param(
            in_component(**{"a\x1b[2J": entry("x.zip")}),
            f"cudnn.'a\\x1b[2J': {NO_DIRECTORY}",
            id="key-with-escape",
        ),
        pytest.param(in_component(**{"": entry("x.zip")}), f"cudnn.'': {NO_DIRECTORY}", id="key-empty"),
        pytest.param(
            modern() | {"../x": {"source": entry("x.zip")}}, f"../x: {NO_DIRECTORY}", id="component-key"
        ),
        pytest.param(
            in_component(**{"1.0": {"linux-sbsa": "x.zip", "source": "y.zip"}, "2.0": {"source": "z.zip"}}),
            "cudnn.1.0.source: a second archive for this platform",
            id="second-archive",
        ),
        pytest.param(
            modern() | {"release_label": "9.x"}, "release_label: not a release label", id="label-text"
        ),
        pytest.param(modern() | {"release_label": 9}, "release_label: not a string", id="label-number"),
        pytest.param(modern() | {"release_date": []}, "release_date: not a string", id="date-list"),
    ],
)
def test_a_fault_is_named_with_its_place(document: dict[str, Any], fault: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parsed(document, origin="the-origin")
    assert caught.value.faults == (fault,)
    assert str(caught.value) == f"manifest: the-origin: {fault}"


def test_all_faults_are_told_at_once() -> None:
    document = modern() | {"release_label": "9.26.0", "release_product": 5}
    document["cudnn"]["windows-arm64"] |= {"size": "big", "sha256": "x"}
    document["cudnn_samples"]["source"]["md5"] = "x"
    document["cudnn_jit"]["linux-sbsa"]["CUDA"] = entry("x.zip")
    with pytest.raises(ManifestError) as caught:
        parsed(document, label="9.27.0")
    assert set(caught.value.faults) == {
        "release_label: '9.26.0', but this was asked for as 9.27.0",
        "release_product: not a string",
        "cudnn.windows-arm64.size: not a number of bytes",
        "cudnn.windows-arm64.sha256: not 64 hex digits",
        "cudnn_samples.source.md5: not 32 hex digits",
        f"cudnn_jit.linux-sbsa.CUDA: {NO_DIRECTORY}",
    }
    assert all(fault in str(caught.value) for fault in caught.value.faults)


def test_a_thousand_faults_are_told_as_some_and_a_number() -> None:
    platforms = {f"p{number}": {"size": "1"} for number in range(1000)}
    with pytest.raises(ManifestError, match=r"; and 980 more$") as caught:
        parsed({"lib": platforms})
    assert len(caught.value.faults) == 1000


def test_the_unknown_fields_of_many_releases_are_kept_and_the_newest_speaks_for_all() -> None:
    """Where all fields so far were copied for each release, a manifest of 4 MB took minutes."""
    numbers = range(5_000)
    releases = {f"{n}.0": {f"linux-{n}": "lib.tar", f"note-{n}": n, "note": n} for n in numbers}
    found = parsed({"lib": releases}).components["lib"]
    assert found.extra == {f"note-{n}": n for n in numbers} | {"note": 4_999}
    assert (found.version, len(found.platforms)) == ("4999.0", 5_000)


@pytest.mark.parametrize(
    ("stated", "asked", "origin", "label"),
    [
        ("9.27.0", "9.27.0", "redistrib_1.0.0.json", "9.27.0"),
        ("9.27.0", None, "redistrib_1.0.0.json", "9.27.0"),
        (None, "9.27.0", "redistrib_1.0.0.json", "9.27.0"),
        (None, None, "https://h/cudnn/redist/redistrib_9.27.0.json?sig=a/b#c", "9.27.0"),
        (None, None, r"C:\mirror\cudnn\redistrib_9.27.0.json", "9.27.0"),
        (None, None, "a pipe", None),
    ],
)
def test_the_label_is_the_stated_the_asked_or_the_file_s(
    stated: str | None, asked: str | None, origin: str, label: str | None
) -> None:
    document = modern() | {"release_label": stated}
    found = parsed(document, origin=origin, label=asked).label
    assert found == (ReleaseLabel.parse(label) if label else None)


def test_archives_are_values() -> None:
    one, other = (next(parsed(modern()).archives()) for _ in range(2))
    assert isinstance(one, Archive)
    assert one == other
    assert one != next(parsed(modern(version="9.27.0.43")).archives())
