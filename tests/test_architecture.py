"""The rules of the house (design, section 1), read from the source text."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import cudnn_redist

PACKAGE = Path(cudnn_redist.__file__).parent

ROOMS = (
    "errors",
    "notes",
    "findings",
    "binaries",
    "owners",
    "maps",
    "renames",
    "manifest",
    "host",
    "network",
    "libc",
    "locations",
    "parts",
    "layout",
    "asking",
    "digest",
    "planner",
    "source",
    "unpack",
    "generated",
    "env",
    "prefix",
    # From here on modules join the rooms.
    "blame",
    "resolver",
    "channel",
    "opening",
    "locking",
    "catalog",
    "unpacking",
    "delivery",
    "needs",
    "recording",
    "installer",
    "fetcher",
    "adoption",
    "export",
    "mirroring",
    "doctor",
    "cli",
    "__main__",
)
"""From left to right: a room imports rooms to its left."""

APART = {"source", "unpack", "generated", "prefix"}
ONE_HOME = {"httpx": {"source/http.py"}, "tqdm": {"cli/progress.py"}}
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def tree_of(file: str) -> ast.Module:
    return ast.parse((PACKAGE / file).read_text(), filename=file)


def room_of(file: str) -> str:
    return file.removesuffix(".py").split("/")[0]


def imports(tree: ast.AST) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return (level, module, names) of every import, late ones and those for types alone included."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found.extend((0, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        else:
            found.extend(imports(node))
    return found


def rooms_imported(file: str) -> set[str]:
    """Return the rooms that a file imports from, its own left out."""
    depth = file.count("/")
    found = set()
    for level, module, names in imports(tree_of(file)):
        if level == depth + 1:
            found.update({module.split(".")[0]} if module else set(names) - {"__version__"})
    return found - {room_of(file)}


@pytest.mark.parametrize("file", [file for file in FILES if file != "__init__.py"])
def test_a_room_imports_rooms_to_its_left(file: str) -> None:
    room = room_of(file)
    allowed = set(ROOMS[: ROOMS.index(room)])
    if room in APART:
        allowed -= APART
    assert rooms_imported(file) - allowed == set()


def test_nothing_imports_the_command_line() -> None:
    assert [file for file in FILES if "cli" in rooms_imported(file)] == ["__main__.py"]


@pytest.mark.parametrize("file", FILES)
def test_imports_inside_the_package_are_relative_and_stay_inside(file: str) -> None:
    for level, module, _ in imports(tree_of(file)):
        assert level or module.split(".")[0] != "cudnn_redist"
        assert level <= file.count("/") + 1


@pytest.mark.parametrize("library", sorted(ONE_HOME))
def test_a_library_has_one_home(library: str) -> None:
    users = {
        file
        for file in FILES
        if any(module.split(".")[0] == library for level, module, _ in imports(tree_of(file)) if not level)
    }
    assert users == ONE_HOME[library]


def test_zstandard_is_known_only_where_zstd_is_read_or_written() -> None:
    users = {
        room_of(file)
        for file in FILES
        if any(
            module.split(".")[0] == "zstandard" for level, module, _ in imports(tree_of(file)) if not level
        )
    }
    assert users <= {"unpack", "mirroring"}


def test_there_are_no_data_files_and_no_catch_all_modules() -> None:
    others = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    ]
    assert set(others) <= {"py.typed"}
    stems = {Path(file).stem for file in FILES}
    assert stems & {"utils", "util", "common", "helpers", "helper", "misc", "core"} == set()


def test_no_module_bears_the_name_of_a_public_function() -> None:
    functions = {name for name in cudnn_redist.__all__ if inspect.isfunction(getattr(cudnn_redist, name))}
    assert functions >= {"fetch", "install", "labels", "plan"}
    top = {room_of(file) for file in FILES}
    assert functions & top == set()


def test_every_public_name_resolves_and_is_listed() -> None:
    for name in cudnn_redist.__all__:
        assert getattr(cudnn_redist, name) is not None
    assert sorted(cudnn_redist.__all__) == list(cudnn_redist.__all__) == dir(cudnn_redist)
    assert set(cudnn_redist._HOMES) | {"__version__", "errors"} == set(cudnn_redist.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        cudnn_redist.nope  # type: ignore[attr-defined]  # noqa: B018 - asking is the test


def test_what_a_type_checker_sees_is_what_there_is() -> None:
    block = next(node for node in tree_of("__init__.py").body if isinstance(node, ast.If))
    seen = {name for _, _, names in imports(block) for name in names}
    assert seen | {"__version__"} == set(cudnn_redist.__all__)


def test_star_import() -> None:
    found: dict[str, object] = {}
    exec("from cudnn_redist import *", found)
    assert set(cudnn_redist.__all__) <= set(found)


@pytest.mark.parametrize("file", [file for file in FILES if Path(file).stem != "__main__"])
def test_what_a_module_exports_is_defined_and_documented(file: str) -> None:
    tree = tree_of(file)
    assert ast.get_docstring(tree)
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    listed = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    exported = set(listed[0]) if listed else set()
    for name, node in defined.items():
        if name in exported:
            assert ast.get_docstring(node), name
        else:
            assert name.startswith("_"), f"{name} is neither exported nor private"


@pytest.mark.parametrize("name", sorted(set(cudnn_redist.__all__) - {"__version__", "errors"}))
def test_public_names_and_their_methods_are_documented(name: str) -> None:
    public = getattr(cudnn_redist, name)
    assert public.__doc__
    if inspect.isclass(public) and not name.startswith("_"):
        methods = [each for each, value in vars(public).items() if inspect.isfunction(value)]
        undocumented = [
            each for each in methods if not each.startswith("_") and not getattr(public, each).__doc__
        ]
        assert undocumented == []
