"""Which cuDNNs this machine has, whether they mix, and whether one loads and runs."""

from __future__ import annotations
