"""C07: a manifest that was wrong, and was mended under its name."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from cases.ground import ARCHIVE, LABEL, MANIFEST
from redist.faults import Changed

if TYPE_CHECKING:
    from cases.ground import Fetch
    from redist import RedistServer, RedistTree


def with_wrong_digest(tree: RedistTree) -> bytes:
    """Return the manifest as it was before it was mended."""
    node = tree.manifest(LABEL)
    node["cudnn"]["linux-x86_64"]["cuda13"]["sha256"] = "0" * 64
    return json.dumps(node).encode()


def test_C07_a_wrong_manifest_installs_nothing_and_is_named(
    redist_server: RedistServer, redist_tree: RedistTree, fetch: Fetch
) -> None:
    wrong = with_wrong_digest(redist_tree)
    actual = hashlib.sha256(redist_tree.archive_path(LABEL).read_bytes()).hexdigest()
    redist_server.fail(MANIFEST, Changed(wrong))
    told = fetch.refused(5)
    assert f"{fetch.source}cudnn/linux-x86_64/cudnn-linux-x86_64-9.27.0.42{ARCHIVE}" in told
    assert f"sha256 is {actual}, expected {'0' * 64}" in told
    assert f"its manifest of 2026-09-29 has sha256 {hashlib.sha256(wrong).hexdigest()}" in told


def test_C07_the_next_run_reads_the_mended_manifest(
    redist_server: RedistServer, redist_tree: RedistTree, fetch: Fetch
) -> None:
    redist_server.fail(MANIFEST, Changed(with_wrong_digest(redist_tree)))
    fetch.refused(5)
    fetch.installed()
    assert len(redist_server.requests(MANIFEST)) == 2


def test_C07_a_manifest_kept_of_one_variant_is_read_again_when_another_fails(
    redist_server: RedistServer, redist_tree: RedistTree, fetch: Fetch
) -> None:
    redist_server.fail(MANIFEST, Changed(with_wrong_digest(redist_tree)))
    fetch.installed(LABEL, "--cuda", "12")
    fetch.installed(LABEL, "--cuda", "13")
    assert len(redist_server.requests(MANIFEST)) == 2


def test_C07_a_pinned_manifest_that_changed_is_another_error_than_a_wrong_archive(
    redist_server: RedistServer, redist_tree: RedistTree, fetch: Fetch
) -> None:
    pin = hashlib.sha256(redist_tree.manifest_path(LABEL).read_bytes()).hexdigest()
    wrong = with_wrong_digest(redist_tree)
    redist_server.fail(MANIFEST, Changed(wrong))
    told = fetch.refused(5, LABEL, "--manifest-sha256", pin)
    assert told.startswith(
        f"manifest: {fetch.source}{MANIFEST}: "
        f"manifest sha256 is {hashlib.sha256(wrong).hexdigest()}, pinned to {pin}"
    )
    assert redist_server.requests(ARCHIVE) == []
    fetch.installed(LABEL, "--manifest-sha256", pin)
