//! Making a compact signature, with a local key or a remote one.

use crate::header::JoseHeaderError;
use crate::remote::{RemoteSigner, SignRequest};
use crate::{SignError, SigningKey, VerifyingKey, algorithm, base64url};
use bankrail_values::json::JsonObjectWriter;
use bankrail_values::options;
use zeroize::Zeroizing;

options! {
    /// The header of a signature, with the key's `kid` if it has one. `alg` is always
    /// `RS256`.
    ///
    /// The members are written in this order: `alg`, `typ`, `cty`, `kid`, others.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct JwsHeader {
        /// Sets `typ`, the media type of the whole token. Default: none.
        typ(impl Into<String> => |typ| Some(typ.into())): Option<String> = None,
        /// Sets `cty`, the media type of the payload. Default: none.
        cty(impl Into<String> => |cty| Some(cty.into())): Option<String> = None,
        /// Sets `kid`, in place of the key's own. Default: the key's own.
        kid(impl Into<String> => |kid| Some(kid.into())): Option<String> = None;
        members: Vec<(String, String)> = Vec::new(),
    }
}

/// Members that have their own methods here, and members that `JoseHeader` refuses or interprets.
const RESERVED: [&str; 12] = [
    "alg", "typ", "cty", "kid", "enc", "zip", "crit", "b64", "jwk", "jku", "x5u", "x5c",
];

impl JwsHeader {
    /// Adds another member with a string value. Receivers that do not know it ignore it.
    ///
    /// # Errors
    /// [`JoseHeaderError::Refused`] if the name has a method here, is excluded by this profile, or
    /// was added before.
    pub fn member(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<Self, JoseHeaderError> {
        let name = name.into();
        if let Some(name) = RESERVED.into_iter().find(|reserved| *reserved == name) {
            return Err(JoseHeaderError::Refused { name });
        }
        if self.members.iter().any(|(known, _)| *known == name) {
            return Err(JoseHeaderError::Refused {
                name: "given twice",
            });
        }
        self.members.push((name, value.into()));
        Ok(self)
    }

    /// Returns the header as JSON, for a key with this `kid`.
    #[must_use]
    pub fn to_json(&self, key_kid: Option<&str>) -> String {
        let own = JsonObjectWriter::new()
            .string("alg", algorithm::SIGNATURE)
            .optional_string("typ", self.typ.as_deref())
            .optional_string("cty", self.cty.as_deref())
            .optional_string("kid", self.kid.as_deref().or(key_kid));
        self.members
            .iter()
            .fold(own, |object, (name, value)| object.string(name, value))
            .finish()
    }
}

/// Signs `payload` and returns the token.
///
/// # Errors
/// [`SignError::Backend`] if the back end failed.
pub fn sign(key: &SigningKey, header: &JwsHeader, payload: &[u8]) -> Result<String, SignError> {
    let prepared = prepare(header, key.kid(), payload);
    let signature = key.sign(prepared.token.as_bytes())?;
    Ok(prepared.append(&signature))
}

/// Signs `payload` with a remote key and returns the token.
///
/// # Errors
/// [`SignError::Remote`] if the key could not be used; [`SignError::NotThisKey`] if the signature
/// returned is not valid for the key.
pub async fn sign_remote(
    key: &(impl RemoteSigner + ?Sized),
    header: &JwsHeader,
    payload: &[u8],
) -> Result<String, SignError> {
    let mut public = key.verifying_key();
    // Retries only once: a service whose key changes with each call would be called without end.
    let mut again = true;
    loop {
        let prepared = prepare(header, public.kid(), payload);
        let signature = key.sign(prepared.request()).await?;
        match prepared.finish(&signature, &public) {
            Err(SignError::NotThisKey) if again => {
                let now = key.verifying_key();
                if now.public_key() == public.public_key() {
                    return Err(SignError::NotThisKey);
                }
                // The key was replaced after the header was written, so the header has the old
                // `kid`.
                (public, again) = (now, false);
            }
            finished => return finished,
        }
    }
}

/// Writes a token up to its signature, which is made elsewhere. `key_kid` is the `kid` of the key,
/// if it has one.
#[must_use]
pub fn prepare(header: &JwsHeader, key_kid: Option<&str>, payload: &[u8]) -> Prepared {
    let header = header.to_json(key_kid);
    // Room for the signature of a 4096-bit key and for a cipher's padding, so that neither
    // reallocates the token and leaves a copy behind.
    let room =
        base64url::encoded_len(header.len()) + base64url::encoded_len(payload.len()) + 2 + 684 + 16;
    let mut token = Zeroizing::new(String::with_capacity(room));
    base64url::encode_into(header.as_bytes(), &mut token);
    token.push('.');
    base64url::encode_into(payload, &mut token);
    Prepared { token }
}

/// A token without its signature. The text is overwritten if it is dropped before
/// [`Prepared::finish`].
///
/// `Debug` prints only the length.
pub struct Prepared {
    token: Zeroizing<String>,
}

impl Prepared {
    /// Returns the request to sign.
    #[must_use]
    pub fn request(&self) -> SignRequest<'_> {
        SignRequest::new(self.token.as_bytes())
    }

    /// Checks the signature and adds it. An invalid signature must never be sent: the receiver
    /// would refuse it, and a faulty RSA signature can reveal the private key.
    ///
    /// # Errors
    /// [`SignError::NotThisKey`] if the signature is not valid for `key`.
    pub fn finish(self, signature: &[u8], key: &VerifyingKey) -> Result<String, SignError> {
        key.verify(self.token.as_bytes(), signature)
            .map_err(|_| SignError::NotThisKey)?;
        Ok(self.append(signature))
    }

    fn append(mut self, signature: &[u8]) -> String {
        self.token.push('.');
        base64url::encode_into(signature, &mut self.token);
        std::mem::take(&mut self.token)
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Prepared")
            .field("len", &self.token.len())
            .finish()
    }
}
