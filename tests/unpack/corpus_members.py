"""Members that must not be written, each alone: what every kind of archive can hold, and what only a tar can."""

from __future__ import annotations

import tarfile

from unpack.building import Entry, file, folder, hard_link, link, special
from unpack.specimen import Unsafe

THERE = "is there already, from an earlier member"
LEAVES = "which leaves the tree"
NOWHERE = "which is not in the archive"
THROUGH = "would be written through the link"
CIRCLE = "passes more than 40 links"
NO_FILE = "which is no earlier file"

IN_EVERY_KIND: dict[str, Unsafe] = {
    # Names
    "absolute": Unsafe((file("/etc/evil"),), "is absolute"),
    "absolute, two slashes": Unsafe((file("//etc/evil"),), "is absolute"),
    "climbing": Unsafe((file("../evil"),), r"climbs with '\.\.'"),
    "climbing inside": Unsafe((file("top/../../evil"),), "climbs with"),
    "climbing and coming back": Unsafe((file("top/../top/evil"),), "climbs with"),
    "climbing at the end": Unsafe((file("top/d/.."),), "climbs with"),
    "climbing directory": Unsafe((folder("top/../.."),), "climbs with"),
    "dot": Unsafe((file("."),), "is the name of the tree itself"),
    "dots and slashes": Unsafe((file("./."),), "is the name of the tree itself"),
    "dot-dot": Unsafe((file(".."),), "climbs with"),
    "drive letter": Unsafe((file("C:/evil"),), "begins with a drive letter"),
    "drive letter without a slash": Unsafe((file("c:evil"),), "begins with a drive letter"),
    "backslash": Unsafe((file("top\\bin\\evil.dll"),), "holds a backslash"),
    "climbing with backslashes": Unsafe((file("..\\evil"),), "holds a backslash"),
    "share of Windows": Unsafe((file("\\\\host\\share\\evil"),), "holds a backslash"),
    "control character": Unsafe((file("top/a\nb"),), "holds a control character"),
    "escape sequence": Unsafe((file("top/\x1b[2Jevil"),), "holds a control character"),
    "component too long": Unsafe((file("top/" + "x" * 256),), "has a component of more than 255 bytes"),
    "component too long in bytes": Unsafe(
        (file("top/" + "文" * 86),), "has a component of more than 255 bytes"
    ),
    "name too long": Unsafe((file("top/" + "/".join(["x" * 100] * 11)),), "has more than 1024 bytes"),
    # One path twice
    "duplicate": Unsafe((file("top/good", b"again"),), THERE),
    "duplicate, spelled otherwise": Unsafe((file("./top//good"),), THERE),
    "duplicate directory": Unsafe((folder("top/d"), folder("top/d")), THERE),
    "file over directory": Unsafe((folder("top/d"), file("top/d")), THERE),
    "file over implied directory": Unsafe((file("top"),), THERE),
    "directory over file": Unsafe((folder("top/good"),), "needs a directory where 'top/good' is a file"),
    "below a file": Unsafe((file("top/good/below"),), "needs a directory where 'top/good' is a file"),
    "link over file": Unsafe((link("top/good", "other"),), THERE),
    "link over directory": Unsafe((folder("top/d"), link("top/d", "good")), THERE),
    "file in place of a link": Unsafe((link("top/l", "good"), file("top/l")), THERE),
    "link in place of a link": Unsafe((link("top/l", "good"), link("top/l", "../..")), THERE),
    # Links
    "link in place of the tree": Unsafe((link(".", "top"),), "is the name of the tree itself"),
    "link in place of the top folder": Unsafe((link("top", "/"),), "which is absolute"),
    "absolute link": Unsafe((link("top/l", "/etc/passwd"),), "which is absolute"),
    "link with a backslash": Unsafe((link("top/l", "..\\evil"),), "which holds a backslash"),
    "link with a drive letter": Unsafe((link("top/l", "C:/evil"),), "which begins with a drive letter"),
    "link with a control character": Unsafe((link("top/l", "go\rod"),), "which holds a control character"),
    "climbing link": Unsafe((link("top/l", "../../evil"),), LEAVES),
    "link to what is outside": Unsafe((link("top/l", "../../sentinel/file"),), LEAVES),
    "link out of the top folder and back": Unsafe((link("top/l", "../top/good"),), LEAVES),
    "link down and out": Unsafe((folder("top/d"), link("top/l", "d/../../../sentinel")), LEAVES),
    "link to nothing": Unsafe((link("top/l", "nothing"),), NOWHERE),
    "link through a file": Unsafe((link("top/l", "good/.."),), NOWHERE),
    "link to itself": Unsafe((link("top/l", "l"),), CIRCLE),
    "link through itself": Unsafe((link("top/l", "l/good"),), CIRCLE),
    "links in a circle": Unsafe((link("top/l", "m"), link("top/m", "l")), CIRCLE),
    "chain of 41 links": Unsafe(
        (*(link(f"top/{n}", str(n + 1)) for n in range(41)), link("top/41", "good")), CIRCLE
    ),
    "chain that leaves": Unsafe(
        (link("top/l", "d/up/up"), link("top/d/up", "../.."), folder("top/d")), LEAVES
    ),
    "write through a link": Unsafe((link("top/l", "d"), folder("top/d"), file("top/l/evil")), THROUGH),
    "write through a link to outside": Unsafe((link("top/l", "../../sentinel"), file("top/l/evil")), THROUGH),
    "directory below a link": Unsafe((link("top/l", ".."), folder("top/l/evil")), THROUGH),
    "link below a link": Unsafe((link("top/l", ".."), link("top/l/m", "good")), THROUGH),
}

IN_TAR: dict[str, Unsafe] = {
    "fifo": Unsafe((special("top/fifo", tarfile.FIFOTYPE),), "is a device or a fifo"),
    "character device": Unsafe((special("top/null", tarfile.CHRTYPE),), "is a device or a fifo"),
    "block device": Unsafe((special("top/disk", tarfile.BLKTYPE),), "is a device or a fifo"),
    "socket, as star writes it": Unsafe((special("top/socket", b"s"),), "of the unknown type"),
    "volume label": Unsafe((special("top/volume", b"V"),), "of the unknown type"),
    "unknown type": Unsafe((special("top/what", b"Z"),), "of the unknown type"),
    "sparse": Unsafe((special("top/sparse", tarfile.GNUTYPE_SPARSE),), "is a sparse file"),
    "empty name": Unsafe((file(""),), "is empty"),
    "file with a slash at its end": Unsafe((file("top/f/"),), "ends with a slash"),
    "link with a slash at its end": Unsafe((link("top/l/", "good"),), "ends with a slash"),
    "not UTF-8": Unsafe((file("top/\udcff\udcfe"),), "is not UTF-8"),
    "link to no UTF-8": Unsafe((link("top/l", "\udcff"),), "which is not UTF-8"),
    "empty link": Unsafe((link("top/l", ""),), "which is empty"),
    "hard link to nothing": Unsafe((hard_link("top/h", "top/nothing"),), NO_FILE),
    "hard link to what comes later": Unsafe((hard_link("top/h", "top/later"), file("top/later")), NO_FILE),
    "hard link to itself": Unsafe((hard_link("top/h", "top/h"),), NO_FILE),
    "hard link outside": Unsafe((hard_link("top/h", "../sentinel/file"),), "climbs with"),
    "absolute hard link": Unsafe((hard_link("top/h", "/etc/passwd"),), "is absolute"),
    "hard link with a backslash": Unsafe((hard_link("top/h", "top\\good"),), "holds a backslash"),
    "hard link to a directory": Unsafe((folder("top/d"), hard_link("top/h", "top/d")), NO_FILE),
    "hard link to the tree": Unsafe((hard_link("top/h", "."),), NO_FILE),
    "hard link to a link": Unsafe((link("top/l", "good"), hard_link("top/h", "top/l")), NO_FILE),
    "hard link through a link": Unsafe(
        (link("top/l", "../../sentinel"), hard_link("top/h", "top/l/file")), NO_FILE
    ),
    "hard link over a file": Unsafe((hard_link("top/good", "top/good"),), THERE),
    "hard link below a link": Unsafe((link("top/l", ".."), hard_link("top/l/h", "top/good")), THROUGH),
    "write through a hard link": Unsafe((hard_link("top/h", "top/good"), file("top/h", b"evil")), THERE),
    "below a hard link": Unsafe((hard_link("top/h", "top/good"), file("top/h/f")), "needs a directory where"),
}

CASE_FOLDING: dict[str, tuple[Entry, ...]] = {
    "case": (file("top/README"), file("top/readme")),
    "case of a directory": (file("top/Lib/a"), file("top/lib/b")),
    "sharp s": (file("top/straße"), file("top/STRASSE")),
    "composed and decomposed": (file("top/\u00e9"), file("top/e\u0301")),
    "case and composition": (file("top/\u00c9"), file("top/e\u0301")),
    "Kelvin sign": (file("top/\u212a"), file("top/k")),
    "link and file": (link("top/A", "b"), file("top/b"), file("top/a")),
}
"""Two names where the file system tells them apart, one where it folds case: then they are refused (C56)."""

WINDOWS_RESERVED = ("con", "NUL.txt", "aux.h", "COM1", "lpt9.log", "a:b", "what?", "end.", "end ", "CONOUT$")
"""Names of files that Windows takes for devices, for streams or for other names; elsewhere they are plain names."""
