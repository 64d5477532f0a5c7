"""The kill, signal, race and cut campaigns in their long form: ``python tests/campaigns/run.py --help``."""

from __future__ import annotations

import sys
from pathlib import Path

# A script's own directory leads sys.path; its modules are named from the one above, as tests name them.
sys.path[0] = str(Path(__file__).parents[1])

from campaigns.command import main  # noqa: E402 - found only now

sys.exit(main(sys.argv[1:]))
