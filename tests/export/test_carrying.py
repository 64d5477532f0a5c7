"""What the installer's file carries: this package's own modules, in the words of Python 3.8."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from cudnn_redist.export.carrying import carried

if TYPE_CHECKING:
    from export.ground import Exports

MODULES = carried("export.standalone.command")
# Methods and settings that came after 3.8, and that no parser knows: the ones a hand would write.
LATER = re.compile(
    r"\.removeprefix\(|\.removesuffix\(|slots=True|kw_only=True|strict=True|cancel_futures|\.is_relative_to\("
    r"|import .*\bSelf\b|\bmatch\b.*:$|file_digest|\.readlink\(\)|\.hardlink_to\(|functools\.cache\b|math\.lcm"
)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_reads_as_python_3_8(name: str) -> None:
    tree = ast.parse(MODULES[name], feature_version=(3, 8))
    code = ast.unparse(tree)
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, ast.Module)]
    assert [
        found[0] for found in LATER.finditer(code) if not any(found[0] in text for text in docstrings)
    ] == []


@pytest.mark.parametrize("name", MODULES)
def test_a_module_needs_the_standard_library_and_what_is_carried(name: str) -> None:
    outside = {
        alias.name.split(".")[0]
        for node in ast.parse(MODULES[name]).body
        if isinstance(node, ast.Import)
        for alias in node.names
    } & {"httpx", "pydantic", "platformdirs", "tqdm", "zstandard", "certifi", "truststore"}
    assert outside == set()


def test_only_what_is_needed_is_carried() -> None:
    rooms = {name.split(".")[0] for name in MODULES}
    assert rooms.isdisjoint({"cli", "source", "env", "mirroring", "delivery", "installer", "fetcher"})
    assert {"", "errors", "unpack", "unpack.members", "prefix.publish", "recording"} <= set(MODULES)


def test_the_file_has_the_modules_letter_by_letter(exports: Exports) -> None:
    text = exports.text("python")
    compile(text, "installer", "exec")
    tree = ast.parse(text, feature_version=(3, 8))
    values = {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("PINS", "MODULES")
    }
    assert values["MODULES"] == MODULES
    assert exports.entry()["sha256"] in values["PINS"]


def test_the_same_lock_gives_the_same_file(exports: Exports) -> None:
    assert exports.text("python") == exports.text("python")
