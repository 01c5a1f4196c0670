//! What no receiver takes: messages that the provider has not signed, or that were changed on their
//! way (Specification: "Secured payload envelope", "Authentication", "Events").

use super::usual as usually;
use super::{
    Asks, BEYOND, By, FIRST, Forge, JudgeError, Jwe, Make, Right, Row, WORKING, refuses, same,
};
use bankrail_jose::base64url;
use serde_json::json;

const TAG: Make = Make::Changed(|jwe| flip(&mut jwe.tag));
const IV: Make = Make::Changed(|jwe| flip(&mut jwe.iv));
const TEXT: Make = Make::Changed(|jwe| flip(&mut jwe.text));
const KEY: Make = Make::Changed(|jwe| flip(&mut jwe.key));

pub(super) const ROWS: &[Row] = &[
    refuses(
        "S23.21",
        WORKING,
        "verifies the signature of {one}",
        &[
            (
                "one signed by somebody else",
                Make::Signed("RS256", By::Stranger),
            ),
            (
                "one signed by somebody else whose key it brings along",
                Make::Jws(|forge, usual| {
                    let header =
                        forge.signed_header("RS256", &json!({"jwk": forge.strangers_jwk()}));
                    forge.jws(&header, usual, By::Stranger)
                }),
            ),
            (
                "one with the signature of another message",
                Make::Jws(|forge, usual| {
                    let [good, other] = [
                        signed(forge, usual)?,
                        signed(forge, &[usual, b" "].concat())?,
                    ];
                    Ok(format!("{}.{}", parts(&other).0, parts(&good).1))
                }),
            ),
            (
                "one with a bit of its signature flipped",
                Make::Jws(|forge, usual| {
                    let good = signed(forge, usual)?;
                    let mut signature = base64url::decode(parts(&good).1).unwrap_or_default();
                    flip(&mut signature);
                    Ok(format!(
                        "{}.{}",
                        parts(&good).0,
                        base64url::encode(&signature)
                    ))
                }),
            ),
            (
                "one with random bytes for a signature",
                Make::Signed("RS256", By::Chance),
            ),
            (
                "one signed by somebody else under a kid that nobody knows",
                Make::Jws(|forge, usual| {
                    forge.jws(
                        &json!({"alg": "RS256", "kid": "nobody"}),
                        usual,
                        By::Stranger,
                    )
                }),
            ),
            (
                "one signed by somebody else without a kid",
                Make::Jws(|forge, usual| forge.jws(&json!({"alg": "RS256"}), usual, By::Stranger)),
            ),
        ],
    ),
    refuses(
        "S9.3",
        WORKING,
        "takes no unsigned {name}",
        &[
            (
                "one that is encrypted and not signed",
                Make::Carried(|forge, usual| {
                    Ok(forge.encrypted(&json!({"cty": "json"}), usual)?.compact())
                }),
            ),
            (
                "one that is signed and not encrypted",
                Make::Carried(signed),
            ),
            (
                "one that is encrypted first and then signed",
                Make::Carried(|forge, usual| {
                    signed(
                        forge,
                        forge.encrypted(&json!({}), usual)?.compact().as_bytes(),
                    )
                }),
            ),
            (
                "one whose signature is empty",
                Make::Signed("RS256", By::Nobody),
            ),
        ],
    ),
    refuses(
        "S9.5",
        FIRST,
        "takes no signature of the algorithm none",
        &[
            (
                "alg none in this spelling (\"none\")",
                Make::Signed("none", By::Nobody),
            ),
            (
                "alg none in this spelling (\"None\")",
                Make::Signed("None", By::Nobody),
            ),
            (
                "alg none in this spelling (\"NONE\")",
                Make::Signed("NONE", By::Nobody),
            ),
            (
                "alg none in this spelling (\"\")",
                Make::Signed("", By::Nobody),
            ),
        ],
    ),
    refuses(
        "S9.5",
        FIRST,
        "takes no HS256 by the provider's public key",
        &[
            (
                "HS256 by the public key as PEM (\"HS256\")",
                Make::Signed("HS256", By::PublicPem),
            ),
            (
                "HS256 by the public key in DER (\"HS256\")",
                Make::Signed("HS256", By::PublicDer),
            ),
        ],
    ),
    refuses(
        "S9.5",
        FIRST,
        "takes no algorithm but RS256 from the provider either",
        &[
            (
                "another algorithm of the provider (\"PS256\")",
                Make::Signed("PS256", By::Provider),
            ),
            (
                "another algorithm of the provider (\"RS384\")",
                Make::Signed("RS384", By::Provider),
            ),
            (
                "another algorithm of the provider (\"RS512\")",
                Make::Signed("RS512", By::Provider),
            ),
            (
                "RS256 that calls itself RS512",
                Make::Jws(|forge, usual| renamed(forge, usual, "RS512")),
            ),
            (
                "RS256 that calls itself ES256",
                Make::Jws(|forge, usual| renamed(forge, usual, "ES256")),
            ),
        ],
    ),
    refuses(
        "S9.7",
        FIRST,
        "takes no key encryption but RSA-OAEP",
        &[
            (
                "RSA-OAEP-256 with A256CBC-HS512",
                Make::Encrypted("RSA-OAEP-256", "A256CBC-HS512"),
            ),
            (
                "RSA1_5 with A256CBC-HS512",
                Make::Encrypted("RSA1_5", "A256CBC-HS512"),
            ),
            (
                "dir with A256CBC-HS512",
                Make::Encrypted("dir", "A256CBC-HS512"),
            ),
        ],
    ),
    refuses(
        "S9.8",
        FIRST,
        "takes no content encryption but A256CBC-HS512",
        &[
            (
                "RSA-OAEP with A256GCM",
                Make::Encrypted("RSA-OAEP", "A256GCM"),
            ),
            (
                "RSA-OAEP with A128GCM",
                Make::Encrypted("RSA-OAEP", "A128GCM"),
            ),
            (
                "RSA-OAEP with A128CBC-HS256",
                Make::Encrypted("RSA-OAEP", "A128CBC-HS256"),
            ),
            (
                "RSA-OAEP with A192CBC-HS384",
                Make::Encrypted("RSA-OAEP", "A192CBC-HS384"),
            ),
        ],
    ),
    refuses(
        "S9.10",
        FIRST,
        "takes no message that was changed after it was encrypted",
        &[
            ("one with a bit of its tag flipped", TAG),
            ("one with a bit of its initialisation vector flipped", IV),
            ("one with a bit of its ciphertext flipped", TEXT),
            ("one with a bit of its encrypted key flipped", KEY),
            // The same members, and other bytes under the tag.
            (
                "one with another spelling of its header",
                Make::Changed(|jwe| jwe.header = jwe.header.replacen(':', ": ", 1)),
            ),
            (
                "one with half a tag",
                Make::Changed(|jwe| jwe.tag.truncate(16)),
            ),
            (
                "one with a bit of the last byte of its tag flipped",
                Make::Changed(|jwe| jwe.tag.iter_mut().rev().take(1).for_each(|byte| *byte ^= 1)),
            ),
            (
                "one with a tag that its header is not part of",
                Make::Carried(|forge, usual| {
                    let jws = signed(forge, usual)?;
                    Ok(forge
                        .bound_jwe(
                            "RSA-OAEP",
                            "A256CBC-HS512",
                            &json!({}),
                            jws.as_bytes(),
                            false,
                        )?
                        .compact())
                }),
            ),
            ("one without a tag", Make::Changed(|jwe| jwe.tag.clear())),
            (
                "one without its last block",
                Make::Changed(|jwe| shorten(jwe, 16)),
            ),
            (
                "one with half a block less",
                Make::Changed(|jwe| shorten(jwe, 8)),
            ),
            (
                "one without an initialisation vector",
                Make::Changed(|jwe| jwe.iv.clear()),
            ),
            (
                "one without an encrypted key",
                Make::Changed(|jwe| jwe.key.clear()),
            ),
            (
                "one with a byte more in its tag",
                Make::Changed(|jwe| jwe.tag.push(0)),
            ),
            (
                "one with the tag of another message",
                Make::Carried(|forge, usual| {
                    swapped(forge, usual, |jwe, other| jwe.tag = other.tag)
                }),
            ),
            (
                "one with the encrypted key of another message",
                Make::Carried(|forge, usual| {
                    swapped(forge, usual, |jwe, other| jwe.key = other.key)
                }),
            ),
            (
                "one without a ciphertext",
                Make::Changed(|jwe| jwe.text.clear()),
            ),
        ],
    ),
    // RFC 7515 and RFC 7516, section 4.1 each.
    refuses(
        "S9.10",
        FIRST,
        "takes no message with a critical header member that nobody knows",
        &[
            (
                "one in the signed header",
                Make::Carried(|forge, usual| {
                    forge.sealed(&json!({}), &json!({"crit": ["nobody"], "nobody": 1}), usual)
                }),
            ),
            (
                "one in the outer header",
                Make::Carried(|forge, usual| {
                    forge.sealed(&json!({"crit": ["nobody"], "nobody": 1}), &json!({}), usual)
                }),
            ),
        ],
    ),
    usually(
        "takes no {name} whose signed header has a kid that nobody knows, or b64",
        &[
            (
                "an unknown kid in the signed header",
                Make::Carried(|forge, usual| {
                    forge.sealed(&json!({}), &json!({"kid": "nobody"}), usual)
                }),
            ),
            (
                "b64 false in the signed header",
                Make::Carried(|forge, usual| {
                    forge.sealed(&json!({}), &json!({"b64": false}), usual)
                }),
            ),
        ],
    ),
    Row {
        id: same(BEYOND),
        on: FIRST,
        title: "takes no message of one key of the provider that names the other",
        right: Right::Open,
        asks: Asks::SwappedKeys,
    },
    // Whoever learns which step failed can decrypt messages of others (RFC 7516 section 11.5).
    Row {
        id: same(BEYOND),
        on: FIRST,
        title: "refuses in one way what was changed and what is not signed by the provider",
        right: Right::Alike,
        asks: Asks::Deliveries(&[
            ("a flipped tag", TAG),
            ("a flipped initialisation vector", IV),
            ("a flipped ciphertext", TEXT),
            ("a flipped encrypted key", KEY),
            (
                "a stranger's signature",
                Make::Signed("RS256", By::Stranger),
            ),
        ]),
    },
];

/// A good JWS.
fn signed(forge: &Forge, payload: &[u8]) -> Result<String, JudgeError> {
    forge.jws(
        &forge.signed_header("RS256", &json!({})),
        payload,
        By::Provider,
    )
}

/// A JWS whose RS256 signature is right, and whose header names another algorithm.
fn renamed(forge: &Forge, payload: &[u8], alg: &str) -> Result<String, JudgeError> {
    let header = forge.signed_header(alg, &json!({})).to_string();
    let signed = [header.as_bytes(), payload]
        .map(base64url::encode)
        .join(".");
    let signature = forge.signature("RS256", signed.as_bytes(), By::Provider)?;
    Ok(format!("{signed}.{}", base64url::encode(&signature)))
}

/// A JWS without its signature, and the signature.
fn parts(jws: &str) -> (&str, &str) {
    jws.rsplit_once('.').unwrap_or_default()
}

/// A good message with a part of another one.
fn swapped(forge: &Forge, usual: &[u8], change: fn(&mut Jwe, Jwe)) -> Result<String, JudgeError> {
    let sealed = |message| forge.encrypted(&json!({}), signed(forge, message)?.as_bytes());
    let (mut jwe, other) = (sealed(usual)?, sealed(b"{}")?);
    change(&mut jwe, other);
    Ok(jwe.compact())
}

fn flip(bytes: &mut [u8]) {
    if let Some(byte) = bytes.get_mut(7) {
        *byte ^= 1;
    }
}

fn shorten(jwe: &mut Jwe, bytes: usize) {
    jwe.text.truncate(jwe.text.len().saturating_sub(bytes));
}
