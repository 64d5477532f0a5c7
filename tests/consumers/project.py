"""A CMake project of a few lines: configured, built, run."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from consumers.tools import ran

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cudnn_redist import Prefix

__all__ = ["APP", "PRINTS_VERSION", "Project", "moved"]

PRINTS_VERSION = """\
#include <cudnn.h>
#include <stdio.h>
int main(void) {
    printf("version %zu\\n", cudnnGetVersion());
    return cudnnGetVersion() != CUDNN_VERSION;
}
"""
APP = """
find_package({name} REQUIRED CONFIG)
add_executable(app main.c)
target_link_libraries(app PRIVATE {target})
"""


def moved(prefix: Prefix, to: Path) -> Path:
    """Return a copy of a prefix in another place, which is all that a consumer of it is given."""
    shutil.copytree(prefix.path, to, symlinks=True)
    return to


class Project:
    """A project at ``home`` whose program, where it has one, prints cuDNN's version."""

    def __init__(self, home: Path, text: str, *, languages: str = "C") -> None:
        self.home = home
        self.build_dir = home / "build"
        home.mkdir(parents=True, exist_ok=True)
        (home / "main.c").write_text(PRINTS_VERSION)
        opening = f"cmake_minimum_required(VERSION 3.18)\nproject(consumer LANGUAGES {languages})\n"
        (home / "CMakeLists.txt").write_text(opening + text)

    def configure(
        self, *options: str | Path, env: Mapping[str, str] | None = None, fails: bool = False
    ) -> str:
        """Configure and generate; return what CMake said."""
        generator = ("-G", "Unix Makefiles", "-Wno-dev")
        return ran("cmake", "-S", self.home, "-B", self.build_dir, *generator, *options, env=env, fails=fails)

    def build(self) -> None:
        ran("cmake", "--build", self.build_dir)

    def install(self, destination: Path, *options: str) -> None:
        ran("cmake", "--install", self.build_dir, "--prefix", destination, *options)

    def run(self, program: str = "app") -> str:
        return ran(self.build_dir / program)
