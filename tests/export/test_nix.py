"""``nix``: evaluated and built by Nix itself, in a store of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from export.nix import Nix
from redist.faults import Flipped

from cudnn_redist.export.kinds import text_of

if TYPE_CHECKING:
    from export.ground import Exports

ARCHIVE = "linux-x86_64-9.27.0.42_cuda13-archive.tar.xz"
ATTRIBUTE = 'cudnn."9.27.0".linux-x86_64.cuda13'


@pytest.fixture
def nix(tmp_path: Path) -> Nix:
    return Nix(tmp_path)


def test_every_archive_is_a_derivation(exports: Exports, nix: Nix, tmp_path: Path) -> None:
    (tmp_path / "cudnn.nix").write_text(exports.text("nix", cuda=["12", "13"]))
    for platform in ("linux-x86_64", "linux-sbsa", "windows-x86_64"):
        for variant in ("cuda12", "cuda13"):
            attribute = f'cudnn."9.27.0".{platform}.{variant}.outputHash'
            done = nix.run("nix-instantiate", "--eval", "cudnn.nix", "-A", attribute)
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip('"\n').startswith("sha256-")
    done = nix.run("nix-instantiate", "cudnn.nix", "-A", ATTRIBUTE)
    assert done.stdout.strip().endswith(f"{exports.name()}.drv"), done.stderr


def test_nix_build_fetches_the_archive(exports: Exports, nix: Nix, tmp_path: Path) -> None:
    (tmp_path / "cudnn.nix").write_text(exports.text("nix"))
    done = nix.run("nix-build", "cudnn.nix", "-A", ATTRIBUTE, "--no-out-link")
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).read_bytes() == exports.data()


def test_wrong_bytes_stop_it(exports: Exports, nix: Nix, tmp_path: Path) -> None:
    exports.server.always(ARCHIVE, Flipped(1_000))
    (tmp_path / "cudnn.nix").write_text(exports.text("nix"))
    done = nix.run("nix-build", "cudnn.nix", "-A", ATTRIBUTE, "--no-out-link")
    assert done.returncode != 0
    assert "hash mismatch" in done.stderr


def test_it_takes_the_fetchurl_of_nixpkgs_with_several_urls(
    exports: Exports, nix: Nix, tmp_path: Path
) -> None:
    sources = [exports.server.url, str(exports.tree.path)]
    (tmp_path / "cudnn.nix").write_text(
        text_of("nix", exports.lock(platform="linux-x86_64"), sources=sources)
    )
    asked = f"(import ./cudnn.nix {{ fetchurl = given: given.urls; }}).{ATTRIBUTE}"
    done = nix.run("nix-instantiate", "--eval", "--strict", "--expr", asked)
    assert done.returncode == 0, done.stderr
    path = exports.entry()["relative_path"]
    tree = exports.tree.path.as_uri()
    assert done.stdout == f'[ "{exports.server.url}cudnn/redist/{path}" "{tree}/cudnn/redist/{path}" ]\n'


def test_what_a_name_may_hold_stays_a_text(exports: Exports, nix: Nix, tmp_path: Path) -> None:
    nasty = 'cudnn/linux-x86_64/a"b${builtins.abort 1}-archive.tar.xz'
    exports.tree.edit_manifest(
        "9.27.0", lambda manifest: manifest["cudnn"]["linux-x86_64"]["cuda13"].update(relative_path=nasty)
    )
    (tmp_path / "cudnn.nix").write_text(exports.text("nix", platform="linux-x86_64"))
    asked = f"(import ./cudnn.nix {{ fetchurl = given: given.name; }}).{ATTRIBUTE}"
    done = nix.run("nix-instantiate", "--eval", "--expr", asked)
    assert done.returncode == 0, done.stderr
    assert "builtins.abort 1" in done.stdout
