"""The test ground: small true redist trees, and a loopback server that misbehaves on request.

Used by the tests, the quickstart and the benchmarks; ``tests/`` must be on `sys.path`.
"""

from __future__ import annotations

from .content import File, Folder, Link
from .log import Request
from .pool import RedistPool
from .server import RedistServer
from .tree import RedistTree

__all__ = ["File", "Folder", "Link", "RedistPool", "RedistServer", "RedistTree", "Request"]
