"""Every reader of foreign bytes against random ones: ``python tests/fuzz/run.py --help``; needs atheris."""

from __future__ import annotations

import sys
from pathlib import Path

# A script's own directory leads sys.path; its modules are named from the one above, as tests name them.
sys.path[0] = str(Path(__file__).parents[1])

from fuzz.command import main  # noqa: E402 - found only now

sys.exit(main(sys.argv[1:]))
