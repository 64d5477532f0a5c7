"""``impatient.py ROOT URL``: a fetch as the command does it, but with pauses and waits of a moment, not of an hour."""

from __future__ import annotations

import sys

from cudnn_redist import InstallOptions, TransferOptions, fetch
from cudnn_redist.errors import RedistError

OPTIONS = InstallOptions(longest_wait=0.5, transfer=TransferOptions(retry_delay=0.02))


def main(root: str, url: str) -> int:
    try:
        prefix = fetch(
            "9.27.0", platform="linux-x86_64", cuda="13", sources=[url], root=root, options=OPTIONS
        )
    except RedistError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{prefix.path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
