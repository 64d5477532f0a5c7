"""C38 with a real TLS server of a private authority: by option, by variable and in the system's own store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from servers.daemon import program
from servers.ground import fetched
from source.ground import nothing_left

if TYPE_CHECKING:
    from servers.ground import Site
    from source.tls import Certificates

STORE = Path("/etc/ssl/certs")


def test_it_is_not_trusted_by_itself(tls_site: Site, root: Path) -> None:
    done = fetched(tls_site.url, root)

    assert done.code == 4
    (line,) = done.err.splitlines()
    assert line.startswith(f"cudnn-redist: manifest: {tls_site.url}cudnn/redist/")
    assert "certificate not trusted" in line
    assert "--ca-file" in line
    assert nothing_left(root)


def test_it_is_trusted_by_option(tls_site: Site, certificates: Certificates, root: Path) -> None:
    done = fetched(tls_site.url, root, "--ca-file", certificates.authority)

    assert done.code == 0, done.err


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_it_is_trusted_by_variable(
    variable: str, tls_site: Site, certificates: Certificates, root: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    value = certificates.authority if variable == "SSL_CERT_FILE" else store
    store.mkdir()
    (store / "ca.pem").write_bytes(certificates.authority.read_bytes())
    subprocess.run(["openssl", "rehash", store], check=True)

    done = fetched(tls_site.url, root, **{variable: str(value)})

    assert done.code == 0, done.err


@pytest.fixture
def system_store(certificates: Certificates, tmp_path: Path) -> Path:
    """A store as Debian's own tool makes it, elsewhere, of the private authority alone."""
    for name in ("store", "local", "hooks"):
        (tmp_path / name).mkdir()
    (tmp_path / "nothing").touch()
    (tmp_path / "local/private.crt").write_bytes(certificates.authority.read_bytes())
    places = {"etccertsdir": "store", "localcertsdir": "local", "hooksdir": "hooks", "certsconf": "nothing"}
    given = [word for option, name in places.items() for word in (f"--{option}", tmp_path / name)]
    subprocess.run(
        [program("update-ca-certificates", "ca-certificates"), *given], check=True, capture_output=True
    )
    return tmp_path / "store"


@pytest.fixture
def in_its_own_namespace() -> list[str]:
    """Return what begins a command that sees other mounts than everybody else, or skip the test."""
    start = ["unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",))]
    if subprocess.run([*start, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no mount namespace of one's own on this machine")
    return start


def test_it_is_trusted_by_the_systems_store(
    system_store: Path, in_its_own_namespace: list[str], tls_site: Site, root: Path
) -> None:
    """The store is mounted over the system's for one process, and for nobody else."""
    before = sorted(STORE.iterdir())
    choice = ["--platform", "linux-x86_64", "--cuda", "13", "--root", root]
    words = ["fetch", "9.27.0", "--source", f"{tls_site.url}cudnn/redist/", *choice]
    mounted = f'mount --bind "$0" {STORE} && exec "$@"'

    done = subprocess.run(
        [
            *in_its_own_namespace,
            "sh",
            "-c",
            mounted,
            system_store,
            sys.executable,
            "-m",
            "cudnn_redist",
            *words,
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert sorted(STORE.iterdir()) == before
    assert fetched(tls_site.url, root.with_name("other")).code == 4
