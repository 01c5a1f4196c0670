//! Makes client assertions, correct and incorrect ones (RFC 7515, RFC 7519).

use super::{Target, now};
use crate::error::{JudgeError, failed};
use crate::signature::{mac, pair, rsa};
use aws_lc_rs::signature::RsaKeyPair;
use bankrail_jose::{RsaSize, SigningKey, base64url};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The keys that assertions are signed with.
pub(super) struct Keys {
    pub(super) own: Key,
    /// The key of the other customer.
    pub(super) other: Option<Key>,
    unregistered: RsaKeyPair,
}

/// A customer's key.
pub(super) struct Key {
    pair: RsaKeyPair,
    public_pem: String,
    kid: Option<String>,
}

impl Key {
    fn new(key: &SigningKey) -> Result<Self, JudgeError> {
        Ok(Self {
            pair: pair(key)?,
            public_pem: key.verifying_key().public_key().to_spki_pem(),
            kid: key.kid().map(str::to_owned),
        })
    }
}

impl Keys {
    /// Makes the keys: the customer's, the other customer's, and a new one that no provider has
    /// registered.
    pub(super) fn new(own: &SigningKey, other: Option<&SigningKey>) -> Result<Self, JudgeError> {
        let unregistered = SigningKey::generate(RsaSize::Rsa2048).map_err(failed)?;
        Ok(Self {
            own: Key::new(own)?,
            other: other.map(Key::new).transpose()?,
            unregistered: pair(&unregistered)?,
        })
    }

    /// Returns true if the other customer's key differs from the first.
    pub(super) fn other_differs(&self) -> bool {
        let other = self.other.as_ref();
        other.is_some_and(|other| other.public_pem != self.own.public_pem)
    }
}

/// The signature of an assertion.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Signed {
    /// The signature is made with the customer's key, by the algorithm of the header.
    #[default]
    Own,
    /// The signature is made with the other customer's key.
    Other,
    /// The signature is made with a key that is not registered with the provider.
    Unregistered,
    /// The signature is made by HS256 with the customer's public key as the shared secret.
    Hs256,
    Unsigned,
    /// The signature is of another text than that of the assertion.
    Changed,
    /// The signature ends in the middle.
    Shortened,
    /// Each part is padded like base64.
    Padded,
    /// The text is not a JWT.
    Garbage,
}

/// An assertion before it is signed. A new assertion is correct.
#[derive(Clone, Debug)]
pub(super) struct Assertion {
    pub(super) header: Map<String, Value>,
    pub(super) claims: Map<String, Value>,
    pub(super) signed: Signed,
}

impl Assertion {
    /// Returns the assertion of the specification, which differs from all others of the run
    /// (Specification: "Client assertion (JWT) the customer builds").
    pub(super) fn new(target: &Target, keys: &Keys, number: u32) -> Self {
        let (mut header, mut claims) = (Map::new(), Map::new());
        header.insert("alg".to_owned(), json!("RS256"));
        header.insert("typ".to_owned(), json!("jwt"));
        if let Some(kid) = &keys.own.kid {
            header.insert("kid".to_owned(), json!(kid));
        }
        claims.insert("sub".to_owned(), json!(target.customer.code));
        claims.insert("exp".to_owned(), json!(now() + 300 + i64::from(number)));
        claims.insert("aud".to_owned(), json!(target.audience));
        Self {
            header,
            claims,
            signed: Signed::Own,
        }
    }

    /// Returns the compact form.
    pub(super) fn write(&self, keys: &Keys) -> Result<String, JudgeError> {
        let encoded = |bytes: &[u8]| {
            let mut text = base64url::encode(bytes);
            if matches!(self.signed, Signed::Padded) {
                text.push_str(&"=".repeat(text.len().next_multiple_of(4) - text.len()));
            }
            text
        };
        let part = |members: &Map<String, Value>| encoded(json!(members).to_string().as_bytes());
        let text = format!("{}.{}", part(&self.header), part(&self.claims));
        let alg = self
            .header
            .get("alg")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let signature = match self.signed {
            Signed::Own | Signed::Padded => rsa(&keys.own.pair, alg, text.as_bytes())?,
            Signed::Other => {
                let other = keys.other.as_ref().map(|other| &other.pair);
                rsa(other.unwrap_or(&keys.unregistered), alg, text.as_bytes())?
            }
            Signed::Unregistered => rsa(&keys.unregistered, "RS256", text.as_bytes())?,
            Signed::Hs256 => mac(keys.own.public_pem.as_bytes(), text.as_bytes()),
            Signed::Unsigned => Vec::new(),
            Signed::Changed => {
                let mut claims = self.claims.clone();
                claims.insert("exp".to_owned(), json!(now() + 200));
                let before = format!("{}.{}", part(&self.header), part(&claims));
                rsa(&keys.own.pair, "RS256", before.as_bytes())?
            }
            Signed::Shortened => {
                let mut signature = rsa(&keys.own.pair, alg, text.as_bytes())?;
                signature.truncate(signature.len() / 2);
                signature
            }
            Signed::Garbage => return Ok("this.is.nojwt".to_owned()),
        };
        Ok(format!("{text}.{}", encoded(&signature)))
    }
}
