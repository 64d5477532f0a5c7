"""Which manifest a label means, where it is asked for, and how often."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from installing import IMPATIENT
from redist import RedistServer, RedistTree
from redist.faults import Page, Redirect, Status
from source.ground import QUICK, TAR, archives, get, prefixes, redist

from cudnn_redist.errors import (
    DigestMismatch,
    LabelNotFound,
    ManifestChanged,
    ManifestError,
    TransferError,
    TransientTransferError,
    UsageError,
    VariantNotFound,
    VersionNotFound,
)
from cudnn_redist.layout import Layout
from cudnn_redist.locations import folders
from cudnn_redist.manifest import ReleaseLabel
from cudnn_redist.prefix.removing import remove_prefix
from cudnn_redist.resolver import Resolved, Resolver
from cudnn_redist.source.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cudnn_redist import TransferOptions


def resolve(
    asked: str | None, *sources: object, root: Path, transfer: TransferOptions = QUICK, **how: object
) -> Resolved:
    places = [folder for source in sources for folder in folders(str(source), "cudnn")]
    with Sources(transfer) as opened:
        resolver = Resolver(opened, places, Layout(root), "cudnn")
        label = None if asked is None else ReleaseLabel.parse(asked)
        return resolver.manifest(label, **how)  # type: ignore[arg-type]


def publish(tree: RedistTree, *labels: str) -> None:
    """Write manifests that differ from that of 9.27.0 in their label alone."""
    known = tree.manifest_path("9.27.0").read_text()
    for label in labels:
        tree.manifest_path(label).write_text(known.replace('"9.27.0"', f'"{label}"'))


def asked_for(server: RedistServer) -> list[str]:
    return [request.path.removeprefix("/") for request in server.log]


@pytest.fixture
def second(redist_tree: RedistTree) -> Iterator[RedistServer]:
    with RedistServer(redist_tree.path) as server:
        yield server


# C11, C13: labels of three and four parts.


def test_an_exact_label_costs_one_request(redist_server: RedistServer, tmp_path: Path) -> None:
    found = resolve("9.27.0", redist(redist_server), root=tmp_path)

    assert (found.label.text, found.manifest.label) == ("9.27.0", found.label)
    assert asked_for(redist_server) == ["cudnn/redist/redistrib_9.27.0.json"]


def test_a_label_of_four_parts_is_looked_for_under_its_own_name_first(
    redist_server: RedistServer, tmp_path: Path
) -> None:
    found = resolve("9.27.0.42", redist(redist_server), root=tmp_path)

    assert found.label.text == "9.27.0"
    names = [path.rpartition("/")[2] for path in asked_for(redist_server)]
    assert names == ["redistrib_9.27.0.42.json", "redistrib_9.27.0.json"]


def test_an_old_label_has_four_parts(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_tree.add_release("8.9.7.29")

    assert resolve("8.9.7.29", redist(redist_server), root=tmp_path).label.text == "8.9.7.29"
    assert len(redist_server.log) == 1


def test_the_version_inside_must_be_the_one_asked_for(redist_server: RedistServer, tmp_path: Path) -> None:
    assert get(redist(redist_server), root=tmp_path, label="9.27.0.42").record.label == "9.27.0"
    with pytest.raises(VersionNotFound) as caught:
        get(redist(redist_server), root=tmp_path, label="9.27.0.99")

    assert "9.27.0.99" in str(caught.value)
    assert "9.27.0.42" in str(caught.value)
    assert len(prefixes(tmp_path)) == 1


@pytest.mark.parametrize(("label", "requests"), [("9.13.0.50", 2), ("12.6.77", 1)])
def test_a_components_version_is_no_label(
    label: str, requests: int, redist_server: RedistServer, tmp_path: Path
) -> None:
    with pytest.raises(LabelNotFound, match="a component's version is not a label") as caught:
        resolve(label, redist(redist_server), root=tmp_path)

    assert caught.value.exit_code == 3
    assert caught.value.where == f"{redist(redist_server)}redistrib_{label}.json"
    assert len(redist_server.log) == requests


def test_a_missing_directory_has_no_label(tmp_path: Path) -> None:
    with pytest.raises(LabelNotFound):
        resolve("9.27.0", tmp_path / "missing", root=tmp_path)


# Where a source keeps a product.


@pytest.mark.parametrize("place", ["cudnn/redist/", "cudnn/redist", "", "cudnn/redist/?x=1"])
def test_a_source_is_a_redist_folder_or_a_root(
    place: str, redist_server: RedistServer, tmp_path: Path
) -> None:
    found = resolve("9.27.0", redist_server.url + place, root=tmp_path)

    assert found.folders[0].url == redist(redist_server)


def test_a_folder_of_any_name_may_hold_the_manifests(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_tree.redist.rename(redist_tree.path / "mirror")

    assert get(redist_server.url + "mirror", root=tmp_path).verify() == ()
    assert len(redist_server.log) == 2


def test_archives_are_looked_for_where_the_manifest_is(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    sources = (redist_server.url, redist_tree.path, empty)
    here, there = redist(redist_server), redist_tree.redist.as_uri() + "/"

    found = resolve("9.27.0", *sources, root=tmp_path / "root")
    assert [folder.url for folder in found.folders] == [here, there]

    get(redist(redist_server), root=tmp_path / "root")
    kept = resolve("9.27.0", *sources, root=tmp_path / "root")
    assert [folder.url for folder in kept.folders] == [here, there]
    with pytest.raises(LabelNotFound):
        resolve("9.27.0", empty, root=tmp_path / "root")


# C14: partial labels and indexes.


@pytest.mark.parametrize("index", ["nvidia", "nginx", "apache", "python"])
@pytest.mark.parametrize(
    ("asked", "found"), [("9", "9.27.0"), ("9.9", "9.9.3"), ("9.10", "9.10.2"), (None, "10.0.0")]
)
def test_the_newest_is_by_number(
    index: str, asked: str | None, found: str, redist_tree: RedistTree, tmp_path: Path
) -> None:
    publish(redist_tree, "9.1.1", "9.9.0", "9.9.3", "9.10.0", "9.10.2", "10.0.0", "8.9.7.29")
    (redist_tree.redist / "redistrib-v2.schema.json").touch()
    with RedistServer(redist_tree.path, index=index) as server:
        resolved = resolve(asked, redist(server), root=tmp_path)
        names = [path.rpartition("/")[2] for path in asked_for(server)]

    exact = [] if asked is None else [f"redistrib_{asked}.json"]
    assert resolved.label.text == found
    assert names == [*exact, "", f"redistrib_{found}.json"]


def test_a_short_name_that_exists_is_no_partial_label(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    publish(redist_tree, "25.1", "25.1.2")

    assert resolve("25.1", redist(redist_server), root=tmp_path).label.text == "25.1"
    assert len(redist_server.log) == 1


@pytest.mark.parametrize("index", ["forbidden", "missing"])
@pytest.mark.parametrize("asked", ["9.27", None])
def test_without_an_index_a_full_label_is_needed(
    asked: str | None, index: str, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_server.index = index
    with pytest.raises(LabelNotFound, match="give a full label"):
        resolve(asked, redist(redist_server), root=tmp_path)


def test_a_page_that_is_no_index_lists_nothing(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always("/redist/", Page())
    with pytest.raises(LabelNotFound, match="give a full label"):
        resolve("9", redist(redist_server), root=tmp_path)


def test_what_is_not_listed_is_told_with_what_is(redist_server: RedistServer, tmp_path: Path) -> None:
    with pytest.raises(LabelNotFound, match=r"no release of 9\.28 listed; the newest is 9\.27\.0") as caught:
        resolve("9.28", redist(redist_server), root=tmp_path)

    assert caught.value.available == ("9.26.0", "9.27.0")


def test_a_directory_lists_itself(redist_tree: RedistTree, tmp_path: Path) -> None:
    assert resolve("9", redist_tree.path, root=tmp_path).label.text == "9.27.0"


# Several sources.


def test_a_source_that_is_down_is_passed_over(
    redist_server: RedistServer, second: RedistServer, tmp_path: Path
) -> None:
    gone = redist_server.url
    redist_server.close()

    for asked in ("9.27.0", "9.27", None):
        found = resolve(asked, gone, redist(second), root=tmp_path, transfer=IMPATIENT)
        assert found.label.text == "9.27.0"
        assert found.folders[0].url == redist(second)


@pytest.mark.parametrize(
    "fault", [Status(404), Status(403), Status(500), Page()], ids=["404", "403", "500", "page"]
)
@pytest.mark.parametrize("asked", ["9.27.0", "9.27.0.42"])
def test_a_source_that_refuses_is_passed_over(
    asked: str, fault: object, redist_server: RedistServer, second: RedistServer, tmp_path: Path
) -> None:
    redist_server.always(".json", fault)  # type: ignore[arg-type]

    found = resolve(asked, redist(redist_server), redist(second), root=tmp_path, transfer=IMPATIENT)

    assert found.folders[0].url == redist(second)


def test_a_bucket_that_forbids_what_it_lacks_still_answers(
    redist_server: RedistServer, tmp_path: Path
) -> None:
    """Object stores answer 403, not 404, for what is not there, unless the index may be read."""
    redist_server.always("/redistrib_9.27.0.42.json", Status(403))

    assert resolve("9.27.0.42", redist_server.url, root=tmp_path).label.text == "9.27.0"


@pytest.mark.parametrize("asked", ["9.27.0", "9.27.0.42", "9.27", None])
def test_when_all_are_down_the_first_is_told(
    asked: str | None, redist_server: RedistServer, second: RedistServer, tmp_path: Path
) -> None:
    redist_server.always("", Status(503))
    second.always("", Status(502))
    with pytest.raises(TransientTransferError) as caught:
        resolve(asked, redist(redist_server), redist(second), root=tmp_path, transfer=IMPATIENT)

    assert caught.value.status == 503


def test_a_host_that_is_down_is_not_asked_for_every_name(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always("", Status(503))
    with pytest.raises(TransferError):
        resolve("9.27.0.42", redist_server.url, root=tmp_path, transfer=IMPATIENT)

    assert len(redist_server.log) == 1


def test_a_source_that_failed_may_have_what_no_other_has(
    redist_server: RedistServer, second: RedistServer, tmp_path: Path
) -> None:
    redist_server.always("", Status(503))
    with pytest.raises(TransientTransferError):
        resolve("9.99.0", redist(redist_server), redist(second), root=tmp_path, transfer=IMPATIENT)


def test_the_source_that_listed_the_label_is_asked_first(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    other = RedistTree(tmp_path / "other")
    other.add_release("8.0.0")
    found = resolve("9", other.path, redist(redist_server), root=tmp_path / "root")

    assert found.folders[0].url == redist(redist_server)
    assert found.label.text == max(label_of_tree(redist_tree))


def label_of_tree(tree: RedistTree) -> list[str]:
    return [path.stem.removeprefix("redistrib_") for path in tree.redist.glob("redistrib_*.json")]


def test_a_damaged_manifest_alone_is_told(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.always(".json", Page())
    with pytest.raises(ManifestError, match="not JSON but a page") as caught:
        resolve("9.27.0", redist_server.url, root=tmp_path)

    assert caught.value.exit_code == 6


def test_a_login_is_told_nowhere(redist_server: RedistServer, tmp_path: Path) -> None:
    source = redist(redist_server, "me:hunter2@") + "?token=t0ken"
    found = resolve("9", source, root=tmp_path)

    assert found.manifest.origin == f"{redist(redist_server)}redistrib_9.27.0.json"
    assert all(request.target.endswith("?token=t0ken") for request in redist_server.log)
    assert all("authorization" in request.headers for request in redist_server.log)
    with pytest.raises(LabelNotFound) as caught:
        resolve("9.99.9", source, root=tmp_path)
    assert "t0ken" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_manifest_may_be_moved(redist_server: RedistServer, tmp_path: Path) -> None:
    redist_server.fail("/mirror/redistrib_9.27.0.json", Redirect("/cudnn/redist/redistrib_9.27.0.json"))

    found = resolve("9.27.0", f"{redist_server.url}mirror/", root=tmp_path)

    assert found.folders[0].url == f"{redist_server.url}mirror/"


# What is kept, C07, C71, C72.


def test_an_installed_label_needs_no_request(redist_server: RedistServer, tmp_path: Path) -> None:
    get(redist(redist_server), root=tmp_path)
    redist_server.close()

    assert get(redist(redist_server), root=tmp_path, transfer=IMPATIENT).verify() == ()
    kept = resolve("9.27.0", redist(redist_server), root=tmp_path, transfer=IMPATIENT)
    assert kept.manifest.origin == f"{redist(redist_server)}redistrib_9.27.0.json"
    assert kept.kept
    assert resolve("9.27.0.42", redist(redist_server), root=tmp_path, transfer=IMPATIENT).label == kept.label


def test_a_manifest_is_not_kept_for_what_is_not_installed(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    """C07: the first run meets a wrong digest, the second the corrected manifest."""
    good = redist_tree.manifest_path("9.27.0").read_bytes()
    redist_tree.edit_manifest(
        "9.27.0", lambda manifest: manifest["cudnn"]["linux-x86_64"]["cuda13"].update(sha256="0" * 64)
    )
    with pytest.raises(DigestMismatch):
        get(redist(redist_server), root=tmp_path)
    redist_tree.manifest_path("9.27.0").write_bytes(good)

    get(redist(redist_server), root=tmp_path)

    assert len(redist_server.requests(".json")) == 2


@pytest.mark.parametrize("damage", [b"", b"{", None], ids=["empty", "cut", "missing"])
def test_a_damaged_kept_manifest_is_read_again(
    damage: bytes | None, redist_server: RedistServer, tmp_path: Path
) -> None:
    get(redist(redist_server), root=tmp_path)
    url = f"{redist(redist_server)}redistrib_9.27.0.json"
    kept = Layout(tmp_path).kept_manifest("cudnn", url)
    if damage is None:
        kept.unlink()
    else:
        kept.write_bytes(damage)

    assert resolve("9.27.0", redist(redist_server), root=tmp_path).folders[0].url == redist(redist_server)
    assert len(redist_server.requests(".json")) == 2


def test_a_label_that_changed_is_told_when_it_is_read_again(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = get(redist(redist_server), root=tmp_path)
    redist_tree.add_release("9.27.0", date="2026-10-10", version="9.27.0.43")
    assert get(redist(redist_server), root=tmp_path).record == old.record

    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "cudnn_redist"):
            same = get(redist(redist_server), root=tmp_path, refresh=True)
        assert same.record == old.record
        assert "changed at its source" in caplog.text
        assert "--force installs that" in caplog.text
    assert redist_server.requests(".json")[-1].headers["cache-control"] == "no-cache"

    new = get(redist(redist_server), root=tmp_path, options={"force": True})
    assert new.record.version == "9.27.0.43"
    assert new.record.archive_sha256 != old.record.archive_sha256


def test_the_manifest_of_a_prefix_that_has_gone_does_not_answer(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    old = get(redist(redist_server), root=tmp_path)
    remove_prefix(old.path)
    redist_tree.add_release("9.27.0", date="2026-10-10", version="9.27.0.43")

    assert get(redist(redist_server), root=tmp_path).record.version == "9.27.0.43"


def test_a_second_fetch_asks_for_nothing_after_the_caches_are_gone(
    redist_server: RedistServer, tmp_path: Path
) -> None:
    prefix = get(redist(redist_server), root=tmp_path)
    for name in (".partial", ".turns"):
        for path in (tmp_path / name).glob("*"):
            path.unlink()
    (prefix.path / "LICENSE").touch()

    get(redist(redist_server), root=tmp_path)

    assert len(redist_server.log) == 2


def test_a_pin_holds_for_kept_and_fetched_manifests(redist_server: RedistServer, tmp_path: Path) -> None:
    sha256 = resolve("9.27.0", redist(redist_server), root=tmp_path).manifest.sha256
    for _ in range(2):
        resolve("9.27.0", redist(redist_server), root=tmp_path, pin=sha256.upper())
        with pytest.raises(ManifestChanged) as caught:
            resolve("9.27.0", redist(redist_server), root=tmp_path, pin="0" * 64)
        assert (caught.value.expected, caught.value.actual) == ("0" * 64, sha256)
        get(redist(redist_server), root=tmp_path)

    assert caught.value.exit_code == 5


# Manifests at hand.


def test_what_is_missing_is_named_from_the_manifests_at_hand(
    redist_tree: RedistTree, redist_server: RedistServer, tmp_path: Path
) -> None:
    redist_tree.add_release("9.28.0", variants=["cuda14"])
    get(redist(redist_server), root=tmp_path)
    before = len(redist_server.log)
    with pytest.raises(VariantNotFound, match=r"9\.27\.0"):
        get(redist(redist_server), root=tmp_path, label="9.28.0")

    assert len(redist_server.log) == before + 1


def test_manifests_of_a_directory_are_at_hand_too(redist_tree: RedistTree, tmp_path: Path) -> None:
    redist_tree.add_release("9.28.0", variants=["cuda14"])
    redist_tree.manifest_path("9.29.0").write_text("damaged")
    with pytest.raises(VariantNotFound, match=r"9\.27\.0"):
        get(redist_tree.path, root=tmp_path, label="9.28.0")


def test_nothing_at_hand_is_no_error_of_its_own(redist_server: RedistServer, tmp_path: Path) -> None:
    with pytest.raises(VariantNotFound):
        get(redist(redist_server), root=tmp_path, cuda="11")

    assert archives(redist_server) == redist_server.requests(TAR) == []


def test_a_source_that_makes_no_sense_is_told_before_any_request(
    redist_server: RedistServer, tmp_path: Path
) -> None:
    with pytest.raises(UsageError):
        get(redist(redist_server), "ftp://h/", root=tmp_path)

    assert redist_server.log == []
