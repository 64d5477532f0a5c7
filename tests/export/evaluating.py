"""Starlark files, evaluated: the rules in them only note what they are called with."""

from __future__ import annotations

from typing import Any

import starlark

STUBS = """
calls = []
def _rule(kind):
    def declare(**arguments):
        calls.append(dict(arguments, kind = kind))
    return declare
def use_repo_rule(file, name):
    return _rule(name)
def use_extension(file, name):
    return struct(redist_json = _rule("redist_json"), component = _rule("component"))
def package(**arguments):
    pass
def include(file):
    calls.append(dict(kind = "include", file = file))
module = _rule("module")
bazel_dep = _rule("bazel_dep")
filegroup = _rule("filegroup")
cc_library = _rule("cc_library")
cc_binary = _rule("cc_binary")
"""
GLOBALS = starlark.Globals.extended_by([starlark.LibraryExtension.StructType])


def evaluated(text: str, **values: Any) -> starlark.Module:  # noqa: ANN401 - what Starlark has
    """Evaluate a file in which the rules note what they are called with."""
    module = starlark.Module()
    for name, value in values.items():
        module.add_callable(name, value)
    starlark.eval(module, starlark.parse("stubs", STUBS), GLOBALS)
    starlark.eval(module, starlark.parse("file", text), GLOBALS)
    return module
