"""What there is to fetch, asked through the library's functions."""

from __future__ import annotations

from pathlib import Path

import pytest
from redist import RedistServer, RedistTree
from source.ground import QUICK, redist

from cudnn_redist import errors, labels, plan
from cudnn_redist.catalog import manifest

CHOICE = {"platform": "linux-x86_64", "cuda": "13"}


def test_labels_cost_one_request(redist_server: RedistServer, tmp_path: Path) -> None:
    found = labels(sources=[redist(redist_server)], root=tmp_path, transfer=QUICK)

    assert [label.text for label in found] == ["9.26.0", "9.27.0"]
    assert len(redist_server.log) == 1


def test_labels_come_from_the_first_source_that_lists_any(
    redist_server: RedistServer, redist_tree: RedistTree, tmp_path: Path
) -> None:
    redist_server.index = "forbidden"

    found = labels(sources=[redist(redist_server), str(redist_tree.path)], root=tmp_path)

    assert len(found) == 2


def test_labels_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(errors.LabelNotFound, match="lists no releases"):
        labels(sources=[str(tmp_path)], root=tmp_path / "root")


def test_a_manifest_of_a_partial_label(redist_server: RedistServer, tmp_path: Path) -> None:
    found = manifest("9.26", sources=[redist(redist_server)], root=tmp_path, transfer=QUICK)

    assert found.label is not None
    assert found.label.text == "9.26.0"


def test_another_product_lies_in_a_folder_of_its_own(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    RedistTree(redist_tree.path, "cutensor").add_release("2.3.0", platforms=["linux-x86_64"])

    made = plan("2.3.0", product="cutensor", sources=[redist_server.url], root=tmp_path, **CHOICE)

    (archive,) = made.archives
    assert archive.urls[0].startswith(f"{redist_server.url}cutensor/redist/cutensor/linux-x86_64/")
    assert (made.product, archive.component) == ("cutensor", "cutensor")


def test_a_plan_writes_nothing(redist_server: RedistServer, tmp_path: Path) -> None:
    made = plan("9.27.0", sources=[redist(redist_server)], root=tmp_path / "root", **CHOICE)

    assert made.archives[0].prefix == tmp_path / "root/cudnn/9.27.0/cudnn/linux-x86_64/cuda13"
    assert not (tmp_path / "root").exists()
    assert made.manifest_origin == f"{redist(redist_server)}redistrib_9.27.0.json"


def test_the_root_is_the_users_own_unless_told(
    redist_server: RedistServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDNN_REDIST_ROOT", str(tmp_path / "mine"))

    made = plan("9.27.0", sources=[redist(redist_server)], **CHOICE)

    assert made.archives[0].prefix.is_relative_to(tmp_path / "mine")


def test_without_a_source_nvidia_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen at a proxy that lets nothing out."""
    with RedistServer(tmp_path) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        with pytest.raises(errors.TransferError):
            plan("9.27.0", root=tmp_path, transfer=QUICK, **CHOICE)

    assert proxy.log[0].target == "developer.download.nvidia.com:443"


@pytest.mark.parametrize(
    "choice",
    [
        {"label": "nine"},
        {"product": "../x"},
        {"product": 9},
        {"sources": ["ftp://x"]},
        {"sources": [Path("mirror")]},
        {"sources": Path("mirror")},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_a_usage_error(choice: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(errors.UsageError):
        plan(**({"label": "9.27.0", "root": tmp_path} | CHOICE | choice))  # type: ignore[arg-type]


def test_a_path_that_leaves_a_directory_is_refused(redist_tree: RedistTree, tmp_path: Path) -> None:
    redist_tree.edit_manifest(
        "9.27.0",
        lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].update(relative_path="../../../etc/passwd"),
    )
    with pytest.raises(errors.ManifestError, match="leaves the source") as caught:
        plan("9.27.0", sources=[str(redist_tree.path)], root=tmp_path, **CHOICE)

    assert caught.value.exit_code == 6


def test_a_pool_beside_the_manifests_is_legal(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    """NVIDIA's newer tree (C21)."""
    redist_tree.edit_manifest(
        "9.27.0",
        lambda node: node["cudnn"]["linux-x86_64"]["cuda13"].update(relative_path="../../pool/x.tar.xz"),
    )
    for source in (redist(redist_server), str(redist_tree.path)):
        made = plan("9.27.0", sources=[source], root=tmp_path, **CHOICE)
        assert made.archives[0].urls[0].endswith("/pool/x.tar.xz")
