"""For a project that brings its tools along: cudnn_redist is a copy in third_party/_vendor, and nothing is installed.

The copy needs certifi, httpx, platformdirs, pydantic, tqdm, truststore and zstandard. Where these are not, or an older
Python, vendor one file instead:

    cudnn-redist export python --lock cudnn-redist.lock > third_party/install_cudnn.py
    python3 third_party/install_cudnn.py --root build/cudnn
"""

import argparse
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent
sys.path.insert(0, str(PROJECT))

from third_party._vendor.cudnn_redist import errors, fetch  # noqa: E402 - the path to it comes first


def main() -> int:
    """Fetch what the lock of this project says, for this machine or the one given."""
    words = argparse.ArgumentParser()
    words.add_argument("--platform")
    words.add_argument("--cuda")
    asked = words.parse_args()
    try:
        prefix = fetch(
            lock=PROJECT / "cudnn-redist.lock",
            platform=asked.platform,
            cuda=asked.cuda,
            root=PROJECT / "build/cudnn",
        )
    except errors.RedistError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"building with {prefix.path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
