"""What the library notes on the way: a retry, a label that changed. Silent until somebody listens."""

from __future__ import annotations

import logging

__all__ = ["log"]

log = logging.getLogger("cudnn_redist")
# A library prints nothing: without a handler of the caller's, notes would go to stderr by themselves.
log.addHandler(logging.NullHandler())
