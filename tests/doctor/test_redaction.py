"""What a report must not tell."""

from __future__ import annotations

import pytest

from cudnn_redist.doctor.redaction import Redaction

ENVIRONMENT = {"HOME": "/home/ada", "USER": "ada", "SUDO_USER": "grace"}


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("/home/ada/venv/lib", "~/venv/lib"),
        ("/home/adam/venv", "/home/<user>/venv"),
        ("/home/ada", "~"),
        ("LD_LIBRARY_PATH /a:/home/ada/b:/home/bob/c", "LD_LIBRARY_PATH /a:~/b:/home/<user>/c"),
        ("/Users/tim/x", "/Users/<user>/x"),
        (r"C:\Users\tim\x", r"C:\Users\<user>\x"),
        ("/mnt/ada/cudnn", "/mnt/<user>/cudnn"),
        ("/data/grace", "/data/<user>"),
        ("adage", "adage"),
        ("https://bob:pw@mirror.example/x", "https://<login>@mirror.example/x"),
        ("python train.py --token=abc API_KEY: xyz", "python train.py --token=<secret> API_KEY: <secret>"),
        ("train.py --hub-token abc --api-key x y", "train.py --hub-token <secret> --api-key <secret> y"),
        ("train.py --no-secrets --x", "train.py --no-secrets --x"),
        ("the token is lost", "the token is lost"),
        ("/usr/lib/x86_64-linux-gnu/libcudnn.so.9", "/usr/lib/x86_64-linux-gnu/libcudnn.so.9"),
    ],
)
def test_names_homes_and_credentials_are_replaced(text: str, redacted: str) -> None:
    assert Redaction(ENVIRONMENT).text(text) == redacted


def test_facts_are_redacted_throughout() -> None:
    facts = {"a": ["/home/ada/x", 1, None, {"b": "/home/ada"}], "c": True}
    assert Redaction(ENVIRONMENT).facts(facts) == {"a": ["~/x", 1, None, {"b": "~"}], "c": True}


@pytest.mark.parametrize("environment", [{}, {"HOME": "/", "USER": "root"}], ids=["none", "root"])
def test_without_a_name_or_home_nothing_is_lost(environment: dict[str, str]) -> None:
    assert Redaction(environment).text("/root is / of root") == "/root is / of root"
