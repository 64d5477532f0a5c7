"""For a CI script: make sure that one exact cuDNN is here, and tell the build where it is.

python examples/ci_script.py 9.27.0 --cuda 13 [--source URL] [--root DIR]
"""

import argparse
import os
import sys
from pathlib import Path

from cudnn_redist import errors, fetch
from cudnn_redist.findings import faults


def main() -> int:
    """Fetch, verify, export; the exit code is that of the error."""
    words = argparse.ArgumentParser()
    words.add_argument("label")
    words.add_argument("--cuda", required=True)
    words.add_argument("--platform")
    words.add_argument("--source", action="append", default=[])
    words.add_argument("--root")
    asked = words.parse_args()

    try:
        prefix = fetch(
            asked.label, cuda=asked.cuda, platform=asked.platform, sources=asked.source, root=asked.root
        )
    except errors.TransferError as error:
        print(f"the network, not the release: {error}", file=sys.stderr)
        return error.exit_code
    except errors.RedistError as error:
        print(error, file=sys.stderr)
        return error.exit_code

    if found := faults(prefix.verify()):
        print("cached prefix damaged:", *found, sep="\n  ", file=sys.stderr)
        return errors.VerificationFailed.exit_code
    lines = f"CUDNN_PATH={prefix.path}\nCUDNN_VERSION={prefix.record.version}\n"
    if github_env := os.environ.get("GITHUB_ENV"):
        with Path(github_env).open("a", encoding="utf-8") as file:
            file.write(lines)
    print(lines, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
