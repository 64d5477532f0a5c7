"""What a Python has installed, read from its ``site-packages`` (Binary distribution format; Core metadata, PEP 566)."""

from __future__ import annotations

import email
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .copies import Origin
from .system import names_in, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Distribution", "Python", "ask_python", "this_python"]

_ASK = "import json, sys; print(json.dumps([sys.prefix, sys.executable, sys.path]))"
_SECONDS = 30.0
_WHEEL = re.compile(r"nvidia[-_.]cudnn(?:[-_.]jit)?[-_.]cu(?P<cuda>[0-9]+)", re.IGNORECASE)
_LIBRARY_IN_RECORD = re.compile(
    r"^\"?(?P<directory>[^,\"\n]*)/(?:libcudnn[^/,]*\.so\.[0-9]+|cudnn[^/,]*64_[0-9]+\.dll)\"?,", re.MULTILINE
)


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """One installed distribution: its ``name`` and ``version``, the directory ``site`` it lies in, and its metadata."""

    name: str
    version: str
    site: Path
    info: Path

    @cached_property
    def requires(self) -> tuple[str, ...]:
        """What it requires, such as ``nvidia-cudnn-cu13==9.19.0.56; platform_system == "Linux"``."""
        message = email.message_from_string(text_at(self.info / "METADATA"))
        return tuple(str(text) for text in message.get_all("Requires-Dist", ()))


@dataclass(frozen=True, kw_only=True)
class Python:
    """One Python: its ``prefix``, the program, and the directories it imports from."""

    prefix: Path
    program: Path
    sites: tuple[Path, ...]

    @cached_property
    def distributions(self) -> tuple[Distribution, ...]:
        """What is installed; of two of one name the first, which is what is imported."""
        found: dict[str, Distribution] = {}
        for site in self.sites:
            for distribution in _in_site(site):
                found.setdefault(distribution.name, distribution)
        return tuple(found.values())

    def wheels(self) -> Iterator[tuple[Path, Origin]]:
        """Yield the directories with cuDNN's libraries of NVIDIA's wheels, and of what brings its own."""
        for distribution in self.distributions:
            named = _WHEEL.fullmatch(distribution.name)
            for directory in _library_directories(distribution):
                yield (
                    directory,
                    Origin(
                        kind="wheel",
                        name=f"{distribution.name} {distribution.version}",
                        version=distribution.version if named else None,
                        cuda=int(named["cuda"]) if named else None,
                        mend=self.reinstall(f"{distribution.name}=={distribution.version}"),
                    ),
                )

    def reinstall(self, requirement: str) -> str:
        """Return the command that installs a wheel here again, by whichever tool made this environment."""
        if "\nuv = " in f"\n{text_at(self.prefix / 'pyvenv.cfg')}":
            return f"uv pip install --python {self.program} --reinstall {requirement}"
        return f"{self.program} -m pip install --force-reinstall --no-deps {requirement}"


def this_python() -> Python:
    """Return the Python that we run in."""
    return _python(sys.prefix, sys.executable, sys.path)


def ask_python(program: Path) -> Python:
    """Return what a Python says of itself, in a child; ``UsageError`` where it is none, or does not answer."""
    try:
        done = subprocess.run(  # noqa: S603 - the Python that the user names
            # Isolated, it would not look into the user's own packages, which its programs have.
            [str(program), "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            cwd=program.parent,
        )
        prefix, executable, paths = json.loads(done.stdout.splitlines()[-1])
        return _python(prefix, executable or str(program), paths)
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"this Python does not answer within {_SECONDS:g} s", where=program) from error
    except subprocess.CalledProcessError as error:
        words = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"this Python fails: {words[-1] if words else error}", where=program) from error
    except OSError as error:
        raise UsageError(f"no Python that can be run: {error.strerror}", where=program) from error
    except (ValueError, IndexError, TypeError) as error:
        raise UsageError("this program is no Python", where=program) from error


def _python(prefix: str, program: str, paths: list[str]) -> Python:
    sites = (Path(path) for path in paths if path)
    return Python(
        prefix=Path(prefix),
        program=Path(program),
        sites=tuple(dict.fromkeys(site for site in sites if site.name in ("site-packages", "dist-packages"))),
    )


def _in_site(site: Path) -> Iterator[Distribution]:
    try:
        names = list(names_in(site))
    except OSError:
        return
    for name in names:
        stem, dot, _ = name.rpartition(".dist-info")
        project, dash, version = stem.partition("-")
        if dot and dash:
            yield Distribution(
                name=project.lower().replace("_", "-"), version=version, site=site, info=site / name
            )


def _library_directories(distribution: Distribution) -> list[Path]:
    """Return where its RECORD has libraries of cuDNN."""
    record = text_at(distribution.info / "RECORD")
    if "cudnn" not in record:
        return []
    directories = (match["directory"] for match in _LIBRARY_IN_RECORD.finditer(record))
    return [distribution.site / directory for directory in dict.fromkeys(directories)]
