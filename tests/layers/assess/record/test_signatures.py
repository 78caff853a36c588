# SPDX-License-Identifier: Apache-2.0
"""Signatures, read again by a verifier of a few lines that shares nothing with ours."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys

import pytest

from assay.assess.record.record import Record, sealed
from assay.assess.record.signatures import envelope_of, new_key, sign, signed_by
from assay.assess.record.verification import verify
from assay.core.errors import PlanError, RecordError
from tests.command import assay
from tests.layers.assess.record.test_tampering import Changed, leaves
from tests.layers.assess.recorded import KEPT, records

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def recovered(y, sign_):
    """The point of RFC 8032, 5.1.3, from its y and the lowest bit of its x."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P)
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert (x * x - square) % P == 0
    return (P - x if x % 2 != sign_ else x), y


def added(a, b):
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + t, P - 2, P)
    return x % P, (y1 * y2 + x1 * x2) * pow(1 - t, P - 2, P) % P


def times(n, point):
    found = (0, 1)
    while n:
        if n & 1:
            found = added(found, point)
        point, n = added(point, point), n >> 1
    return found


def point_of(raw):
    number = int.from_bytes(raw, "little")
    return recovered(number & (2**255 - 1), number >> 255)


BASE = recovered(4 * pow(5, P - 2, P) % P, 0)


def holds(public, message, signature):
    """Ed25519 by RFC 8032, in whole numbers."""
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % ORDER
    return s < ORDER and times(s, BASE) == added(point_of(r), times(k, point_of(public)))


def raw_key(pem):
    lines = [line for line in pem.decode().splitlines() if "---" not in line]
    return base64.b64decode("".join(lines))[-32:]  # SubjectPublicKeyInfo ends with the key (RFC 8410)


@pytest.fixture
def place(tmp_path):
    record = records()["decided"].save(tmp_path / "record.json")
    private, public, keyid = new_key(tmp_path / "ada.key")
    return record, private, public, keyid


def test_an_independent_reader_finds_the_record_and_the_key(place):
    record, private, public, keyid = place
    written, by = sign(record, private)
    assert written == envelope_of(record) == record.with_name("record.dsse.json")
    envelope = json.loads(written.read_bytes())
    payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"]
    message = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    (one,) = envelope["signatures"]
    key = raw_key(public.read_bytes())
    assert one["keyid"] == by == keyid == hashlib.sha256(key).hexdigest()
    assert holds(key, message, base64.b64decode(one["sig"]))
    assert not holds(key, message + b" ", base64.b64decode(one["sig"]))
    statement = json.loads(payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["subject"] == [
        {"name": "record.json", "digest": {"sha256": hashlib.sha256(record.read_bytes()).hexdigest()}}
    ]
    assert statement["predicate"]["content"] == Record.load(record)["digests"]["record"]
    assert signed_by(record, public).keyid == keyid


def test_a_signature_by_another_key_is_not_ours(place, tmp_path):
    record, private, _, _ = place
    sign(record, private)
    _, stranger, _ = new_key(tmp_path / "eve.key")
    with pytest.raises(RecordError) as error:
        signed_by(record, stranger)
    assert error.value.code == "signature-wrong"
    assert "no signature is by this key" in error.value.what


def test_two_people_may_sign_the_same_record(place, tmp_path):
    record, private, public, _ = place
    sign(record, private)
    second, other, _ = new_key(tmp_path / "bob.key")
    written, _ = sign(record, second)
    sign(record, second)
    assert len(json.loads(written.read_bytes())["signatures"]) == 2
    assert signed_by(record, public).signed_at == signed_by(record, other).signed_at


def test_no_changed_byte_of_the_envelope_survives(place):
    record, private, public, _ = place
    written, _ = sign(record, private)
    whole = json.loads(written.read_bytes())
    payload = base64.b64decode(whole["payload"])
    for at in range(0, len(payload), 7):
        bent = bytes([*payload[:at], payload[at] ^ 1, *payload[at + 1 :]])
        written.write_text(json.dumps({**whole, "payload": base64.b64encode(bent).decode()}), encoding="utf-8")
        with pytest.raises(RecordError):
            signed_by(record, public)
    for broken in ({**whole, "payloadType": "text/plain"}, {**whole, "signatures": []}, {**whole, "payload": "%"}, {}):
        written.write_text(json.dumps(broken), encoding="utf-8")
        with pytest.raises(RecordError):
            signed_by(record, public)


def test_no_changed_leaf_of_the_envelope_or_the_statement_survives_but_the_hint_at_the_key(place):
    """The id of the key is a hint that DSSE does not sign: https://github.com/secure-systems-lab/dsse, protocol.md."""
    record, private, public, _ = place
    written, _ = sign(record, private)
    whole = json.loads(written.read_bytes())
    statement = json.loads(base64.b64decode(whole["payload"]))
    for path, _value in leaves(whole):
        with Changed(whole, path):
            written.write_text(json.dumps(whole), encoding="utf-8")
        if path[-1] == "keyid":
            assert signed_by(record, public)
            continue
        with pytest.raises(RecordError):
            signed_by(record, public)
    for path, _value in leaves(statement):
        with Changed(statement, path):
            bent = base64.b64encode(json.dumps(statement).encode()).decode()
        written.write_text(json.dumps({**whole, "payload": bent}), encoding="utf-8")
        with pytest.raises(RecordError):
            signed_by(record, public)


def test_a_kept_signature_holds():
    folder = KEPT / "signed"
    assert signed_by(folder / "record.json", folder / "ada.key.pub").signed_at.startswith("2026-")
    assert verify(Record.load(folder / "record.json")).mismatches == ()


def test_a_record_that_was_changed_and_sealed_again_does_not_fit_its_signature(place):
    record, private, public, _ = place
    sign(record, private)
    content = json.loads(record.read_bytes())
    content["notes"] = ["all is well"]
    Record(sealed(content)).save(record)
    with pytest.raises(RecordError) as error:
        signed_by(record, public)
    assert "another Record was signed, or this one was changed since" in error.value.what
    with pytest.raises(RecordError):
        sign(record, private)


def test_what_does_not_verify_is_not_signed(place):
    record, private, _, _ = place
    content = json.loads(record.read_bytes())
    content["estimates"][0]["value"] = 0.123
    Record(sealed(content)).save(record)
    with pytest.raises(RecordError) as error:
        sign(record, private)
    assert "does not verify" in error.value.what


def test_keys_are_private_have_a_passphrase_if_asked_and_are_never_overwritten(tmp_path):
    right = "open sesame"
    private, public, _ = new_key(tmp_path / "k", right)
    if os.name == "posix":
        assert private.stat().st_mode & 0o077 == 0
    record = records()["decided"].save(tmp_path / "record.json")
    for passphrase, word in ((None, "has a passphrase"), ("wrong", "passphrase is wrong")):
        with pytest.raises(PlanError) as error:
            sign(record, private, passphrase=passphrase)
        assert word in error.value.what
    sign(record, private, passphrase=right)
    assert signed_by(record, public)
    with pytest.raises(PlanError):
        new_key(tmp_path / "k")


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"])
def test_files_that_are_no_keys_are_told(tmp_path, place, content):
    record, private, _, _ = place
    sign(record, private)
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(PlanError) as error:
        signed_by(record, tmp_path / "x")
    assert error.value.code == "key-unreadable"
    with pytest.raises(PlanError) as error:
        sign(record, tmp_path / "x")
    assert error.value.code == "key-unreadable"
    with pytest.raises(PlanError) as error:
        signed_by(record, private)
    assert "this is the private key" in error.value.what


def test_a_key_of_another_kind_is_refused(tmp_path, place):
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    text = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    (tmp_path / "ec").write_bytes(text)
    with pytest.raises(PlanError) as error:
        sign(place[0], tmp_path / "ec")
    assert "not of the kind Ed25519" in error.value.what


def test_without_the_package_the_install_command_is_told(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    for call in (lambda: sign(place[0], place[1]), lambda: signed_by(place[0], place[2])):
        with pytest.raises(PlanError) as error:
            call()
        assert error.value.code == "missing-extra"
        assert 'pip install "assay[sign]"' in error.value.fix


def test_the_command_line_makes_keys_signs_and_verifies(tmp_path):
    records()["decided"].save(tmp_path / "record.json")
    assert assay("key", "new", "-o", "ada.key", cwd=tmp_path).returncode == 0
    done = assay("sign", "record.json", "--key", "ada.key", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = assay("verify", "record.json", "--key", "ada.key.pub", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "and signed by the key" in done.stderr
    assert json.loads(done.stdout)["signature"]["holds"] is True
    (tmp_path / "record.dsse.json").write_text('{"payload": "", "signatures": []}', encoding="utf-8")
    done = assay("verify", "record.json", "--key", "ada.key.pub", cwd=tmp_path)
    assert done.returncode == 1
    assert "NOT signed by the key" in done.stdout
