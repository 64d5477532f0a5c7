"""A report without what is nobody's business: home directories, user names, credentials. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Redaction"]

_LOGIN = re.compile(r"(?<=://)[^/\s@]+@")
_SECRET = re.compile(
    r"(?i)\b((?:[a-z0-9_-]*(?:token|password|passwd|secret|api[_-]?key|credential)[a-z0-9_-]*)\s*[=:]\s*)\S+"
)
_SECRET_WORD = re.compile(
    r"(?i)(?<!\S)(--?[a-z0-9_-]*(?:token|password|passwd|secret|api[_-]?key|credential)[a-z0-9_-]*\s+)(?!-)\S+"
)
_OTHER_HOME = re.compile(r"(?<![\w.-])(/home|/Users|[A-Za-z]:[\\/]Users)([\\/])[^\\/\s:;,'\"]+")
_NAMES = ("USER", "LOGNAME", "USERNAME", "SUDO_USER")
# What stands for nobody in particular.
_SHORTEST_NAME = 3
_NO_NAMES = frozenset({"root", "user", "admin", "nvidia", "ubuntu"})


class Redaction:
    """Replaces what ``environ`` tells of the user: the home directory by ``~``, names by ``<user>``."""

    def __init__(self, environ: Mapping[str, str], home: str | None = None) -> None:
        homes = {environ.get("HOME", ""), environ.get("USERPROFILE", ""), home or ""}
        self._homes = sorted((each.rstrip("/\\") for each in homes), key=len, reverse=True)
        names = {environ.get(name, "") for name in _NAMES}
        known = sorted(name for name in names if len(name) >= _SHORTEST_NAME and name not in _NO_NAMES)
        self._names = (
            re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, known))})(?![\w-])") if known else None
        )

    def text(self, text: str) -> str:
        """Return ``text`` redacted."""
        for home in self._homes:
            if home:
                text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
        text = _OTHER_HOME.sub(r"\1\2<user>", text)
        text = _SECRET_WORD.sub(r"\1<secret>", _SECRET.sub(r"\1<secret>", _LOGIN.sub("<login>@", text)))
        return self._names.sub("<user>", text) if self._names else text

    def facts(self, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Return what JSON holds with every text in it redacted."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.facts(each) for key, each in value.items()}
        return [self.facts(each) for each in value] if isinstance(value, (list, tuple)) else value
