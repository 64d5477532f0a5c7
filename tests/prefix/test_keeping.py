from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from prefix.made import names, record

from cudnn_redist import __version__
from cudnn_redist.layout import Layout
from cudnn_redist.prefix.keeping import keep_manifest, note_install

if TYPE_CHECKING:
    from pathlib import Path


URL = "https://mirror.example/redist/redistrib_9.27.0.json"


def test_a_manifest_is_kept_byte_for_byte_and_replaced(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "root")
    for data in (b'{"a": 1}\r\n', b"{}"):
        keep_manifest(layout, "cudnn", data, url=URL)
        assert layout.kept_manifest("cudnn", URL).read_bytes() == data
    keep_manifest(layout, "cutensor", b"[]", url=URL)
    keep_manifest(layout, "cudnn", b"other", url=URL.replace("mirror", "elsewhere"))
    assert layout.kept_manifest("cudnn", URL).read_bytes() == b"{}"
    assert names(layout.kept_manifest("cudnn", URL).parent) == ["redistrib_9.27.0.json"]
    assert len(names(layout.kept_manifests("cudnn"))) == 2


def test_a_manifest_that_cannot_be_kept_leaves_nothing(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    path = layout.kept_manifest("cudnn", URL)
    path.mkdir(parents=True)
    with pytest.raises(OSError, match="Is a directory"):
        keep_manifest(layout, "cudnn", b"{}", url=URL)
    assert names(path.parent) == ["redistrib_9.27.0.json"]


def test_an_install_is_a_line_of_the_log(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    for name in ("one", "zwei\u00e9\udce9\n"):
        note_install(layout, tmp_path / name, record(), origin="https://me:secret@h/x?token=1")
    first, second = map(json.loads, layout.log.read_text().splitlines())
    assert datetime.now(UTC) - datetime.fromisoformat(first.pop("time")) < timedelta(minutes=5)
    assert first == {
        "tool": __version__,
        "prefix": str(tmp_path / "one"),
        "from": "https://h/x",
        "archive": "a" * 64,
        "manifest": "b" * 64,
    }
    assert second["prefix"] == str(tmp_path / "zwei\u00e9\udce9\n")


APPEND = """
import sys
from pathlib import Path
from prefix.made import record
from cudnn_redist.layout import Layout
from cudnn_redist.prefix.keeping import note_install
for number in range(50):
    note_install(Layout(Path(sys.argv[1])), Path("x" * 500), record(), origin=sys.argv[2])
"""


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    tests = str(__file__).rpartition("/prefix/")[0]
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", APPEND, str(tmp_path), f"from{number}"], env={"PYTHONPATH": tests}
        )
        for number in range(3)
    ]
    assert [program.wait(60) for program in programs] == [0, 0, 0]
    lines = [json.loads(line) for line in Layout(tmp_path).log.read_text().splitlines()]
    assert sorted(line["from"] for line in lines) == sorted(["from0", "from1", "from2"] * 50)
