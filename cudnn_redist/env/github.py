"""Lines for the files by which a step of a GitHub Actions job speaks to the later ones.

Their names and format are those of GitHub's "Workflow commands": a line ``NAME=value`` for the environment and for
outputs, a bare directory for the path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .syntax import require_without

if TYPE_CHECKING:
    from .facts import Facts
    from .variables import Environment

__all__ = ["github_lines"]


def github_lines(environment: Environment, facts: Facts) -> dict[str, tuple[str, ...]]:
    """Return, by the variable that names the file, the lines to append: a later step sees them, this one does not.

    What belongs to ``PATH`` goes to the path's own file, before which GitHub puts it. The outputs are ``prefix`` and
    ``version``. ``UsageError`` where a list has a line break, after which a line of somebody else's would begin.
    """
    path = tuple(setting.added for setting in environment.settings if setting.name == "PATH")
    others = [setting for setting in environment.settings if setting.name != "PATH"]
    for setting in others:
        require_without(setting, "GITHUB_ENV", {})
    return {
        "GITHUB_ENV": tuple(f"{setting.name}={setting.value}" for setting in others),
        "GITHUB_PATH": path,
        "GITHUB_OUTPUT": (f"prefix={facts.path}", f"version={facts.version}"),
    }
