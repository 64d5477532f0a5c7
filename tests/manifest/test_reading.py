from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manifest.samples import modern

from cudnn_redist.errors import ManifestError
from cudnn_redist.manifest import MAX_MANIFEST_BYTES, Manifest

ORIGIN = "https://mirror.example/cudnn/redist/redistrib_9.27.0.json"
GOOD = json.dumps(modern(), indent=4).encode()


def refusal(body: bytes) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        Manifest.parse(body, origin=ORIGIN)
    assert caught.value.where == ORIGIN
    assert caught.value.exit_code == 6
    return caught.value


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        pytest.param(b"", "the body is empty", id="nothing"),
        pytest.param(b" \r\n\t", "the body is empty", id="blank"),
        pytest.param(b"\xef\xbb\xbf", "the body is empty", id="byte-order-mark-alone"),
        pytest.param(b"<!DOCTYPE html><title>Log in</title>", "a page .*Log in", id="login-page"),
        pytest.param(b"\n<?xml version='1.0'?><Error/>", "a page", id="xml-error"),
        pytest.param(b"TLS handshake failed", "not JSON: .*line 1, column 1", id="one-line-of-text"),
        pytest.param(GOOD[: len(GOOD) // 2], "cut short", id="truncated"),
        pytest.param(GOOD[:-1], "cut short", id="last-brace-missing"),
        pytest.param(
            GOOD[: GOOD.index(b"cudnn") + 3], "cut short: Unterminated string", id="cut-in-a-string"
        ),
        pytest.param(GOOD + b"{}", "not JSON: Extra data", id="trailing-data"),
        pytest.param("{}".encode("utf-16"), "not UTF-8 text, from byte 0", id="utf-16"),
        pytest.param(b'{"a": "\xe9"}', "not UTF-8 text, from byte 7", id="latin-1"),
        pytest.param(b"\x1f\x8b\x08\x00", "not UTF-8", id="gzip"),
        pytest.param(b"[]", "not an object", id="list"),
        pytest.param(b"null", "not an object", id="null"),
        pytest.param(b'{"a": NaN}', "NaN is no JSON number", id="nan"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", "not JSON that can be used", id="endless-integer"),
        pytest.param(b"[" * 100_000, "nested deeper than 32", id="nested-thousands-deep"),
        pytest.param(b'{"a":' * 40 + b"1" + b"}" * 40, "nested deeper than 32", id="nested-forty-deep"),
        pytest.param(
            b'{"a":"' + b"x" * MAX_MANIFEST_BYTES + b'"}',
            "bytes, a manifest has at most 4194304",
            id="over-4-MiB",
        ),
        pytest.param(b"{}", "no component", id="empty-object"),
        pytest.param(b'{"error": {"code": 404, "message": "gone"}}', "no component", id="error-object"),
    ],
)
def test_what_is_no_manifest_is_told_as_what_it_is(body: bytes, cause: str) -> None:
    error = refusal(body)
    assert str(error).startswith(f"manifest: {ORIGIN}: ")
    with pytest.raises(ManifestError, match=cause):
        raise error
    assert len(str(error)) < 400


def test_every_key_given_twice_is_named_with_its_place() -> None:
    body = b'{"a": [{"b": 1, "b": 2}], "cudnn": {"version": "1", "version": "2"}, "a.b": 1, "a.b": 2}'
    places = ("a.b", "cudnn.version", "a.0.b")
    assert refusal(body).faults == tuple(f"{place}: this key is given twice" for place in places)


def test_half_of_a_surrogate_pair_is_no_text_and_is_named_with_its_place() -> None:
    body = (
        rb'{"\ud800": {"linux": {"size": "1"}}, "c": {"a": ["\uDFFF!", "\ud83d\ude00"], "b": "\ude00\ud83d"}}'
    )
    places = (r"'\ud800'", "c.b", "c.a.0")
    assert refusal(body).faults == tuple(f"{place}: half of a surrogate pair is no text" for place in places)


def test_a_byte_order_mark_is_no_fault_and_stays_in_the_bytes() -> None:
    body = b"\xef\xbb\xbf" + GOOD
    assert Manifest.parse(body, origin=ORIGIN).data == body


def test_a_body_of_exactly_the_limit_is_read() -> None:
    body = GOOD + b" " * (MAX_MANIFEST_BYTES - len(GOOD))
    assert Manifest.parse(body, origin=ORIGIN).components.keys() == modern().keys() - {
        "release_date",
        "release_label",
        "release_product",
    }


def parse_or_refuse(body: bytes) -> None:
    """Let any exception pass but the one that is allowed."""
    try:
        manifest = Manifest.parse(body, origin=ORIGIN)
    except ManifestError:
        return
    assert manifest.data == body
    assert all(archive.relative_path for archive in manifest.archives())


@settings(deadline=None)
@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_arbitrary_bytes_give_a_manifest_or_its_error(body: bytes) -> None:
    parse_or_refuse(body)


KEYS = st.sampled_from(
    (
        *("cudnn", "linux-x86_64", "cuda12", "cuda13.4", "9.27.0", "relative_path", "sha256", "md5", "size"),
        *("version", "name", "cuda_variant", "release_label", "release_product", "a/b", "", "nul", "\x1b[2J"),
    )
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["", "12", "9.27.0", "ab" * 32, "cd" * 16, "cudnn/x-9.27.0_cuda13-archive.tar.xz", "\ud800", "a\0b"]
    )
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=5),
    max_leaves=25,
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        KEYS, st.dictionaries(KEYS, st.dictionaries(KEYS, DOCUMENTS, max_size=4), max_size=4), max_size=3
    )
)
def test_arbitrary_shapes_give_a_manifest_or_its_error(document: dict[str, Any]) -> None:
    parse_or_refuse(json.dumps(document).encode())


@settings(max_examples=50, deadline=None)
@given(st.integers(0, len(GOOD) - 1))
def test_every_truncation_is_refused(length: int) -> None:
    refusal(GOOD[:length])
