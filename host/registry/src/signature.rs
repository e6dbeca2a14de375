//! Signatures: Sigstore bundles (v0.3) by key, as `cosign sign --key` writes them and `cosign verify --key` reads them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Digest;
use crate::key::{KeyError, PublicKey, SigningKey};
use crate::shown::shown;

/// Media type of a bundle.
pub const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// What the statement of a bundle says: that the publisher signed, and nothing else.
pub(crate) const PREDICATE: &str = "https://sigstore.dev/cosign/sign/v1";
const PAYLOAD: &str = "application/vnd.in-toto+json";
const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// Why a bundle is not a signature of one of the keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// It is not a bundle of this kind.
    #[error("expected {expected} in a Sigstore bundle, found {found}")]
    Invalid {
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// None of the keys verifies it.
    #[error(
        "expected a signature of {expected}, found one of {found}; do not use it, unless you know and list that key"
    )]
    Key {
        /// The keys that are accepted.
        expected: String,
        /// The key that the bundle names, which may not be true.
        found: String,
    },
    /// It is the signature of something else.
    #[error("expected a signature of {expected}, found one of {found}; do not use it")]
    Subject {
        /// What was to be signed.
        expected: Digest,
        /// What was signed.
        found: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    media_type: String,
    verification_material: Value,
    dsse_envelope: Envelope,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<Signature>,
}

#[derive(Serialize, Deserialize)]
struct Signature {
    sig: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Value>,
    predicate_type: String,
}

/// Signs `subjects`: the digest of a manifest, and that of its component, so that the bundle serves the plain file too.
/// Returns the bundle, as it is stored beside a file (`strategy.wasm.sigstore.json`).
///
/// # Errors
/// The system gives no random numbers.
pub fn sign(key: &SigningKey, subjects: &[Digest]) -> Result<Vec<u8>, KeyError> {
    let subjects: Vec<Value> = subjects
        .iter()
        .map(|subject| json!({"digest": {"sha256": subject.hex()}}))
        .collect();
    let statement = json!({
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": PREDICATE,
        "predicate": {},
    });
    let payload = statement.to_string().into_bytes();
    let signature = key.sign(&signed_text(PAYLOAD, &payload))?;
    let hint = STANDARD.encode(key.public_key().id().bytes());
    let bundle = json!(Bundle {
        media_type: BUNDLE.to_owned(),
        verification_material: json!({"publicKey": {"hint": hint}}),
        dsse_envelope: Envelope {
            payload: STANDARD.encode(&payload),
            payload_type: PAYLOAD.to_owned(),
            signatures: vec![Signature {
                sig: STANDARD.encode(signature),
            }],
        },
    });
    Ok(bundle.to_string().into_bytes())
}

/// Returns which of the keys signed `subject`. The keys are those that the user listed: none is taken from the bundle.
///
/// # Errors
/// None of them did, or something else was signed.
pub fn verify<'a>(
    bundle: &[u8],
    subject: Digest,
    keys: &'a [PublicKey],
) -> Result<&'a PublicKey, SignatureError> {
    let bundle: Bundle = read("JSON of its form", bundle)?;
    if bundle.media_type != BUNDLE {
        return Err(invalid(
            &format!("the media type `{BUNDLE}`"),
            &bundle.media_type,
        ));
    }
    let hint = bundle.verification_material["publicKey"]["hint"].as_str();
    if bundle.verification_material["publicKey"].is_null() {
        let members = bundle.verification_material.to_string();
        return Err(invalid("a signature by a public key", &members));
    }
    let envelope = bundle.dsse_envelope;
    let [signature] = envelope.signatures.as_slice() else {
        let found = envelope.signatures.len().to_string();
        return Err(invalid("exactly one signature", &found));
    };
    let payload = decode("a payload in base64", &envelope.payload)?;
    let signature = decode("a signature in base64", &signature.sig)?;
    let message = signed_text(&envelope.payload_type, &payload);
    let mut keys = keys.iter();
    let accepted: Vec<String> = keys.clone().map(|key| key.id().to_string()).collect();
    let key = keys.find(|key| key.verifies(&message, &signature));
    let key = key.ok_or_else(|| SignatureError::Key {
        expected: match accepted.as_slice() {
            [] => "a listed key, of which there are none".to_owned(),
            accepted => accepted.join(" or "),
        },
        found: named_key(hint.unwrap_or_default()),
    })?;
    // Only now is it known who wrote the payload.
    if envelope.payload_type != PAYLOAD {
        return Err(invalid(
            &format!("the payload type `{PAYLOAD}`"),
            &envelope.payload_type,
        ));
    }
    let statement: Statement = read("a statement of in-toto", &payload)?;
    for (expected, found) in [
        (STATEMENT, statement.kind),
        (PREDICATE, statement.predicate_type),
    ] {
        if expected != found {
            return Err(invalid(
                &format!("a statement of the type `{expected}`"),
                &found,
            ));
        }
    }
    let subjects = statement.subject.iter();
    let signed: Vec<&str> = subjects
        .filter_map(|subject| subject["digest"]["sha256"].as_str())
        .collect();
    if !signed.contains(&subject.hex().as_str()) {
        return Err(SignatureError::Subject {
            expected: subject,
            found: match signed.as_slice() {
                [] => "nothing".to_owned(),
                signed => shown(&format!("sha256:{}", signed.join(" and sha256:"))),
            },
        });
    }
    Ok(key)
}

/// Returns what is signed: the DSSE encoding of a payload and its type.
fn signed_text(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let (kind, length) = (payload_type.len(), payload.len());
    let mut text = format!("DSSEv1 {kind} {payload_type} {length} ").into_bytes();
    text.extend_from_slice(payload);
    text
}

/// Returns the key that a hint names. It is a claim, and only for errors.
fn named_key(hint: &str) -> String {
    let id = STANDARD.decode(hint).ok();
    let id = id.filter(|id| id.len() == 32);
    match id {
        Some(id) => {
            let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("sha256:{hex}")
        }
        None => format!("another key, called `{}`", shown(hint)),
    }
}

fn invalid(expected: &str, found: &str) -> SignatureError {
    SignatureError::Invalid {
        expected: expected.to_owned(),
        found: format!("`{}`", shown(found)),
    }
}

fn read<'a, T: Deserialize<'a>>(expected: &str, json: &'a [u8]) -> Result<T, SignatureError> {
    serde_json::from_slice(json).map_err(|error| invalid(expected, &error.to_string()))
}

fn decode(expected: &str, text: &str) -> Result<Vec<u8>, SignatureError> {
    STANDARD.decode(text).map_err(|_| invalid(expected, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SigningKey {
        SigningKey::generate().unwrap()
    }

    #[test]
    fn the_key_that_signed_is_found_for_each_subject() {
        let (key, other) = (key(), key());
        let (manifest, wasm) = (Digest::of(b"manifest"), Digest::of(b"wasm"));
        let bundle = sign(&key, &[manifest, wasm]).unwrap();
        let keys = [other.public_key().clone(), key.public_key().clone()];
        for subject in [manifest, wasm] {
            assert_eq!(verify(&bundle, subject, &keys), Ok(key.public_key()));
        }
        let error = verify(&bundle, Digest::of(b"other"), &keys).unwrap_err();
        let found = format!("{manifest} and {wasm}");
        let expected = Digest::of(b"other");
        assert_eq!(error, SignatureError::Subject { expected, found });
        let error = verify(&bundle, manifest, &keys[..1]).unwrap_err();
        let [expected, found] = [&other, &key].map(|key| key.public_key().id().to_string());
        assert_eq!(error, SignatureError::Key { expected, found });
        let error = verify(&bundle, manifest, &[]).unwrap_err();
        assert!(error.to_string().contains("none"), "{error}");
    }

    #[test]
    fn every_change_of_a_bundle_is_refused() {
        let key = key();
        let (subject, keys) = (Digest::of(b"manifest"), [key.public_key().clone()]);
        let good: Value = serde_json::from_slice(&sign(&key, &[subject]).unwrap()).unwrap();
        // A statement about something else, under the signature of this one.
        let other: Value =
            serde_json::from_slice(&sign(&key, &[Digest::of(b"other")]).unwrap()).unwrap();
        let payload = other["dsseEnvelope"]["payload"].clone();
        let signature = &good["dsseEnvelope"]["signatures"][0];
        for (place, value, problem) in [
            ("/dsseEnvelope/payload", payload, "a signature of sha256"),
            ("/dsseEnvelope/payload", json!("?"), "payload in base64"),
            (
                "/dsseEnvelope/payloadType",
                json!("text/plain"),
                "a signature of sha256",
            ),
            (
                "/dsseEnvelope/signatures",
                json!([]),
                "exactly one signature",
            ),
            (
                "/dsseEnvelope/signatures",
                json!([signature, signature]),
                "exactly one signature",
            ),
            (
                "/dsseEnvelope/signatures/0/sig",
                json!("AAAA"),
                "a signature of sha256",
            ),
            (
                "/verificationMaterial",
                json!({"certificate": {}}),
                "by a public key",
            ),
            ("/mediaType", json!("application/json"), "application/json"),
        ] {
            let mut changed = good.clone();
            *changed.pointer_mut(place).unwrap() = value;
            let error = verify(changed.to_string().as_bytes(), subject, &keys).unwrap_err();
            assert!(error.to_string().contains(problem), "{place}: {error}");
        }
        // The hint only names a key.
        let mut renamed = good;
        renamed["verificationMaterial"]["publicKey"]["hint"] = json!("acme");
        assert!(verify(renamed.to_string().as_bytes(), subject, &keys).is_ok());
    }

    #[test]
    fn a_statement_that_says_something_else_is_refused() {
        let key = key();
        let (subject, keys) = (Digest::of(b"manifest"), [key.public_key().clone()]);
        let signed = |payload_type: &str, statement: &Value| {
            let payload = statement.to_string().into_bytes();
            let signature = key.sign(&signed_text(payload_type, &payload)).unwrap();
            json!({
                "mediaType": BUNDLE,
                "verificationMaterial": {"publicKey": {"hint": ""}},
                "dsseEnvelope": {"payload": STANDARD.encode(payload), "payloadType": payload_type,
                    "signatures": [{"sig": STANDARD.encode(signature)}]},
            })
        };
        let good = json!({"_type": STATEMENT, "predicateType": PREDICATE, "predicate": {},
            "subject": [{"digest": {"sha256": subject.hex()}}]});
        let check = |bundle: Value| verify(bundle.to_string().as_bytes(), subject, &keys);
        check(signed(PAYLOAD, &good)).unwrap();
        let error = check(signed("text/plain", &good)).unwrap_err().to_string();
        assert!(error.contains("text/plain"), "{error}");
        for (member, value, problem) in [
            (
                "predicateType",
                json!("https://slsa.dev/provenance/v1"),
                "slsa.dev",
            ),
            ("_type", json!("https://in-toto.io/Statement/v0.1"), "v0.1"),
            ("subject", json!([]), "found one of nothing"),
            (
                "subject",
                json!([{"digest": {"sha512": subject.hex()}}]),
                "found one of nothing",
            ),
        ] {
            let mut other = good.clone();
            other[member] = value;
            let error = check(signed(PAYLOAD, &other)).unwrap_err().to_string();
            assert!(error.contains(problem), "{member}: {error}");
        }
    }
}
