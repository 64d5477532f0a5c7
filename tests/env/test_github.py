from __future__ import annotations

from env.described import linux, nothing_there, windows

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
