from __future__ import annotations

import pytest
from redist.content import version_header

from cudnn_redist.prefix.headers import stated_version

NINE = version_header("9.27.0.42")
SPACED = b" # define  CUDNN_MAJOR\t(9)\r\n#define CUDNN_MINOR 1 /* minor */\r\n#define CUDNN_PATCHLEVEL 1\r\n"
COMMENTED = b"// #define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 1\n"


@pytest.mark.parametrize(
    ("header", "version"),
    [
        pytest.param(NINE, (9, 27, 0), id="as NVIDIA writes it"),
        pytest.param(version_header("7.6.5"), (7, 6, 5), id="old"),
        pytest.param(NINE.replace(b"\n", b"\r\n"), (9, 27, 0), id="lines of Windows"),
        pytest.param(SPACED, (9, 1, 1), id="blanks and comments"),
        pytest.param(b"\xff\xfe" + NINE, (9, 27, 0), id="bytes that are no text"),
        pytest.param(b"", None, id="empty"),
        pytest.param(b'#pragma once\n#include "cudnn_version.h"\n', None, id="elsewhere"),
        pytest.param(NINE.replace(b"CUDNN_MINOR 27", b"CUDNN_MINOR"), None, id="one without a number"),
        pytest.param(NINE.replace(b"define CUDNN_MAJOR", b"define CUDNN_MAJOR_"), None, id="another name"),
        pytest.param(COMMENTED, None, id="in a comment"),
        pytest.param(NINE.replace(b"MAJOR 9", b"MAJOR 0x9"), None, id="no decimal number"),
    ],
)
def test_the_three_macros_are_read(header: bytes, version: tuple[int, int, int] | None) -> None:
    assert stated_version(header) == version
