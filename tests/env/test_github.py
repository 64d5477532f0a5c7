from __future__ import annotations

import pytest
from env.described import linux, nothing_there, windows

from cudnn_redist import errors
from cudnn_redist.env.github import github_lines
from cudnn_redist.env.variables import environment_for


def test_variables_go_to_the_environment_and_the_prefix_to_the_outputs() -> None:
    facts = linux()
    found = environment_for(facts, "compiler", {"CPATH": "/a"}, look=nothing_there, separator=":")
    assert github_lines(found, facts) == {
        "GITHUB_ENV": ("CPATH=/p/include:/a", "LIBRARY_PATH=/p/lib"),
        "GITHUB_PATH": (),
        "GITHUB_OUTPUT": ("prefix=/p", "version=9.27.0.42"),
    }


def test_what_belongs_to_path_goes_to_the_file_of_paths() -> None:
    facts = windows()
    found = environment_for(facts, "loader", {"PATH": r"C:\Windows"}, look=nothing_there, separator=";")
    lines = github_lines(found, facts)
    assert (lines["GITHUB_ENV"], lines["GITHUB_PATH"]) == ((), (r"C:\p\bin\x64",))


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_line_break_in_a_list_writes_no_line_of_its_own(end: str) -> None:
    facts = linux()
    before = {"LD_LIBRARY_PATH": f"/a{end}LD_PRELOAD=/evil.so"}
    found = environment_for(facts, "loader", before, look=nothing_there, separator=":")
    with pytest.raises(errors.UsageError, match="LD_LIBRARY_PATH has a line break, which GITHUB_ENV cannot"):
        github_lines(found, facts)
