"""What Bazel reads, evaluated as Starlark, and held against manifest and archive."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import tarfile
from base64 import b64decode
from typing import TYPE_CHECKING

import pytest
from export.evaluating import evaluated

from cudnn_redist.errors import UsageError

if TYPE_CHECKING:
    from export.ground import Exports


def sha256_of(integrity: str) -> str:
    kind, _, digest = integrity.partition("-")
    assert kind == "sha256"
    return b64decode(digest).hex()


def test_an_archive_is_a_repository(exports: Exports) -> None:
    calls = evaluated(exports.text("bazel"))["calls"]
    assert [call["name"] for call in calls] == [
        "cudnn_linux_sbsa_cuda13",
        "cudnn_linux_x86_64_cuda13",
        "cudnn_windows_x86_64_cuda13",
    ]
    call = calls[1]
    entry = exports.entry()
    assert call["kind"] == "http_archive"
    assert sha256_of(call["integrity"]) == entry["sha256"] == hashlib.sha256(exports.data()).hexdigest()
    assert call["urls"] == [f"{exports.server.url}cudnn/redist/{entry['relative_path']}"]
    with tarfile.open(exports.tree.archive_path("9.27.0")) as archive:
        assert {name.split("/")[0] for name in archive.getnames()} == {call["strip_prefix"]}


def test_its_build_file_has_libraries_and_headers(exports: Exports) -> None:
    call = evaluated(exports.text("bazel"))["calls"][1]
    with tarfile.open(exports.tree.archive_path("9.27.0")) as archive:
        names = [member.name.partition("/")[2] for member in archive if not member.isdir()]

    def glob(patterns: list[str], allow_empty: bool = False) -> list[str]:  # noqa: FBT001, FBT002 - Bazel's own
        found = [name for name in names if any(fnmatch.fnmatch(name, each) for each in patterns)]
        assert found or allow_empty
        return found

    load, _, rest = call["build_file_content"].partition("\n")
    assert load == 'load("@rules_cc//cc:defs.bzl", "cc_library")'
    files, library = evaluated(rest, glob=glob)["calls"]
    assert sorted(files["srcs"]) == sorted(names)
    assert library["name"] == "cudnn"
    assert {"lib/libcudnn.so", "lib/libcudnn.so.9", "lib/libcudnn.so.9.27.0"} <= set(library["srcs"])
    assert "include/cudnn.h" in library["hdrs"]
    assert library["includes"] == ["include"]


def test_rules_cuda_gets_archives_with_variants_as_components(exports: Exports) -> None:
    calls = evaluated(exports.text("rules-cuda", platform="linux-x86_64"))["calls"]
    assert [(call["kind"], call["component_name"], call["version"]) for call in calls] == [
        ("component", "cudnn", "9.27.0.42")
    ]
    assert sha256_of(calls[0]["integrity"]) == exports.entry()["sha256"]


def test_rules_cuda_gets_a_manifest_without_variants_as_it_is(exports: Exports) -> None:
    exports.tree.add_release("8.9.7.29", variants=())
    (call,) = evaluated(exports.text("rules-cuda", "8.9.7.29", cuda=None))["calls"]
    manifest = exports.tree.manifest_path("8.9.7.29").read_bytes()
    assert call == {
        "kind": "redist_json",
        "name": "cudnn_8_9_7_29_redist_json",
        "components": ["cudnn"],
        "sha256": hashlib.sha256(manifest).hexdigest(),
        "urls": [f"{exports.server.url}cudnn/redist/redistrib_8.9.7.29.json"],
        "version": "8.9.7.29",
    }


def test_the_dictionaries_of_rules_ml_toolchain(exports: Exports) -> None:
    module = evaluated(exports.text("rules-ml-toolchain", cuda=["12", "13"]))
    manifest = exports.tree.manifest_path("9.27.0").read_bytes()
    assert module["CUDNN_REDIST_JSON_DICT"] == {
        "9.27.0": [
            f"{exports.server.url}cudnn/redist/redistrib_9.27.0.json",
            hashlib.sha256(manifest).hexdigest(),
        ]
    }
    table = module["CUDNN_REDISTRIBUTIONS"]["cudnn"]
    assert set(table) == {"linux-sbsa", "linux-x86_64", "windows-x86_64"}
    assert set(table["linux-x86_64"]) == {"cuda12", "cuda13"}
    entry = exports.entry()
    assert table["linux-x86_64"]["cuda13"] == {
        "full_path": f"{exports.server.url}cudnn/redist/{entry['relative_path']}",
        "sha256": entry["sha256"],
        "strip_prefix": exports.name().removesuffix(".tar.xz"),
    }


@pytest.mark.parametrize("kind", ["bazel", "rules-cuda", "rules-ml-toolchain", "cmake", "docker"])
def test_one_release_of_a_component_at_a_time(exports: Exports, kind: str) -> None:
    with pytest.raises(UsageError, match=r"takes one release of cudnn: 9\.26\.0, 9\.27\.0; choose a LABEL"):
        exports.text(kind, ["9.26.0", "9.27.0"], platform="linux-x86_64")  # type: ignore[arg-type]


def test_what_a_url_may_hold_stays_a_text(exports: Exports) -> None:
    nasty = "cudnn/linux-x86_64/a\"b'c$(d)`e${f}-archive.tar.xz"
    exports.tree.edit_manifest(
        "9.27.0", lambda manifest: manifest["cudnn"]["linux-x86_64"]["cuda13"].update(relative_path=nasty)
    )
    (call,) = evaluated(exports.text("bazel", platform="linux-x86_64"))["calls"]
    assert call["strip_prefix"] == "a\"b'c$(d)`e${f}-archive"
    assert json.loads(json.dumps(call["urls"]))[0].endswith("-archive.tar.xz")
