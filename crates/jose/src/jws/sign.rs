//! Making a compact signature, here or by a key that lives elsewhere.

use crate::base64url;
use crate::remote::{RemoteSigner, SignRequest};
use crate::{SignError, SigningKey, VerifyingKey};
use serde::Serialize;

/// What a signature's header says besides `"alg":"RS256"`.
///
/// Written in this order: `alg`, `typ`, `cty`, `kid`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JwsHeader {
    typ: Option<String>,
    cty: Option<String>,
    kid: Option<String>,
}

impl JwsHeader {
    /// `{"alg":"RS256"}`, and the key's `kid` if it has one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a `typ`: what the whole token is.
    #[must_use]
    pub fn with_typ(mut self, typ: impl Into<String>) -> Self {
        self.typ = Some(typ.into());
        self
    }

    /// With a `cty`: what the payload is.
    #[must_use]
    pub fn with_cty(mut self, cty: impl Into<String>) -> Self {
        self.cty = Some(cty.into());
        self
    }

    /// With a `kid` instead of the key's own.
    #[must_use]
    pub fn with_kid(mut self, kid: impl Into<String>) -> Self {
        self.kid = Some(kid.into());
        self
    }

    /// The header as JSON, for a key of this name.
    #[must_use]
    pub fn to_json(&self, key_kid: Option<&str>) -> String {
        #[derive(Serialize)]
        struct Wire<'a> {
            alg: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            typ: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            cty: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            kid: Option<&'a str>,
        }
        let wire = Wire {
            alg: "RS256",
            typ: self.typ.as_deref(),
            cty: self.cty.as_deref(),
            kid: self.kid.as_deref().or(key_kid),
        };
        serde_json::to_string(&wire).expect("a struct of texts always serialises")
    }
}

/// Signs `payload`.
///
/// # Errors
/// [`SignError::Backend`] if the back end failed.
pub fn sign(key: &SigningKey, header: &JwsHeader, payload: &[u8]) -> Result<String, SignError> {
    let Prepared { mut token } = prepare(header, key.kid(), payload);
    let signature = key.sign(token.as_bytes())?;
    append(&mut token, &signature);
    Ok(token)
}

/// Signs `payload` with a key behind I/O.
///
/// # Errors
/// [`SignError::Remote`] if the key could not be asked; [`SignError::NotThisKey`] if what it answered is not its
/// signature.
pub async fn sign_remote(
    key: &(impl RemoteSigner + ?Sized),
    header: &JwsHeader,
    payload: &[u8],
) -> Result<String, SignError> {
    let prepared = prepare(header, key.verifying_key().kid(), payload);
    let signature = key.sign(prepared.request()).await?;
    prepared.finish(&signature, key.verifying_key())
}

/// Writes all of a token but its signature, which is made elsewhere. `key_kid` is the name of the key, if it has one.
#[must_use]
pub fn prepare(header: &JwsHeader, key_kid: Option<&str>, payload: &[u8]) -> Prepared {
    let header = header.to_json(key_kid);
    // Room for the signature of the longest usual key, so that appending it does not move the token.
    let room = base64url::encoded_len(header.len()) + base64url::encoded_len(payload.len()) + 2 + 684;
    let mut token = String::with_capacity(room);
    base64url::encode_into(header.as_bytes(), &mut token);
    token.push('.');
    base64url::encode_into(payload, &mut token);
    Prepared { token }
}

/// A token that lacks its signature.
///
/// `Debug` prints how long it is.
pub struct Prepared {
    token: String,
}

impl Prepared {
    /// What is to be signed.
    #[must_use]
    pub fn request(&self) -> SignRequest<'_> {
        SignRequest::new(self.token.as_bytes())
    }

    /// Adds the signature, if it is valid: a faulty one would be refused by the receiver, and can betray the key.
    ///
    /// # Errors
    /// [`SignError::NotThisKey`] if it is not valid for `key`.
    pub fn finish(self, signature: &[u8], key: &VerifyingKey) -> Result<String, SignError> {
        let mut token = self.token;
        key.verify(token.as_bytes(), signature).map_err(|_| SignError::NotThisKey)?;
        append(&mut token, signature);
        Ok(token)
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Prepared").field("len", &self.token.len()).finish()
    }
}

fn append(token: &mut String, signature: &[u8]) {
    token.push('.');
    base64url::encode_into(signature, token);
}
