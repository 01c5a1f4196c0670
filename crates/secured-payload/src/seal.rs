//! Making a secured payload: sign, then encrypt.

use crate::content::{Ciphertext, IV_LEN};
use crate::deflate;
use bankrail_jose::header::JoseHeaderError;
use bankrail_jose::jws::{self, JwsHeader, Prepared};
use bankrail_jose::remote::{RemoteSigner, SignRequest};
use bankrail_jose::{
    ContentKey, EncryptError, EncryptionKey, RandomError, SignError, SigningKey, VerifyingKey, base64url, random_bytes,
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
        Self { max_payload: 250_000, deflate: false, cty: true, inner: JwsHeader::new().typ("JWT") }
    }
}

impl SealOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many bytes of JSON are sealed at most.
    #[must_use]
    pub fn max_payload(mut self, bytes: usize) -> Self {
        self.max_payload = bytes;
        self
    }

    /// Compresses before encrypting (`"zip":"DEF"`). Off by default: the length of compressed text tells about its
    /// contents (RFC 8725 section 3.6), and strict receivers refuse it.
    #[must_use]
    pub fn deflate(mut self, deflate: bool) -> Self {
        self.deflate = deflate;
        self
    }

    /// Whether the outer header says `"cty":"JWT"`. On by default; off for receivers that do not expect it.
    #[must_use]
    pub fn cty(mut self, cty: bool) -> Self {
        self.cty = cty;
        self
    }

    /// Names the recipient in the signed header, as the member `name`: see [`Recipient`](crate::Recipient).
    ///
    /// # Errors
    /// [`JoseHeaderError::Refused`] if `name` has another meaning in the header.
    pub fn recipient(mut self, name: impl Into<String>, value: impl Into<String>) -> Result<Self, JoseHeaderError> {
        self.inner = self.inner.member(name, value)?;
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
    encryption: EncryptionKey,
    options: SealOptions,
    /// The protected header, base64url: it is the same for every message.
    header: String,
}

impl<S> Sealer<S> {
    /// Seals with the default [`SealOptions`]. The keys' names, where they have one, become the `kid`s.
    ///
    /// `signing` is a [`SigningKey`] for [`Sealer::seal`] or a [`RemoteSigner`] for [`Sealer::seal_remote`].
    #[must_use]
    pub fn new(signing: S, encryption: EncryptionKey) -> Self {
        Self { signing, outer: Outer::new(encryption, SealOptions::default()) }
    }

    /// Sets how messages are sealed.
    #[must_use]
    pub fn with_options(self, options: SealOptions) -> Self {
        Self { outer: Outer::new(self.outer.encryption, options), ..self }
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
pub struct UnsignedMessage {
    prepared: Prepared,
    outer: Outer,
    verifying: VerifyingKey,
}

impl UnsignedMessage {
    /// Prepares one JSON text. `verifying` is the public half of the key that will sign.
    ///
    /// # Errors
    /// [`SealError`] if it is too long or not JSON in UTF-8.
    pub fn new(
        json: &[u8],
        verifying: VerifyingKey,
        encryption: EncryptionKey,
        options: SealOptions,
    ) -> Result<Self, SealError> {
        let outer = Outer::new(encryption, options);
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
    fn new(encryption: EncryptionKey, options: SealOptions) -> Self {
        let header = JsonObjectWriter::new()
            .string("alg", "RSA-OAEP")
            .string("enc", "A256CBC-HS512")
            .optional_string("zip", options.deflate.then_some("DEF"))
            .optional_string("cty", options.cty.then_some("JWT"))
            .optional_string("kid", encryption.kid())
            .finish();
        Self { header: base64url::encode(header.as_bytes()), encryption, options }
    }

    fn check(&self, json: &[u8]) -> Result<(), SealError> {
        if json.len() > self.options.max_payload {
            return Err(SealError::TooLong { found: json.len(), max: self.options.max_payload });
        }
        json::check(json, &crate::JSON_LIMITS).map_err(SealError::NotJson)
    }

    fn encrypt(&self, signed: Vec<u8>) -> Result<String, SealError> {
        let key = ContentKey::random()?;
        let iv: [u8; IV_LEN] = random_bytes()?;
        // Encrypted in place, so that no copy of the plain text stays behind.
        let mut text = Zeroizing::new(signed);
        if self.options.deflate {
            text = deflate::deflate(&text);
        }
        let Ciphertext { text, tag, .. } = Ciphertext::seal(&key, iv, self.header.as_bytes(), text);
        let encrypted_key = self.encryption.encrypt(key.expose_secret())?;
        let parts = [&encrypted_key[..], &iv, &text, &tag];
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

/// Encrypts any bytes under any header: what an outsider who has the public key can send. For fuzzers.
///
/// # Errors
/// As [`Sealer::seal`], the checks of the message aside.
#[cfg(fuzzing)]
pub fn encrypt_anything(header: &str, plain: Vec<u8>, encryption: &EncryptionKey) -> Result<String, SealError> {
    let outer =
        Outer { header: base64url::encode(header.as_bytes()), ..Outer::new(encryption.clone(), SealOptions::new()) };
    outer.encrypt(plain)
}

/// A message that could not be sealed. All of these are local: nothing was sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The message is longer than allowed.
    #[error("expected at most {max} bytes of JSON, found {found}")]
    TooLong {
        /// The bytes found.
        found: usize,
        /// The most allowed.
        max: usize,
    },
    /// The message is not JSON as [`bankrail_values::json`] reads it.
    #[error("the message is not acceptable JSON: {0}")]
    NotJson(JsonError),
    /// It could not be signed.
    #[error("the message could not be signed")]
    Sign(#[from] SignError),
    /// Its content key could not be encrypted.
    #[error("the content key could not be encrypted")]
    EncryptKey(#[from] EncryptError),
    /// The system gave no random bytes.
    #[error("no fresh content key")]
    Random(#[from] RandomError),
}
