"""``sha256sums``, ``aria2`` and ``shell``: run by the programs they are for."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from export.ground import run
from installing import everything
from redist import RedistServer
from redist.faults import Flipped, Status

from cudnn_redist.export.kinds import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from export.ground import Exports

PLATFORMS = ("linux-sbsa", "linux-x86_64", "windows-x86_64")
ARCHIVE = "linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"


def test_sha256sum_finds_every_archive_right(exports: Exports, tmp_path: Path) -> None:
    for platform in PLATFORMS:
        (tmp_path / exports.name(platform)).write_bytes(exports.data(platform))
    text = exports.text("sha256sums")
    done = run("sha256sum", "--check", "--strict", cwd=tmp_path, text=text)
    assert done.stdout == "".join(f"{exports.name(platform)}: OK\n" for platform in PLATFORMS)
    (tmp_path / exports.name()).write_bytes(b"other")
    assert run("sha256sum", "--check", "--status", cwd=tmp_path, text=text).returncode == 1


def test_aria2_fetches_and_judges(exports: Exports, tmp_path: Path) -> None:
    (tmp_path / "input").write_text(exports.text("aria2"))
    done = run("aria2c", "--input-file=input", "--dir=got", "--quiet", "--no-conf", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    got = {path.name: path.read_bytes() for path in (tmp_path / "got").iterdir()}
    assert got == {exports.name(platform): exports.data(platform) for platform in PLATFORMS}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("aria2", ("aria2c", "--input-file=export", "--dir=got", "--quiet", "--no-conf")),
        ("shell", ("sh", "export", "got")),
    ],
)
def test_a_source_with_a_blank_is_handed_on_as_others_take_it(
    exports: Exports, tmp_path: Path, kind: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "srv").mkdir()
    (tmp_path / "srv/a b \u00fc").symlink_to(exports.tree.path)
    with RedistServer(tmp_path / "srv") as server:
        source = f"{server.url}a b \u00fc/"
        for number, locked in enumerate((exports.lock(), exports.lock(sources=[source]))):
            (tmp_path / "export").write_text(text_of(kind, locked, sources=[source][number:]))
            done = run(*words, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert (tmp_path / "got" / exports.name()).read_bytes() == exports.data()
            shutil.rmtree(tmp_path / "got")


def test_aria2_takes_the_next_url_and_refuses_wrong_bytes(exports: Exports, tmp_path: Path) -> None:
    lock = exports.lock(platform="linux-x86_64")
    with RedistServer(exports.tree.path) as mirror:
        (tmp_path / "input").write_text(text_of("aria2", lock, sources=[mirror.url, exports.server.url]))
        words = ("aria2c", "--input-file=input", "--dir=got", "--quiet", "--no-conf", "--max-tries=1")
        mirror.always(ARCHIVE, Status(404))
        assert run(*words, cwd=tmp_path).returncode == 0
        assert (tmp_path / "got" / exports.name()).read_bytes() == exports.data()
        mirror.heal()
        exports.server.always(ARCHIVE, Flipped(1_000))
        (tmp_path / "input").write_text(text_of("aria2", lock))
        assert run(*words, "--allow-overwrite=true", cwd=tmp_path).returncode != 0


def test_the_script_fetches_judges_and_keeps_what_is_right(exports: Exports, tmp_path: Path) -> None:
    (tmp_path / "fetch.sh").write_text(exports.text("shell"))
    done = run("sh", "fetch.sh", "got", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    got = {path.name: path.read_bytes() for path in (tmp_path / "got").iterdir()}
    assert got == {exports.name(platform): exports.data(platform) for platform in PLATFORMS}
    before = len(exports.server.log)
    (tmp_path / "got" / exports.name()).write_bytes(b"spoiled")
    assert run("sh", "fetch.sh", "got", cwd=tmp_path).returncode == 0
    assert (tmp_path / "got" / exports.name()).read_bytes() == exports.data()
    assert len(exports.server.log) == before + 1


@pytest.mark.parametrize(
    ("fault", "code", "says"),
    [
        pytest.param(Status(404), 4, "404", id="withdrawn"),
        pytest.param(Flipped(1_000), 5, "sha256 is not", id="wrong-bytes"),
    ],
)
def test_the_script_ends_with_a_code_and_leaves_nothing(
    exports: Exports, tmp_path: Path, fault: Status | Flipped, code: int, says: str
) -> None:
    exports.server.always(ARCHIVE, fault)
    text = exports.text("shell", platform="linux-x86_64")
    done = run("sh", "-s", "--", "got", cwd=tmp_path, text=text)
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr
    assert everything(tmp_path) == {"got": ("directory", "")}


def test_the_script_takes_the_next_source(exports: Exports, tmp_path: Path) -> None:
    lock = exports.lock(platform="linux-x86_64")
    with RedistServer(exports.tree.path) as mirror:
        mirror.always(ARCHIVE, Flipped(1_000))
        text = text_of("shell", lock, sources=[mirror.url, exports.server.url])
        assert run("sh", "-s", "--", "got", cwd=tmp_path, text=text).returncode == 0
    assert (tmp_path / "got" / exports.name()).read_bytes() == exports.data()


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_script_is_read_by_every_shell(exports: Exports, tmp_path: Path, shell: str) -> None:
    done = run(shell, "-n", cwd=tmp_path, text=exports.text("shell"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("kind", ["shell", "docker"])
def test_what_a_name_may_hold_is_no_command(exports: Exports, tmp_path: Path, kind: str) -> None:
    nasty = """cudnn/linux-x86_64/a'$(touch$IFS-hurt)`touch$IFS-hurt`;touch$IFS-hurt;"b.tar.xz"""
    exports.tree.edit_manifest(
        "9.27.0", lambda manifest: manifest["cudnn"]["linux-x86_64"]["cuda13"].update(relative_path=nasty)
    )
    text = exports.text(kind, platform="linux-x86_64")
    if kind == "docker":
        command = text.partition("RUN ")[2].partition("ENV ")[0].replace("\\\n", "").partition("locked ")[2]
        text = command.replace("/var/cache/cudnn-redist", str(tmp_path))
    env = {"TARGETARCH": "amd64", "CUDNN_VARIANT": "cuda13", "CUDNN_DIR": str(tmp_path / "prefix")}
    done = run("sh", "-s", cwd=tmp_path, text=text, env=env)
    assert done.returncode in (4, 5), done.stderr
    assert "404" in done.stderr
    assert list(tmp_path.iterdir()) == []
