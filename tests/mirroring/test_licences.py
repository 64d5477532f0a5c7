from __future__ import annotations

import pytest

from cudnn_redist.errors import UsageError
from cudnn_redist.mirroring.licences import NOTICE, require_acceptance


def test_the_notice_says_to_whom_and_what_in_one_line() -> None:
    assert "\n" not in NOTICE
    for word in ("inside your own organisation", "runtime files", "application", "NVIDIA GPUs", "texts"):
        assert word in NOTICE


@pytest.mark.parametrize(("accepted", "strict"), [(True, True), (True, False), (False, False)])
def test_acceptance_is_wanted_only_by_the_strict(accepted: bool, strict: bool) -> None:  # noqa: FBT001 - a table
    require_acceptance(accepted=accepted, strict=strict)


def test_the_refusal_names_the_switch_and_the_variable() -> None:
    with pytest.raises(UsageError, match=r"--accept-licence or set CUDNN_REDIST_ACCEPT_LICENCE=1") as caught:
        require_acceptance(accepted=False, strict=True)

    assert caught.value.exit_code == 2
