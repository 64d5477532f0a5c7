"""What ``--json`` prints is a contract: the keys and types of each command, written down once."""

from __future__ import annotations

import json
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any

import pytest
from cli.ground import CHOICE
from redist import RedistTree
from redist.command import run_command

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Shape = dict[str, Any]

PREFIX: Shape = {
    "path": str,
    "product": str,
    "label": str,
    "component": str,
    "version": str,
    "platform": str,
    "variant": str | NoneType,
    "parts": [str],
    "disk_saved": int,
    "include_dir": str,
    "lib_dir": str,
    "bin_dir": str | NoneType,
    "archive_sha256": str,
    "manifest_sha256": str,
    "tree": str,
}
FINDING: Shape = dict.fromkeys(("code", "severity", "where", "detail", "meaning", "remedy"), str)
MANIFEST: Shape = {"origin": str, "sha256": str}
PLANNED: Shape = {
    "url": str,
    "urls": [str],
    "product": str,
    "label": str,
    "component": str,
    "version": str,
    "platform": str,
    "variant": str | NoneType,
    "parts": [str],
    "relative_path": str,
    "sha256": str | NoneType,
    "size": int | NoneType,
    "prefix": str,
}
LOCKED: Shape = {
    "component": str,
    "version": str,
    "platform": str,
    "variant": str | NoneType,
    "relative_path": str,
    "url": str | NoneType,
    "sha256": str,
    "size": int | NoneType,
    "tree": str | NoneType,
}
PLAN: Shape = {
    "product": str,
    "label": str,
    "manifest": MANIFEST,
    "download_size": int,
    "disk_size": int,
    "reasons": [str],
    "archives": [PLANNED],
}
OFFERED: Shape = {
    "platform": str,
    "variant": str | NoneType,
    "relative_path": str,
    "sha256": str | NoneType,
    "size": int | NoneType,
}
RELEASE: Shape = {
    "label": str,
    "product": str | NoneType,
    "date": str | NoneType,
    "manifest": MANIFEST,
    "components": [
        {
            "component": str,
            "name": str | NoneType,
            "version": str | NoneType,
            "license": str | NoneType,
            "archives": [OFFERED],
        }
    ],
}
ERROR: Shape = {"type": str, "exit_code": int, "phase": str, "where": str | NoneType, "cause": str}

COMMANDS: dict[str, tuple[tuple[str, ...], Shape]] = {
    "fetch": (("fetch", "9.27.0", *CHOICE), {"prefixes": [PREFIX]}),
    "fetch, several": (
        ("fetch", "9.27.0", "--platform", "windows-x86_64", *CHOICE),
        {"prefixes": [PREFIX]},
    ),
    "fetch, no variant": (("fetch", "9.27.0", "--component", "cudnn_samples"), {"prefixes": [PREFIX]}),
    "fetch --dry-run": (
        ("fetch", "9.27.0", *CHOICE, "--dry-run"),
        {**PLAN, "archives": [{**PLANNED, "present": bool}]},
    ),
    "list": (("list",), {"product": str, "labels": [str]}),
    "list LABEL": (("list", "9.27.0"), RELEASE),
    "list LABEL, oldest form": (("list", "7.1.1"), RELEASE),
    "list --installed": (("list", "--installed"), {"prefixes": [PREFIX]}),
    "url": (("url", "9.27.0", *CHOICE), PLAN),
    "url, oldest form": (("url", "7.1.1", "--platform", "linux-x86_64"), PLAN),
    "where": (("where", "9.27.0", *CHOICE), {"prefixes": [PREFIX]}),
    "verify": (("verify", "9.27.0"), {"prefixes": [{**PREFIX, "findings": [FINDING]}]}),
    "remove": (("remove", "9.27.0"), {"removed": [str]}),
    "export": (
        ("export", "nix", "9.27.0"),
        {
            "kind": str,
            "text": str,
            "releases": [{"product": str, "label": str, "manifest_sha256": str, "archives": [LOCKED]}],
        },
    ),
}

FAILURES: dict[str, tuple[tuple[str, ...], int, Shape]] = {
    "UsageError": (("fetch", "9.x"), 2, {}),
    "LabelNotFound": (("list", "9.99.0"), 3, {"available": [str]}),
    "VariantNotFound": (("url", "9.27.0", *CHOICE[:2], "--cuda", "11"), 3, {"available": [str]}),
    "NotInstalled": (("where", "9.27.0", *CHOICE), 3, {"available": [str]}),
    "ManifestChanged": (
        ("url", "9.27.0", *CHOICE, "--manifest-sha256", "0" * 64),
        5,
        {"expected": str, "actual": str},
    ),
    "ManifestError": (("list", "9.0.0"), 6, {"faults": [str]}),
}


def fits(value: object, shape: Any) -> bool:  # noqa: ANN401 - a type, a list of one shape, or keys and shapes
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(each, shape[0]) for each in value)
    if isinstance(shape, dict):
        return (
            isinstance(value, dict)
            and value.keys() == shape.keys()
            and all(fits(value[key], below) for key, below in shape.items())
        )
    assert isinstance(shape, type | UnionType)
    return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The variables that lead to a source and to a root in which 9.27.0 is installed."""
    folder = tmp_path_factory.mktemp("json")
    tree = RedistTree(folder / "tree")
    tree.add_release("9.27.0", components=("cudnn", "cudnn_samples"))
    tree.add_release("7.1.1", layout="oldest")
    tree.manifest_path("9.0.0").write_text('{"cudnn": {"linux-x86_64": []}}')
    return {
        "HOME": str(folder),
        "CUDNN_REDIST_ROOT": str(folder / "root"),
        "CUDNN_REDIST_SOURCE": str(tree.path),
    }


@pytest.mark.parametrize(("words", "shape"), COMMANDS.values(), ids=COMMANDS)
def test_the_shape_of_a_result(place: Mapping[str, str], words: tuple[str, ...], shape: Shape) -> None:
    assert run_command("fetch", "9.27.0", *CHOICE, env=place).code == 0
    done = run_command(*words, "--json", env=place)
    assert done.code == 0
    told = json.loads(done.out)
    assert fits(told, shape), told
    assert all(found for found in told.values() if isinstance(found, list))
    assert done.out.isascii()


@pytest.mark.parametrize("kind", FAILURES)
def test_the_shape_of_an_error(place: Mapping[str, str], kind: str, tmp_path: Path) -> None:
    words, code, facts = FAILURES[kind]
    done = run_command(*words, "--json", env={**place, "CUDNN_REDIST_ROOT": str(tmp_path)})
    told = json.loads(done.out)
    assert fits(told, {"error": {**ERROR, **facts}}), told
    assert (done.code, told["error"]["exit_code"], told["error"]["type"]) == (code, code, kind)


def test_a_bug_has_the_keys_of_every_error(place: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "pydantic.py").write_text("raise RuntimeError('broken')")
    done = run_command("list", "9.27.0", "--json", env={**place, "PYTHONPATH": str(tmp_path)})
    told = json.loads(done.out)
    assert fits(told, {"error": ERROR}), told
    assert (done.code, told["error"]["type"]) == (1, "Bug")


def test_the_facts_are_true(place: Mapping[str, str]) -> None:
    run_command("fetch", "9.27.0", *CHOICE, env=place)
    (prefix,) = json.loads(run_command("where", "9.27.0", *CHOICE, "--json", env=place).out)["prefixes"]
    assert prefix["path"].endswith("/root/cudnn/9.27.0/cudnn/linux-x86_64/cuda13")
    assert (prefix["include_dir"], prefix["lib_dir"]) == (
        f"{prefix['path']}/include",
        f"{prefix['path']}/lib",
    )
    (planned,) = json.loads(run_command("url", "9.27.0", *CHOICE, "--json", env=place).out)["archives"]
    same = ("product", "label", "component", "version", "platform", "variant")
    assert {key: planned[key] for key in same} == {key: prefix[key] for key in same}
    assert (planned["sha256"], planned["prefix"]) == (prefix["archive_sha256"], prefix["path"])
