# SPDX-License-Identifier: Apache-2.0
"""Signatures of Records: an in-toto statement in a DSSE envelope beside the Record, signed with Ed25519.

https://github.com/secure-systems-lab/dsse/blob/v1.0.2/envelope.md, https://in-toto.io/Statement/v1
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from assay.assess.record.record import Record
from assay.assess.record.verification import first_mismatch
from assay.core.errors import PlanError, RecordError, missing_extra
from assay.core.json_text import strict_json
from assay.core.text import visible
from assay.rows.temporary_files import write_whole

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PAYLOAD: Final = "application/vnd.in-toto+json"
STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "urn:assay:record-signature:1"
KIND: Final = (STATEMENT, PREDICATE)
ENDING: Final = ".dsse.json"
LARGEST: Final = 2**20
"""Bytes a key or an envelope may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A signature that fits a Record and a key."""

    keyid: str
    signed_at: str

    def to_json(self) -> dict[str, object]:
        """For machines."""
        return {"holds": True, "keyid": self.keyid, "signed_at": self.signed_at}


def envelope_of(record: str | os.PathLike[str]) -> Path:
    """Where the envelope of a Record lies: record.json has record.dsse.json."""
    path = Path(record)
    return path.with_name(path.name.removesuffix(".json") + ENDING)


def pre_authentication(kind: str, payload: bytes) -> bytes:
    """What is signed: the type and the payload, each after its length.

    >>> pre_authentication("http://example.com/HelloWorld", b"hello world")
    b'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    """
    named = kind.encode()
    return b"DSSEv1 %d %b %d %b" % (len(named), named, len(payload), payload)


def new_key(path: str | os.PathLike[str], passphrase: str | None = None) -> tuple[Path, Path, str]:
    """Make a key pair: PATH, which only its owner may read, and PATH.pub; the id of the key."""
    ed25519 = _ed25519()
    from cryptography.hazmat.primitives import serialization as form

    private, public = Path(path), Path(f"{os.fspath(path)}.pub")
    for key_path in (private, public):
        if key_path.exists():
            what = f"there is already a file {visible(key_path)}"
            raise PlanError("out-exists", what, where=str(key_path), fix="give another --out")
    key = ed25519.Ed25519PrivateKey.generate()
    hidden = form.BestAvailableEncryption(passphrase.encode()) if passphrase else form.NoEncryption()
    text = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, hidden)
    try:
        handle = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        what, fix = f"cannot write {visible(private)}", "give a path that can be written"
        raise PlanError("out-exists", what, where=str(private), found=error.strerror, fix=fix) from error
    with os.fdopen(handle, "wb") as file:
        file.write(text)
    write_whole(public, key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo))
    return private, public, _keyid(key.public_key())


def sign(
    record: str | os.PathLike[str],
    key: str | os.PathLike[str],
    *,
    passphrase: str | None = None,
    out: str | os.PathLike[str] | None = None,
) -> tuple[Path, str]:
    """Sign a Record that verifies; a second signature joins the first, if that is of the very same Record."""
    private = _private(key, passphrase)
    path, where = Path(record), visible(os.fspath(record))
    loaded_record = Record.load(path)
    if (mismatch := first_mismatch(loaded_record)) is not None:
        what, fix = "the Record does not verify, so nobody should sign it", f"assay verify {where}"
        raise RecordError("digest-mismatch", what, where=where, found=mismatch.said(), fix=fix)
    content = path.read_bytes()
    goal = envelope_of(path) if out is None else Path(out)
    keyid = _keyid(private.public_key())
    if goal.exists():
        envelope, payload = _envelope(goal)
        _statement(payload, content, goal)
    else:
        payload = json.dumps(_stated(path.name, content, loaded_record), ensure_ascii=False).encode()
        envelope = {"payload": base64.b64encode(payload).decode(), "payloadType": PAYLOAD, "signatures": []}
    signature = private.sign(pre_authentication(PAYLOAD, payload))
    kept = [one for one in envelope["signatures"] if one.get("keyid") != keyid]
    whole = {**envelope, "signatures": [*kept, {"keyid": keyid, "sig": base64.b64encode(signature).decode()}]}
    return write_whole(goal, (json.dumps(whole, indent=1) + "\n").encode()), keyid


def signed_by(
    record: str | os.PathLike[str], key: str | os.PathLike[str], envelope: str | os.PathLike[str] | None = None
) -> Signed:
    """The signature of a Record by a public key; whatever does not fit is an error."""
    public = _public(key)
    from cryptography.exceptions import InvalidSignature

    place = envelope_of(record) if envelope is None else Path(envelope)
    content, payload = _envelope(place)
    for signature in content["signatures"]:
        try:
            public.verify(_decoded(signature.get("sig"), place), pre_authentication(PAYLOAD, payload))
        except InvalidSignature:
            continue
        predicate = _statement(payload, Path(record).read_bytes(), place).get("predicate")
        signed_at = predicate.get("signed_at", "") if isinstance(predicate, dict) else ""
        return Signed(keyid=_keyid(public), signed_at=str(signed_at))
    names = [visible(str(signature.get("keyid", "unnamed")))[:16] for signature in content["signatures"]]
    what = f"no signature is by this key, or what was signed was changed (key {_keyid(public)[:16]})"
    raise _wrong(place, what, ", ".join(names) or "none")


def _stated(name: str, content: bytes, record: Record) -> dict[str, Any]:
    """What a signature says: this file, with this content, at this time."""
    plan, conformity = record["plan"], record.get("conformity", {})
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": hashlib.sha256(content).hexdigest()}}],
        "predicateType": PREDICATE,
        "predicate": {
            "kind": record["kind"],
            "content": record["digests"].get("record"),
            "plan": plan.get("declared_digest", plan.get("digest")),
            "overall": conformity.get("overall"),
            "signed_at": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        },
    }


def _envelope(place: Path) -> tuple[dict[str, Any], bytes]:
    """An envelope and the payload in it."""
    envelope: Any = strict_json(_read(place, "the signature of a Record").decode("utf-8", "replace"), visible(place))
    sound = isinstance(envelope, dict) and isinstance(envelope.get("payload"), str)
    signatures = envelope.get("signatures") if sound else None
    if not isinstance(signatures, list) or not all(isinstance(one, dict) for one in signatures):
        raise _wrong(place, "the file is not a DSSE envelope")
    if envelope.get("payloadType") != PAYLOAD:
        raise _wrong(place, f"the payload is of the type {visible(str(envelope.get('payloadType')))}")
    return dict(envelope), _decoded(envelope["payload"], place)


def _statement(payload: bytes, content: bytes, place: Path) -> dict[str, Any]:
    """What was signed, which must speak of these very bytes."""
    statement = strict_json(payload.decode("utf-8", "replace"), visible(place))
    if not isinstance(statement, dict) or (statement.get("_type"), statement.get("predicateType")) != KIND:
        raise _wrong(place, "what was signed is not a statement about a Record")
    subjects = statement.get("subject")
    found = [one.get("digest", {}).get("sha256") for one in subjects] if isinstance(subjects, list) else []
    if hashlib.sha256(content).hexdigest() not in found:
        raise _wrong(place, "another Record was signed, or this one was changed since")
    return statement


def _decoded(text: object, place: Path) -> bytes:
    """Base64, plain or for addresses, as the specification allows."""
    try:
        return base64.b64decode(str(text).replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _wrong(place, "the envelope holds what is not base64") from error


def _wrong(place: Path, what: str, known: str | None = None) -> RecordError:
    return RecordError(
        "signature-wrong",
        what,
        where=visible(place),
        known=None if known is None else f"signatures by {known}",
        fix="restore Record and signature from their source, or give the key of who signed",
    )


def _read(path: str | os.PathLike[str], what: str) -> bytes:
    try:
        if Path(path).stat().st_size > LARGEST:
            wrong = f"{visible(path)} is larger than {what} can be"
            raise _unfit(path, wrong, "give the file that `assay key new` or `assay sign` wrote")
        return Path(path).read_bytes()
    except OSError as error:
        raise PlanError(
            "no-file", f"cannot read {what}", where=visible(path), found=error.strerror, fix="give its path"
        ) from error


def _private(path: str | os.PathLike[str], passphrase: str | None) -> Ed25519PrivateKey:
    ed25519, text = _ed25519(), _read(path, "a private key")
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(text, None if passphrase is None else passphrase.encode())
    except TypeError as error:
        asked = ("the key has a passphrase", "state it in ASSAY_KEY_PASSPHRASE, or at a terminal")
        raise _unfit(path, *(asked if passphrase is None else ("the key has no passphrase", "leave it out"))) from error
    except ValueError as error:
        what = f"{'the passphrase is wrong, or ' if passphrase else ''}the file is not a private key in PEM"
        raise _unfit(path, what, "assay key new -o KEY makes one") from error
    return cast("Ed25519PrivateKey", _of_kind(key, ed25519.Ed25519PrivateKey, path))


def _public(path: str | os.PathLike[str]) -> Ed25519PublicKey:
    ed25519, text = _ed25519(), _read(path, "a public key")
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(text)
    except ValueError as error:
        what = "this is the private key" if b"PRIVATE KEY" in text else "the file is not a public key in PEM"
        raise _unfit(path, what, "give the public one, KEY.pub") from error
    return cast("Ed25519PublicKey", _of_kind(key, ed25519.Ed25519PublicKey, path))


def _of_kind(key: object, kind: type, path: str | os.PathLike[str]) -> object:
    if not isinstance(key, kind):
        raise _unfit(path, "the key is not of the kind Ed25519", "assay key new -o KEY")
    return key


def _unfit(path: str | os.PathLike[str], what: str, fix: str) -> PlanError:
    return PlanError("key-unreadable", what, where=visible(path), fix=fix)


def _keyid(public: Ed25519PublicKey) -> str:
    return hashlib.sha256(public.public_bytes_raw()).hexdigest()


def _ed25519() -> Any:  # noqa: ANN401  a module that may not be there
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise missing_extra("sign", "signatures need the package cryptography") from error
    return ed25519
