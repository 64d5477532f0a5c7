"""``lock`` and its modes, ``prune``, and ``--lock``: files, exit codes, and what is told, over real processes."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from cli.ground import CHOICE, PREFIX, reason, snapshot
from redist import RedistServer, RedistTree
from redist.command import Completed, run_command

from cudnn_redist import lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE = "cudnn-redist.lock"
Node = dict[str, Any]


class Ground:
    """A source, a root that nobody has made yet, and a working directory with the lock of 9.27.0."""

    def __init__(self, tree: RedistTree, folder: Path) -> None:
        self.tree = tree
        self.root = folder / "root"
        self.file = folder / FILE
        self._folder = folder
        self.source: object = tree.path

    def run(self, *words: str | Path) -> Completed:
        env = {"CUDNN_REDIST_SOURCE": str(self.source), "CUDNN_REDIST_ROOT": str(self.root)}
        return run_command(*words, env=env, cwd=self._folder)

    def edit(self, change: Callable[[Node], object]) -> None:
        """Spoil the lock file."""
        node = json.loads(self.file.read_bytes())
        change(node)
        self.file.write_text(json.dumps(node))

    def re_issue(self, **fields: str) -> None:
        """Change the manifest's entry of cudnn for linux-x86_64 and CUDA 13."""
        self.tree.edit_manifest(
            "9.27.0", lambda manifest: manifest["cudnn"]["linux-x86_64"]["cuda13"].update(fields)
        )


@pytest.fixture
def ground(redist_tree: RedistTree, tmp_path: Path) -> Ground:
    found = Ground(redist_tree, tmp_path)
    found.file.write_bytes(lock("9.27.0", sources=[str(redist_tree.path)], root=tmp_path / "root").to_bytes())
    return found


def told(done: Completed) -> Node:
    assert done.out.isascii()
    parsed: Node = json.loads(done.out)
    return parsed


def test_lock_writes_the_file_and_prints_its_path(ground: Ground) -> None:
    first = ground.file.read_bytes()
    done = ground.run("lock", "9.27")
    assert (done.code, done.out) == (0, f"{ground.file}\n")
    assert "cudnn 9.27.0 (asked for as 9.27): 6 archives" in done.err
    assert ground.file.read_bytes() == first.replace(b'"asked": "9.27.0"', b'"asked": "9.27"')
    assert not ground.root.exists()


@pytest.mark.parametrize("name", ["a b \u00fc", "a%20b%20%C3%BC"], ids=["typed", "encoded"])
def test_every_command_takes_a_source_with_a_blank(tmp_path: Path, root: Path, name: str) -> None:
    place = tmp_path / "srv" / "a b \u00fc"
    place.mkdir(parents=True)
    RedistTree(place).add_release("9.27.0", date="2026-09-29")
    common = ("9.27.0", *CHOICE, "--root", root)
    with RedistServer(tmp_path / "srv") as server:
        source, sent = f"{server.url}{name}", f"{server.url}a%20b%20%C3%BC/cudnn/redist/"
        for words in (
            ("fetch", *common, "--source", source),
            ("fetch", *common, "--source", source, "--refresh"),
            ("url", *common, "--source", source),
            ("lock", *common, "--source", source),
            ("lock", "--check", FILE, "--source", source),
            ("export", "aria2", *common, "--source", source),
            ("export", "aria2", "--lock", FILE),
            ("export", "aria2", "--lock", FILE, "--source", source),
            ("mirror", "mirror", *common, "--source", source),
            ("bundle", "bundle", *common, "--source", source),
        ):
            done = run_command(*words, cwd=tmp_path)
            assert done.code == 0, (words, done.err)
            assert (f"{sent}cudnn/linux-x86_64/" in done.out) == (words[0] in ("url", "export"))
        assert json.loads((tmp_path / FILE).read_bytes())["releases"][0]["manifest"]["url"].startswith(sent)


def test_lock_of_the_same_is_the_same_file_untouched(ground: Ground) -> None:
    before = snapshot(ground.file)
    assert ground.run("lock", "9.27.0").code == 0
    assert snapshot(ground.file) == before
    assert [path.name for path in ground.file.parent.iterdir()] == [FILE]


def test_lock_writes_what_is_asked_and_add_keeps_the_rest(ground: Ground) -> None:
    RedistTree(ground.tree.path, product="cutensor").add_release("2.3.0", components=("cutensor",))
    done = ground.run("lock", "2.3.0", "--product", "cutensor", "--add", "--json")
    assert [(each["product"], each["label"]) for each in told(done)["releases"]] == [
        ("cudnn", "9.27.0"),
        ("cutensor", "2.3.0"),
    ]
    again = ground.run("lock", "9.27.0", "--cuda", "13", "--add", "--json")
    assert [each["archives"] for each in told(again)["releases"]] == [3, 6]
    alone = ground.run("lock", "9.26.0", "--json")
    assert [each["label"] for each in told(alone)["releases"]] == ["9.26.0"]


def test_lock_behind_a_link_leaves_the_link(ground: Ground, tmp_path: Path) -> None:
    link = tmp_path / "link.lock"
    link.symlink_to(ground.file)
    assert ground.run("lock", "9.26.0", "-o", link).code == 0
    assert link.is_symlink()
    assert b"9.26.0" in ground.file.read_bytes()


def test_all_real_manifests_of_cudnn_lock_in_one_command(shared_manifests: Path, tmp_path: Path) -> None:
    source = shared_manifests / "cudnn"
    labels = sorted(path.stem.removeprefix("redistrib_") for path in source.glob("redistrib_*.json"))
    for name in ("one.lock", "two.lock"):
        done = run_command("lock", *labels, "--source", source, "--root", tmp_path, "-o", tmp_path / name)
        assert (done.code, done.err.count(" archives\n")) == (0, len(labels))
    assert (tmp_path / "one.lock").read_bytes() == (tmp_path / "two.lock").read_bytes()


def test_fetch_by_a_lock_prints_the_prefix_alone(ground: Ground) -> None:
    done = ground.run("fetch", "--lock", FILE, *CHOICE)
    assert (done.code, done.out) == (0, f"{ground.root / PREFIX}\n")
    assert ground.run("fetch", "--lock", FILE, "9.27", *CHOICE).out == done.out
    assert ground.run("where", "9.27.0", *CHOICE).out == done.out


def test_fetch_by_a_lock_blames_no_manifest_that_it_has_not_read(ground: Ground) -> None:
    archive = ground.tree.archive_path("9.27.0")
    archive.write_bytes(archive.read_bytes()[:-1] + b"?")
    sha256 = hashlib.sha256(ground.tree.manifest_path("9.27.0").read_bytes()).hexdigest()
    spoiled = ground.run("fetch", "--lock", FILE, *CHOICE)
    assert spoiled.code == 5
    assert f"; its manifest of 2026-09-29 has sha256 {sha256};" in reason(spoiled)
    archive.unlink()
    gone = ground.run("fetch", "--lock", FILE, *CHOICE)
    assert gone.code == 3
    assert "promised, but not here: cudnn 9.27.0 for linux-x86_64" in reason(gone)


def test_fetch_by_a_lock_of_several_prints_each(ground: Ground, tmp_path: Path) -> None:
    assert ground.run("lock", "9.26.0", "9.27.0").code == 0
    older = PREFIX.replace("9.27.0", "9.26.0")
    both = [f"{ground.root / older}", f"{ground.root / PREFIX}"]
    assert ground.run("fetch", "--lock", FILE, *CHOICE).out.splitlines() == both
    assert ground.run("fetch", "--lock", FILE, *CHOICE, "9.27.0", "9.26.0").out.splitlines() == both[::-1]
    refused = ground.run("fetch", "--lock", FILE, *CHOICE, "--dest", tmp_path / "x")
    assert (refused.code, "one directory holds one archive" in reason(refused)) == (2, True)
    linked = ground.run("fetch", "--lock", FILE, *CHOICE, "9.26.0", "--link", tmp_path / "link")
    assert (linked.code, (tmp_path / "link").resolve()) == (0, ground.root / older)


def test_fetch_into_a_directory_by_a_lock(ground: Ground, tmp_path: Path) -> None:
    done = ground.run("fetch", "--lock", FILE, *CHOICE, "--dest", tmp_path / "third_party")
    assert (done.code, done.out) == (0, f"{tmp_path / 'third_party'}\n")
    assert ground.run("verify", "./third_party", "--lock", FILE).code == 0


def test_a_dry_run_by_a_lock_writes_nothing(ground: Ground) -> None:
    done = ground.run("fetch", "--lock", FILE, *CHOICE, "--dry-run", "--json")
    (plan,) = told(done)["plans"]
    assert (plan["label"], plan["archives"][0]["present"]) == ("9.27.0", False)
    assert not ground.root.exists()


def test_url_by_a_lock_tells_where(ground: Ground) -> None:
    path = ground.tree.archive_path("9.27.0")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    done = ground.run("url", "--lock", FILE, *CHOICE)
    assert done.out == f"{path.as_uri()}  {path.stat().st_size}  {sha256}\n"
    (plan,) = told(ground.run("url", "--lock", FILE, *CHOICE, "--json"))["plans"]
    assert plan["manifest"]["origin"] == ground.tree.manifest_path("9.27.0").as_uri()


@pytest.mark.parametrize("words", [("--locked",), ()], ids=["locked", "not"])
def test_a_locked_run_refuses_a_label_that_changed(ground: Ground, words: tuple[str, ...]) -> None:
    before = ground.file.read_bytes()
    ground.tree.edit_manifest("9.27.0", lambda manifest: manifest.update(release_date="2027-01-01"))
    done = ground.run("fetch", "--lock", FILE, *CHOICE, *words)
    assert done.code == (8 if words else 0)
    assert ground.root.exists() != bool(words)
    assert ground.file.read_bytes() == before
    if words:
        assert reason(done).startswith(
            f"lock: {ground.tree.manifest_path('9.27.0').as_uri()}: cudnn 9.27.0 is not"
        )


@pytest.mark.parametrize(
    "words", [("lock", "--check"), ("fetch", "--lock", FILE, *CHOICE, "--locked")], ids=" ".join
)
def test_a_lock_that_was_edited_by_hand_is_told(ground: Ground, words: tuple[str, ...]) -> None:
    ground.edit(damaged_digest)
    done = ground.run(*words)
    assert (done.code, done.out) == (8, "")
    assert "cudnn 9.27.0: the lock was edited: its manifest is the same, and names other archives" in done.err
    assert not ground.root.exists()


def test_check_says_how_the_source_differs(ground: Ground) -> None:
    same = ground.run("lock", "--check")
    assert (same.code, same.out) == (0, "cudnn 9.27.0: as locked\n")
    ground.re_issue(sha256="0" * 64)
    ground.tree.edit_manifest("9.27.0", lambda manifest: manifest["cudnn"].pop("linux-sbsa"))
    for words in ((), ("--quiet",)):
        done = ground.run("lock", "--check", FILE, *words)
        assert done.code == 8
        assert reason(done) == f"lock: {ground.file}: the source differs in cudnn 9.27.0"
        lines = [line for line in done.err.splitlines() if line.startswith("cudnn 9.27.0: ")]
        assert [line.split(": ")[1] for line in lines] == ["re-issued", "vanished", "vanished", "changed"]
    error = told(ground.run("lock", "--check", "--json"))["error"]
    assert (error["type"], error["exit_code"], error["differences"]) == ("LockMismatch", 8, lines)
    assert [change["kind"] for change in error["releases"][0]["changes"]] == [
        "vanished",
        "vanished",
        "changed",
    ]


def test_outdated_and_upgrade_go_together(ground: Ground) -> None:
    assert ground.run("lock", "9").code == 0
    nothing = ground.run("lock", "--outdated")
    assert (nothing.code, nothing.out) == (0, "")
    ground.tree.add_release("9.28.0")
    done = ground.run("lock", "--outdated", "--json")
    assert (done.code, told(done)["outdated"]) == (0, True)
    assert told(done)["releases"] == [
        {"product": "cudnn", "asked": "9", "label": "9.27.0", "matching": "9.28.0", "newest": "9.28.0"}
    ]
    people = ground.run("lock", "--outdated", FILE)
    assert people.out == "cudnn 9.27.0 (asked for as 9): 9.28.0 fits, 9.28.0 is the newest\n"
    upgraded = ground.run("lock", "--upgrade")
    assert upgraded.out.startswith(
        "cudnn 9.27.0: upgraded to 9.28.0\ncudnn 9.27.0: changed: cudnn linux-sbsa"
    )
    assert ground.run("lock", "--outdated").out == ""
    before = snapshot(ground.file)
    again = ground.run("lock", "--upgrade")
    assert (again.code, again.out) == (0, "cudnn 9.28.0: nothing newer\n")
    assert snapshot(ground.file) == before
    back = ground.run("lock", "--upgrade", "9.26.0", "--json")
    assert (told(back)["written"], told(back)["upgrades"][0]["after"]) == (True, "9.26.0")


@pytest.mark.skipif(os.name == "nt", reason="a root that nobody may write")
def test_a_lock_that_cannot_be_written_stays_as_it_was(ground: Ground, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        target: Path = tmp_path / FILE / "below.lock"
    else:
        target = tmp_path / "closed" / FILE
        target.parent.mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    done = ground.run("lock", "9.26.0", "-o", target)
    assert (done.code, f"lock: {target}: cannot be written" in reason(done)) == (7, True)
    assert snapshot(target) is None


def test_from_installed_needs_no_source(ground: Ground) -> None:
    assert ground.run("fetch", "9.27.0", *CHOICE).code == 0
    ground.source = "/no/such/source"
    before = json.loads(ground.file.read_bytes())
    done = ground.run("lock", "--from-installed")
    assert done.code == 0, done.err
    after = json.loads(ground.file.read_bytes())
    tree = told(ground.run("where", "9.27.0", *CHOICE, "--json"))["prefixes"][0]["tree"]
    assert [each["tree"] for each in after["releases"][0]["archives"] if each["tree"]] == [tree]
    for each in after["releases"][0]["archives"]:
        each["tree"] = None
    assert after == before
    fresh = ground.run(
        "lock", "--from-installed", "9.27", "-o", "fresh.lock", "--platform", "linux-x86_64", "--json"
    )
    assert [(each["asked"], each["archives"]) for each in told(fresh)["releases"]] == [("9.27", 2)]


def damaged_tree(node: Node) -> None:
    for archive in node["releases"][0]["archives"]:
        archive["tree"] = "0" * 64


def damaged_digest(node: Node) -> None:
    for archive in node["releases"][0]["archives"]:
        archive["sha256"] = "0" * 64


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (damaged_tree, "lock-differs: .cudnn-redist.json: tree digest is "),
        (damaged_digest, "lock-differs: .cudnn-redist.json: archive sha256 is "),
    ],
    ids=["tree", "archive"],
)
def test_verify_names_what_is_no_longer_locked(
    ground: Ground, spoil: Callable[[Node], object], found: str
) -> None:
    assert ground.run("fetch", "--lock", FILE, *CHOICE).code == 0
    good = ground.run("verify", "--lock", FILE)
    assert (good.code, good.out) == (0, f"{ground.root / PREFIX}: as recorded\n")
    ground.edit(spoil)
    done = ground.run("verify", "--lock", FILE)
    assert done.code == 9
    assert f"{ground.root / PREFIX}: {found}" in done.err
    assert reason(done) == f"verify: {ground.root / PREFIX}: 1 fault"


def test_verify_by_a_lock_looks_at_the_files_too(ground: Ground) -> None:
    assert ground.run("fetch", "--lock", FILE, *CHOICE).code == 0
    (ground.root / PREFIX / "include/cudnn.h").unlink()
    done = ground.run("verify", "--lock", FILE, "--json")
    assert done.code == 9
    assert any(finding["where"] == "include/cudnn.h" for finding in told(done)["error"]["findings"])


def test_verify_by_a_lock_is_about_what_it_has(ground: Ground) -> None:
    assert ground.run("fetch", "9.26.0", *CHOICE).code == 0
    nothing = ground.run("verify", "--lock", FILE)
    assert (nothing.code, "nothing of" in reason(nothing)) == (3, True)
    other = ground.run("verify", "9.26.0", "--lock", FILE)
    assert (other.code, "the lock does not have" in reason(other)) == (3, True)
    assert ground.run("fetch", "--lock", FILE, *CHOICE).code == 0
    older = ground.root / PREFIX.replace("9.27.0", "9.26.0")
    (older / ".cudnn-redist.json").write_text("{")
    assert ground.run("verify", "--lock", FILE).out == f"{ground.root / PREFIX}: as recorded\n"
    (ground.root / PREFIX / ".cudnn-redist.json").write_text("{")
    assert ground.run("verify", "--lock", FILE).code == 9


def test_prune_removes_what_no_lock_names(ground: Ground) -> None:
    older = ground.root / PREFIX.replace("9.27.0", "9.26.0")
    for label in ("9.26.0", "9.27.0"):
        assert ground.run("fetch", label, *CHOICE).code == 0
    before = snapshot(ground.root)
    dry = ground.run("prune", "--lock", FILE, "--dry-run", "--json")
    assert (told(dry)["dry_run"], told(dry)["removed"][0]) == (True, str(older))
    assert snapshot(ground.root) == before
    (older / "mine").write_text("x")
    left = ground.run("prune", "--lock", FILE, "--json")
    assert told(left)["left"] == [{"path": str(older), "reason": "holds what is not ours (mine)"}]
    assert told(left)["removed"] == []
    (older / "mine").unlink()
    assert ground.run("lock", "9.26.0", "-o", "b.lock").code == 0
    assert ground.run("prune", "--lock", FILE, "b.lock").out == ""
    assert ground.run("prune", "--lock", FILE, "--lock", "b.lock").out == ""
    assert ground.run("prune", "--lock", FILE).out.splitlines()[0] == str(older)
    assert not older.parents[2].exists()
    assert ground.run("verify", "9.27.0").code == 0


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def tomorrow(path: Path) -> None:
    path.write_text('{"schema": 2}')


def no_file(path: Path) -> None:
    path.unlink()


def a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


BAD_FILES: dict[str, tuple[Callable[[Path], object], int, str, str]] = {
    "cut short": (truncate, 6, "LockError", "JSON that is cut short"),
    "schema of tomorrow": (tomorrow, 6, "LockError", "lock of schema 2; this version reads schema 1"),
    "none": (no_file, 2, "UsageError", "no such lock file"),
    "a directory": (a_directory, 2, "UsageError", "is a directory and no lock file"),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "fetch": ("fetch", "--lock", FILE, *CHOICE),
    "url": ("url", "--lock", FILE, *CHOICE),
    "verify": ("verify", "--lock", FILE),
    "prune": ("prune", "--lock", FILE),
    "check": ("lock", "--check", FILE),
    "outdated": ("lock", "--outdated", FILE),
    "upgrade": ("lock", "--upgrade", "-o", FILE),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("bad", BAD_FILES)
def test_a_bad_lock_file_is_one_reason_and_nothing_else(ground: Ground, command: str, bad: str) -> None:
    spoil, code, kind, cause = BAD_FILES[bad]
    spoil(ground.file)
    before = snapshot(ground.file.parent)
    done = ground.run(*COMMANDS[command], "--json")
    error = told(done)["error"]
    assert (done.code, error["exit_code"], error["type"]) == (code, code, kind)
    assert (error["where"], cause in error["cause"]) == (str(ground.file), True)
    assert reason(done).startswith(f"lock: {ground.file}: ")
    assert snapshot(ground.file.parent) == before


MIXED: dict[str, tuple[str, ...]] = {
    "export": ("export", "sha256sums", "--lock", FILE, "9.27.0", "--cuda", "13"),
    "fetch": ("fetch", "--lock", FILE, *CHOICE, "9.27.0", "--no-progress"),
    "lock": ("lock", "9.26.0", "--cuda", "13", "9.27.0", "-o", "two.lock"),
    "mirror": ("mirror", "made", "--platform", "linux-x86_64", "9.26.0", "--cuda", "13", "9.27.0"),
    "bundle": (
        "bundle",
        "--cuda",
        "13",
        "made",
        "--platform",
        "linux-x86_64",
        "9.26.0",
        "--no-progress",
        "9.27.0",
    ),
    "after two dashes": ("url", *CHOICE, "--", "9.27.0"),
}


@pytest.mark.parametrize("words", MIXED.values(), ids=MIXED)
def test_labels_stand_before_and_after_options(ground: Ground, words: tuple[str, ...]) -> None:
    done = ground.run(*words)
    assert (done.code, bool(done.out)) == (0, True), done.err


NO_SENSE: dict[str, tuple[tuple[str, ...], str]] = {
    "neither label nor lock": (("fetch",), "a LABEL is needed, or a --lock"),
    "several labels": (("fetch", "9.27.0", "9.26.0"), "one LABEL is needed, and not 2"),
    "locked alone": (("fetch", "9.27.0", "--locked"), "--locked needs a --lock"),
    "a pin beside": (("fetch", "--lock", FILE, "--manifest-sha256", "0" * 64), "no place beside it"),
    "a refresh beside": (("url", "--lock", FILE, "--refresh"), "no place beside it"),
    "nothing to lock": (("lock",), "no label to lock"),
    "two modes": (("lock", "--check", FILE, "--from-installed"), "not allowed with argument"),
    "a label to check": (("lock", "9.27.0", "--check", FILE), "a LABEL has no meaning here"),
    "a choice to upgrade": (("lock", "--cuda", "13", "--upgrade"), "--cuda has no meaning here"),
    "adding twice": (("lock", "--from-installed", "--add"), "--add has no meaning here"),
    "no name": (("lock", "9.27.0", "-o", ""), "is empty"),
    "no label": (("lock", "9.x"), "is not a release label"),
    "no product": (("lock", "9.27.0", "--product", "../x"), "is no product name"),
    "an unnamed lock": (("prune",), "the following arguments are required: --lock"),
    "nothing to verify": (("verify",), "a LABEL or a PREFIX is needed, or a --lock"),
}


@pytest.mark.parametrize("case", NO_SENSE)
def test_what_makes_no_sense_is_told_and_nothing_is_touched(ground: Ground, case: str) -> None:
    words, cause = NO_SENSE[case]
    before = snapshot(ground.file.parent)
    done = ground.run(*words)
    assert (done.code, done.out, cause in reason(done)) == (2, "", True)
    assert snapshot(ground.file.parent) == before


NOT_THERE: dict[str, tuple[tuple[str, ...], str]] = {
    "no such release": (("lock", "9.99.0"), "no such release label"),
    "no such platform": (
        ("lock", "9.27.0", "--platform", "linux-ppc64le"),
        "it has linux-sbsa, linux-x86_64",
    ),
    "not in the lock": (("fetch", "--lock", FILE, "9.26.0"), "the lock has no 9.26.0; it has cudnn 9.27.0"),
    "not of the product": (("lock", "--outdated", "--product", "cutensor"), "the lock has no cutensor"),
    "nothing installed": (("lock", "--from-installed"), "no prefix is installed"),
    "nothing to verify": (("verify", "--lock", FILE), "no prefix of the lock that fits is installed"),
}


@pytest.mark.parametrize("case", NOT_THERE)
def test_what_is_not_there_is_told_and_nothing_is_touched(ground: Ground, case: str) -> None:
    words, cause = NOT_THERE[case]
    before = snapshot(ground.file.parent)
    done = ground.run(*words)
    assert (done.code, done.out, cause in reason(done)) == (3, "", True)
    assert snapshot(ground.file.parent) == before


KEYS: dict[str, tuple[tuple[str, ...], dict[str, set[str]]]] = {
    "lock": (
        ("lock", "9.27.0"),
        {"": {"lock", "releases"}, "releases": {"product", "asked", "label", "manifest_sha256", "archives"}},
    ),
    "check": (
        ("lock", "--check"),
        {"": {"lock", "releases"}, "releases": {"product", "label", "locked", "found", "changes"}},
    ),
    "outdated": (
        ("lock", "--outdated"),
        {
            "": {"lock", "outdated", "releases"},
            "releases": {"product", "asked", "label", "matching", "newest"},
        },
    ),
    "upgrade": (
        ("lock", "--upgrade", "9.26.0"),
        {"": {"lock", "written", "upgrades"}, "upgrades": {"product", "before", "after", "changes"}},
    ),
}


@pytest.mark.parametrize("command", KEYS)
def test_the_keys_of_a_result(ground: Ground, command: str) -> None:
    words, keys = KEYS[command]
    found = told(ground.run(*words, "--json"))
    assert found.keys() == keys[""]
    assert all(each.keys() == below for name, below in keys.items() if name for each in found[name])
    changes = [change for each in found.get("upgrades", []) for change in each["changes"]]
    assert all(
        change.keys() == {"kind", "component", "platform", "variant", "before", "after"}
        and change["before"].keys() == {"version", "relative_path", "url", "sha256", "size"}
        for change in changes
    )
