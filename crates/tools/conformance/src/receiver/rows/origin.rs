//! Messages that the provider has not signed, or that were changed on their way (Specification:
//! "Secured payload envelope", "Authentication", "Events").

use super::usual as usually;
use super::{
    BEYOND, Content, Expected, Forge, JudgeError, Jwe, Kinds, Recipe, Row, Signer, refuses, same,
};
use bankrail_jose::base64url;
use serde_json::json;

const TAG: Recipe = Recipe::Changed(|jwe| flip(&mut jwe.tag));
const IV: Recipe = Recipe::Changed(|jwe| flip(&mut jwe.iv));
const TEXT: Recipe = Recipe::Changed(|jwe| flip(&mut jwe.text));
const KEY: Recipe = Recipe::Changed(|jwe| flip(&mut jwe.key));

pub(super) const ROWS: &[Row] = &[
    refuses(
        "S23.21",
        Kinds::Working,
        "verifies the signature of {one}",
        &[
            (
                "one signed by somebody else",
                Recipe::Signed("RS256", Signer::Stranger),
            ),
            (
                "one signed by somebody else whose key it brings along",
                Recipe::Jws(|forge, usual| {
                    let header =
                        forge.signed_header("RS256", &json!({"jwk": forge.strangers_jwk()}));
                    forge.jws(&header, usual, Signer::Stranger)
                }),
            ),
            (
                "one with the signature of another message",
                Recipe::Jws(|forge, usual| {
                    let [good, other] =
                        [forge.signed(usual)?, forge.signed(&[usual, b" "].concat())?];
                    Ok(format!("{}.{}", parts(&other).0, parts(&good).1))
                }),
            ),
            (
                "one with a bit of its signature flipped",
                Recipe::Jws(|forge, usual| {
                    let good = forge.signed(usual)?;
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
                Recipe::Signed("RS256", Signer::Random),
            ),
            (
                "one signed by somebody else under a kid that nobody knows",
                Recipe::Jws(|forge, usual| {
                    forge.jws(
                        &json!({"alg": "RS256", "kid": "nobody"}),
                        usual,
                        Signer::Stranger,
                    )
                }),
            ),
            (
                "one signed by somebody else without a kid",
                Recipe::Jws(|forge, usual| {
                    forge.jws(&json!({"alg": "RS256"}), usual, Signer::Stranger)
                }),
            ),
        ],
    ),
    refuses(
        "S9.3",
        Kinds::Working,
        "takes no unsigned {name}",
        &[
            (
                "one that is encrypted and not signed",
                Recipe::Carried(|forge, usual| {
                    Ok(forge.encrypted(&json!({"cty": "json"}), usual)?.compact())
                }),
            ),
            (
                "one that is signed and not encrypted",
                Recipe::Carried(Forge::signed),
            ),
            (
                "one that is encrypted first and then signed",
                Recipe::Carried(|forge, usual| {
                    forge.signed(forge.encrypted(&json!({}), usual)?.compact().as_bytes())
                }),
            ),
            (
                "one whose signature is empty",
                Recipe::Signed("RS256", Signer::Empty),
            ),
        ],
    ),
    refuses(
        "S9.5",
        Kinds::First,
        "takes no signature of the algorithm none",
        &[
            (
                "alg none in this spelling (\"none\")",
                Recipe::Signed("none", Signer::Empty),
            ),
            (
                "alg none in this spelling (\"None\")",
                Recipe::Signed("None", Signer::Empty),
            ),
            (
                "alg none in this spelling (\"NONE\")",
                Recipe::Signed("NONE", Signer::Empty),
            ),
            (
                "alg none in this spelling (\"\")",
                Recipe::Signed("", Signer::Empty),
            ),
        ],
    ),
    refuses(
        "S9.5",
        Kinds::First,
        "takes no HS256 by the provider's public key",
        &[
            (
                "HS256 by the public key as PEM (\"HS256\")",
                Recipe::Signed("HS256", Signer::PublicPem),
            ),
            (
                "HS256 by the public key in DER (\"HS256\")",
                Recipe::Signed("HS256", Signer::PublicDer),
            ),
        ],
    ),
    refuses(
        "S9.5",
        Kinds::First,
        "takes no algorithm but RS256 from the provider either",
        &[
            (
                "another algorithm of the provider (\"PS256\")",
                Recipe::Signed("PS256", Signer::Provider),
            ),
            (
                "another algorithm of the provider (\"RS384\")",
                Recipe::Signed("RS384", Signer::Provider),
            ),
            (
                "another algorithm of the provider (\"RS512\")",
                Recipe::Signed("RS512", Signer::Provider),
            ),
            (
                "RS256 that calls itself RS512",
                Recipe::Jws(|forge, usual| renamed(forge, usual, "RS512")),
            ),
            (
                "RS256 that calls itself ES256",
                Recipe::Jws(|forge, usual| renamed(forge, usual, "ES256")),
            ),
        ],
    ),
    refuses(
        "S9.7",
        Kinds::First,
        "takes no key encryption but RSA-OAEP",
        &[
            (
                "RSA-OAEP-256 with A256CBC-HS512",
                Recipe::Encrypted("RSA-OAEP-256", "A256CBC-HS512"),
            ),
            (
                "RSA1_5 with A256CBC-HS512",
                Recipe::Encrypted("RSA1_5", "A256CBC-HS512"),
            ),
            (
                "dir with A256CBC-HS512",
                Recipe::Encrypted("dir", "A256CBC-HS512"),
            ),
        ],
    ),
    refuses(
        "S9.8",
        Kinds::First,
        "takes no content encryption but A256CBC-HS512",
        &[
            (
                "RSA-OAEP with A256GCM",
                Recipe::Encrypted("RSA-OAEP", "A256GCM"),
            ),
            (
                "RSA-OAEP with A128GCM",
                Recipe::Encrypted("RSA-OAEP", "A128GCM"),
            ),
            (
                "RSA-OAEP with A128CBC-HS256",
                Recipe::Encrypted("RSA-OAEP", "A128CBC-HS256"),
            ),
            (
                "RSA-OAEP with A192CBC-HS384",
                Recipe::Encrypted("RSA-OAEP", "A192CBC-HS384"),
            ),
        ],
    ),
    refuses(
        "S9.10",
        Kinds::First,
        "takes no message that was changed after it was encrypted",
        &[
            ("one with a bit of its tag flipped", TAG),
            ("one with a bit of its initialisation vector flipped", IV),
            ("one with a bit of its ciphertext flipped", TEXT),
            ("one with a bit of its encrypted key flipped", KEY),
            // The same members, and other bytes under the tag.
            (
                "one with another spelling of its header",
                Recipe::Changed(|jwe| jwe.header = jwe.header.replacen(':', ": ", 1)),
            ),
            (
                "one with half a tag",
                Recipe::Changed(|jwe| jwe.tag.truncate(16)),
            ),
            (
                "one with a bit of the last byte of its tag flipped",
                Recipe::Changed(|jwe| jwe.tag.iter_mut().rev().take(1).for_each(|byte| *byte ^= 1)),
            ),
            (
                "one with a tag that its header is not part of",
                Recipe::Carried(|forge, usual| {
                    let jws = forge.signed(usual)?;
                    Ok(forge
                        .jwe(
                            "RSA-OAEP",
                            "A256CBC-HS512",
                            &json!({}),
                            jws.as_bytes(),
                            false,
                        )?
                        .compact())
                }),
            ),
            ("one without a tag", Recipe::Changed(|jwe| jwe.tag.clear())),
            (
                "one without its last block",
                Recipe::Changed(|jwe| shorten(jwe, 16)),
            ),
            (
                "one with half a block less",
                Recipe::Changed(|jwe| shorten(jwe, 8)),
            ),
            (
                "one without an initialisation vector",
                Recipe::Changed(|jwe| jwe.iv.clear()),
            ),
            (
                "one without an encrypted key",
                Recipe::Changed(|jwe| jwe.key.clear()),
            ),
            (
                "one with a byte more in its tag",
                Recipe::Changed(|jwe| jwe.tag.push(0)),
            ),
            (
                "one with the tag of another message",
                Recipe::Carried(|forge, usual| {
                    swapped(forge, usual, |jwe, other| jwe.tag = other.tag)
                }),
            ),
            (
                "one with the encrypted key of another message",
                Recipe::Carried(|forge, usual| {
                    swapped(forge, usual, |jwe, other| jwe.key = other.key)
                }),
            ),
            (
                "one without a ciphertext",
                Recipe::Changed(|jwe| jwe.text.clear()),
            ),
        ],
    ),
    // RFC 7515 and RFC 7516, section 4.1 each.
    refuses(
        "S9.10",
        Kinds::First,
        "takes no message with a critical header member that nobody knows",
        &[
            (
                "one in the signed header",
                Recipe::Carried(|forge, usual| {
                    forge.sealed(&json!({}), &json!({"crit": ["nobody"], "nobody": 1}), usual)
                }),
            ),
            (
                "one in the outer header",
                Recipe::Carried(|forge, usual| {
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
                Recipe::Carried(|forge, usual| {
                    forge.sealed(&json!({}), &json!({"kid": "nobody"}), usual)
                }),
            ),
            (
                "b64 false in the signed header",
                Recipe::Carried(|forge, usual| {
                    forge.sealed(&json!({}), &json!({"b64": false}), usual)
                }),
            ),
        ],
    ),
    Row {
        id: same(BEYOND),
        kinds: Kinds::First,
        title: "takes no message of one key of the provider that names the other",
        expected: Expected::Open,
        content: Content::SwappedKeys,
    },
    // Whoever learns which step failed can decrypt messages of others (RFC 7516 section 11.5).
    Row {
        id: same(BEYOND),
        kinds: Kinds::First,
        title: "refuses in one way what was changed and what is not signed by the provider",
        expected: Expected::Alike,
        content: Content::Deliveries(&[
            ("a flipped tag", TAG),
            ("a flipped initialisation vector", IV),
            ("a flipped ciphertext", TEXT),
            ("a flipped encrypted key", KEY),
            (
                "a stranger's signature",
                Recipe::Signed("RS256", Signer::Stranger),
            ),
        ]),
    },
];

/// A JWS whose RS256 signature is right, and whose header names another algorithm.
fn renamed(forge: &Forge, payload: &[u8], alg: &str) -> Result<String, JudgeError> {
    let header = forge.signed_header(alg, &json!({})).to_string();
    let signed = [header.as_bytes(), payload]
        .map(base64url::encode)
        .join(".");
    let signature = forge.signature("RS256", signed.as_bytes(), Signer::Provider)?;
    Ok(format!("{signed}.{}", base64url::encode(&signature)))
}

/// A JWS without its signature, and the signature.
fn parts(jws: &str) -> (&str, &str) {
    jws.rsplit_once('.').unwrap_or_default()
}

/// A good message with a part of another one.
fn swapped(forge: &Forge, usual: &[u8], change: fn(&mut Jwe, Jwe)) -> Result<String, JudgeError> {
    let sealed = |message| forge.encrypted(&json!({}), forge.signed(message)?.as_bytes());
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
