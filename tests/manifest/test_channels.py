from __future__ import annotations

import json

import pytest

from cudnn_redist.errors import ManifestError
from cudnn_redist.manifest.channels import read_channels, read_releases

DIGEST = "ab" * 32


def release(version: str = "9.27.0", **changes: object) -> dict[str, object]:
    return {"version": version, "manifest": f"{version}.json", "sha256": DIGEST, "size": 12, **changes}


def test_channels_and_their_products() -> None:
    data = json.dumps({"stable": [{"product": "cudnn", "new": 1}, {"product": "nccl"}], "beta": []})
    assert read_channels(data.encode(), origin="here") == {"stable": ("cudnn", "nccl"), "beta": ()}


def test_releases_are_in_order_of_version() -> None:
    data = json.dumps({"stable": [release("9.27.0", size="34"), release("9.9.0"), release("9.10.0")]})
    found = read_releases(data.encode(), origin="here")["stable"]
    assert [each.label.text for each in found] == ["9.9.0", "9.10.0", "9.27.0"]
    assert (found[-1].manifest, found[-1].sha256, found[-1].size) == ("9.27.0.json", DIGEST, 34)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        pytest.param([], "not an object", id="list"),
        pytest.param({"stable": {}}, "stable", id="channel"),
        pytest.param({"stable": [release(sha256=None)]}, "stable.0.sha256: no value", id="no-digest"),
        pytest.param({"stable": [release(sha256="ab")]}, "stable.0.sha256: not 64 hex digits", id="digest"),
        pytest.param({"stable": [release(size="big")]}, "stable.0.size: not a number of bytes", id="size"),
        pytest.param(
            {"stable": [release(version="new")]}, "stable.0.version: not a release label", id="version"
        ),
        pytest.param({"stable": [release(manifest="")]}, "stable.0.manifest: no path", id="path"),
        pytest.param({"stable": [{}]}, "stable.0.manifest", id="empty"),
    ],
)
def test_a_damaged_list_is_refused_with_the_place(document: object, told: str) -> None:
    with pytest.raises(ManifestError, match=told) as raised:
        read_releases(json.dumps(document).encode(), origin="https://host/releases.json")
    assert raised.value.where == "https://host/releases.json"


def test_a_product_without_a_name_is_refused() -> None:
    with pytest.raises(ManifestError, match=r"stable\.0\.product"):
        read_channels(b'{"stable": [{"product": null}]}', origin="here")
