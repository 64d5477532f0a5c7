"""``python -m cudnn_redist``."""

import sys

from .cli import main

sys.exit(main())
