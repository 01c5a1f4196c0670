//! Making a secured payload: sign, then encrypt.

use crate::content::{Ciphertext, IV_LEN};
use crate::deflate;
use bankrail_jose::header::HeaderError;
use bankrail_jose::jws::{self, JwsHeader, Prepared};
use bankrail_jose::remote::{RemoteSigner, SignRequest};
use bankrail_jose::{
    ContentKey, RandomError, SignError, SigningKey, VerifyingKey, WrapError, WrappingKey, base64url, random_octets,
};
use bankrail_values::json::{self, JsonError, JsonObjectWriter};
use zeroize::Zeroizing;

/// How messages are sealed.
#[derive(Clone, Debug)]
pub struct SealOptions {
    max_payload: usize,
    deflate: bool,
    cty: bool,
    inner: JwsHeader,
}

/// Payloads of up to 250 kB, inner `typ` and outer `cty` `JWT`, no compression, no recipient.
impl Default for SealOptions {
    fn default() -> Self {
        Self { max_payload: 250_000, deflate: false, cty: true, inner: JwsHeader::new().with_typ("JWT") }
    }
}

impl SealOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many octets of JSON are sealed at most.
    #[must_use]
    pub fn with_max_payload(mut self, octets: usize) -> Self {
        self.max_payload = octets;
        self
    }

    /// Compresses before encrypting (`"zip":"DEF"`). Off by default: the length of compressed text tells about its
    /// contents (RFC 8725 section 3.6), and strict receivers refuse it.
    #[must_use]
    pub fn with_deflate(mut self) -> Self {
        self.deflate = true;
        self
    }

    /// Leaves out the outer `"cty":"JWT"`, for receivers that do not expect it.
    #[must_use]
    pub fn without_cty(mut self) -> Self {
        self.cty = false;
        self
    }

    /// Names the recipient in the signed header, as the member `name`: see [`Recipient`](crate::Recipient).
    ///
    /// # Errors
    /// [`HeaderError::Refused`] if `name` has another meaning in the header.
    pub fn with_recipient(mut self, name: impl Into<String>, value: impl Into<String>) -> Result<Self, HeaderError> {
        self.inner = self.inner.with_member(name, value)?;
        Ok(self)
    }
}

/// Seals JSON messages: signs them with one key (RS256), then encrypts them to another (RSA-OAEP, A256CBC-HS512).
///
/// Each message has a content key and an initialisation vector of its own, fresh from the system.
#[derive(Clone, Debug)]
pub struct Sealer<S = SigningKey> {
    signing: S,
    outer: Outer,
}

/// All that does not need the signing key.
#[derive(Clone, Debug)]
struct Outer {
    wrapping: WrappingKey,
    options: SealOptions,
    /// The protected header, base64url: it is the same for every message.
    header: String,
}

impl<S> Sealer<S> {
    /// Seals with the default [`SealOptions`]. The keys' names, where they have one, become the `kid`s.
    ///
    /// `signing` is a [`SigningKey`] for [`Sealer::seal`] or a [`RemoteSigner`] for [`Sealer::seal_remote`].
    #[must_use]
    pub fn new(signing: S, wrapping: WrappingKey) -> Self {
        Self::with_options(signing, wrapping, SealOptions::default())
    }

    /// Seals with these options.
    #[must_use]
    pub fn with_options(signing: S, wrapping: WrappingKey, options: SealOptions) -> Self {
        Self { signing, outer: Outer::new(wrapping, options) }
    }
}

impl Sealer<SigningKey> {
    /// Seals one JSON text and answers the compact JWE, for [`SecuredPayload`](crate::SecuredPayload).
    ///
    /// # Errors
    /// [`SealError`] if it is too long, not JSON in UTF-8, or if the back end or the system's random source fails.
    pub fn seal(&self, json: &[u8]) -> Result<String, SealError> {
        self.outer.check(json)?;
        let signed = jws::sign(&self.signing, &self.outer.options.inner, json)?;
        self.outer.encrypt(signed.into_bytes())
    }
}

impl<S: RemoteSigner> Sealer<S> {
    /// Seals one JSON text with a signing key behind I/O.
    ///
    /// # Errors
    /// As [`Sealer::seal`], and [`SealError::Sign`] if the remote key could not be used.
    pub async fn seal_remote(&self, json: &[u8]) -> Result<String, SealError> {
        self.outer.check(json)?;
        let signed = jws::sign_remote(&self.signing, &self.outer.options.inner, json).await?;
        self.outer.encrypt(signed.into_bytes())
    }
}

/// A message that lacks its signature: the form of sealing without I/O, for a signing key that lives elsewhere.
#[derive(Debug)]
pub struct Unsigned {
    prepared: Prepared,
    outer: Outer,
    verifying: VerifyingKey,
}

impl Unsigned {
    /// Prepares one JSON text. `verifying` is the public half of the key that will sign.
    ///
    /// # Errors
    /// [`SealError`] if it is too long or not JSON in UTF-8.
    pub fn new(
        json: &[u8],
        verifying: VerifyingKey,
        wrapping: WrappingKey,
        options: SealOptions,
    ) -> Result<Self, SealError> {
        let outer = Outer::new(wrapping, options);
        outer.check(json)?;
        let prepared = jws::prepare(&outer.options.inner, verifying.kid(), json);
        Ok(Self { prepared, outer, verifying })
    }

    /// What is to be signed.
    #[must_use]
    pub fn request(&self) -> SignRequest<'_> {
        self.prepared.request()
    }

    /// Takes the signature, encrypts, and answers the compact JWE.
    ///
    /// # Errors
    /// [`SealError::Sign`] if the signature is not valid; otherwise as [`Sealer::seal`].
    pub fn finish(self, signature: &[u8]) -> Result<String, SealError> {
        let signed = self.prepared.finish(signature, &self.verifying)?;
        self.outer.encrypt(signed.into_bytes())
    }
}

impl Outer {
    fn new(wrapping: WrappingKey, options: SealOptions) -> Self {
        let header = JsonObjectWriter::new()
            .string("alg", "RSA-OAEP")
            .string("enc", "A256CBC-HS512")
            .optional_string("zip", options.deflate.then_some("DEF"))
            .optional_string("cty", options.cty.then_some("JWT"))
            .optional_string("kid", wrapping.kid())
            .finish();
        Self { header: base64url::encode(header.as_bytes()), wrapping, options }
    }

    fn check(&self, json: &[u8]) -> Result<(), SealError> {
        if json.len() > self.options.max_payload {
            return Err(SealError::TooLong { found: json.len(), max: self.options.max_payload });
        }
        Ok(json::check(json, &crate::JSON_LIMITS)?)
    }

    fn encrypt(&self, signed: Vec<u8>) -> Result<String, SealError> {
        let key = ContentKey::random()?;
        let iv: [u8; IV_LEN] = random_octets()?;
        // Encrypted in place, so that no copy of the plain text stays behind.
        let mut text = Zeroizing::new(signed);
        if self.options.deflate {
            text = deflate::deflate(&text);
        }
        let Ciphertext { text, tag, .. } = Ciphertext::seal(&key, iv, self.header.as_bytes(), text);
        let wrapped = self.wrapping.wrap(key.expose_secret())?;
        let parts = [&wrapped[..], &iv, &text, &tag];
        let room = parts.iter().map(|part| base64url::encoded_len(part.len()) + 1).sum::<usize>();
        let mut compact = String::with_capacity(self.header.len() + room);
        compact.push_str(&self.header);
        for part in parts {
            compact.push('.');
            base64url::encode_into(part, &mut compact);
        }
        Ok(compact)
    }
}

/// Encrypts any octets under any header: what an outsider who has the public key can send. For fuzzers.
///
/// # Errors
/// As [`Sealer::seal`], the checks of the message aside.
#[cfg(fuzzing)]
pub fn encrypt_anything(header: &str, plain: Vec<u8>, wrapping: &WrappingKey) -> Result<String, SealError> {
    let outer =
        Outer { header: base64url::encode(header.as_bytes()), ..Outer::new(wrapping.clone(), SealOptions::new()) };
    outer.encrypt(plain)
}

/// A message that could not be sealed. All of these are local: nothing was sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The message is longer than allowed.
    #[error("expected at most {max} octets of JSON, found {found}")]
    TooLong {
        /// The octets found.
        found: usize,
        /// The most allowed.
        max: usize,
    },
    /// The message is not JSON as [`bankrail_values::json`] reads it.
    #[error("the message is not acceptable JSON")]
    NotJson(#[from] JsonError),
    /// It could not be signed.
    #[error("the message could not be signed")]
    Sign(#[from] SignError),
    /// Its content key could not be encrypted.
    #[error("the content key could not be encrypted")]
    Wrap(#[from] WrapError),
    /// The system gave no random octets.
    #[error("no fresh content key")]
    Random(#[from] RandomError),
}
