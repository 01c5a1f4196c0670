//! Making secured payloads: sign, then encrypt.

use crate::content::Ciphertext;
use crate::deflate;
use bankrail_jose::header::JoseHeaderError;
use bankrail_jose::jws::{self, JwsHeader, Prepared};
use bankrail_jose::remote::{RemoteSigner, SignRequest};
use bankrail_jose::{
    ContentKey, CurrentKey, EncryptError, EncryptionKey, SignError, SigningKey, VerifyingKey,
    algorithm, base64url,
};
use bankrail_values::json::{self, JsonError, JsonObjectWriter};
use bankrail_values::{MAX_MESSAGE_BYTES, RandomnessError, options, random_bytes};
use zeroize::Zeroizing;

options! {
    /// Options for sealing messages.
    #[derive(Clone, Debug)]
    pub struct SealOptions {
        /// The maximum number of bytes of JSON in a message. Default: [`MAX_MESSAGE_BYTES`].
        max_payload_bytes: usize = MAX_MESSAGE_BYTES,
        /// If true, messages are compressed before encryption (`"zip":"DEF"`). Default: false,
        /// because the length of compressed text reveals something of its content (RFC 8725 section
        /// 3.6), and strict receivers refuse such messages.
        deflate: bool = false,
        /// If true, the outer header has `"cty":"JWT"`. Default: true. Set it to false for
        /// receivers that do not expect it.
        cty: bool = true;
        /// The header of the signature, to which [`SealOptions::recipient`] adds. Default: `typ` is
        /// `JWT`.
        signed_header: JwsHeader = JwsHeader::new().typ("JWT"),
    }
}

impl SealOptions {
    /// Names the recipient in the member `name` of the signed header
    /// ([`Recipient`](crate::Recipient)).
    ///
    /// # Errors
    /// [`JoseHeaderError::Refused`] if `name` has another meaning in the header.
    pub fn recipient(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<Self, JoseHeaderError> {
        self.signed_header = self.signed_header.member(name, value)?;
        Ok(self)
    }
}

/// Seals JSON messages: signs them with a signing key (RS256), then encrypts them to an encryption
/// key (RSA-OAEP, A256CBC-HS512).
///
/// - Each message has its own random content key and initialisation vector.
/// - Both keys can be replaced while messages are sealed. Clones share the keys, so a replacement
///   changes all clones. A message that is being sealed is finished with the keys from its start.
#[derive(Clone, Debug)]
pub struct Sealer<S = SigningKey> {
    signing: CurrentKey<S>,
    encryption: CurrentKey<EncryptionKey>,
    options: SealOptions,
}

impl<S> Sealer<S> {
    /// Creates a sealer. The `kid` of each key, if it has one, is written to its header.
    ///
    /// `signing` is a [`SigningKey`] for [`Sealer::seal`] or a [`RemoteSigner`] for
    /// [`Sealer::seal_remote`].
    #[must_use]
    pub fn new(signing: S, encryption: EncryptionKey, options: SealOptions) -> Self {
        Self {
            signing: CurrentKey::new(signing),
            encryption: CurrentKey::new(encryption),
            options,
        }
    }

    /// Replaces the signing key, here and in all clones.
    pub fn replace_signing_key(&self, signing: S) {
        self.signing.replace(signing);
    }

    /// Replaces the encryption key, here and in all clones.
    pub fn replace_encryption_key(&self, encryption: EncryptionKey) {
        self.encryption.replace(encryption);
    }
}

impl Sealer<SigningKey> {
    /// Seals one JSON text and returns the compact JWE, for
    /// [`SecuredPayload`](crate::SecuredPayload).
    ///
    /// # Errors
    /// [`SealError`] if the text is too long or not JSON in UTF-8, or if the back end or the
    /// system's random source fails.
    pub fn seal(&self, json: &[u8]) -> Result<String, SealError> {
        self.options.check(json)?;
        let signed = jws::sign(&self.signing.get(), &self.options.signed_header, json)?;
        seal_signed(signed, &self.encryption.get(), &self.options)
    }
}

impl<S: RemoteSigner> Sealer<S> {
    /// Seals one JSON text with a remote signing key and returns the compact JWE.
    ///
    /// # Errors
    /// As [`Sealer::seal`], and [`SealError::Sign`] if the remote key could not be used.
    pub async fn seal_remote(&self, json: &[u8]) -> Result<String, SealError> {
        self.options.check(json)?;
        let (signing, encryption) = (self.signing.get(), self.encryption.get());
        let signed = jws::sign_remote(&*signing, &self.options.signed_header, json).await?;
        seal_signed(signed, &encryption, &self.options)
    }
}

/// A message without its signature. This type seals messages without I/O, for a remote signing key.
#[derive(Debug)]
pub struct UnsignedMessage {
    prepared: Prepared,
    verifying: VerifyingKey,
    encryption: EncryptionKey,
    options: SealOptions,
}

impl UnsignedMessage {
    /// Prepares one JSON text. `verifying` is the public half of the signing key.
    ///
    /// # Errors
    /// [`SealError`] if the text is too long or not JSON in UTF-8.
    pub fn new(
        json: &[u8],
        verifying: VerifyingKey,
        encryption: EncryptionKey,
        options: SealOptions,
    ) -> Result<Self, SealError> {
        options.check(json)?;
        let prepared = jws::prepare(&options.signed_header, verifying.kid(), json);
        Ok(Self {
            prepared,
            verifying,
            encryption,
            options,
        })
    }

    /// Returns the request to sign.
    #[must_use]
    pub fn request(&self) -> SignRequest<'_> {
        self.prepared.request()
    }

    /// Adds the signature, encrypts, and returns the compact JWE.
    ///
    /// # Errors
    /// [`SealError::Sign`] if the signature is not valid; otherwise as [`Sealer::seal`].
    pub fn finish(self, signature: &[u8]) -> Result<String, SealError> {
        let signed = self.prepared.finish(signature, &self.verifying)?;
        seal_signed(signed, &self.encryption, &self.options)
    }
}

impl SealOptions {
    fn check(&self, json: &[u8]) -> Result<(), SealError> {
        if json.len() > self.max_payload_bytes {
            return Err(SealError::TooLong {
                found: json.len(),
                max: self.max_payload_bytes,
            });
        }
        json::check(json, &crate::JSON_LIMITS).map_err(SealError::NotJson)
    }
}

/// Encrypts a signed message, if the signature is of a size that the specification allows.
fn seal_signed(
    signed: String,
    encryption: &EncryptionKey,
    options: &SealOptions,
) -> Result<String, SealError> {
    let signature = signed.rsplit('.').next().unwrap_or_default();
    // In base64url without padding, four characters are three bytes, rounded down.
    let bytes = signature.len() * 3 / 4;
    if !crate::is_signature_length(bytes) {
        return Err(SealError::SigningKeySize { bits: bytes * 8 });
    }
    encrypt(signed.into_bytes(), encryption, options)
}

/// Encrypts a signed message.
fn encrypt(
    signed: Vec<u8>,
    encryption: &EncryptionKey,
    options: &SealOptions,
) -> Result<String, SealError> {
    let header = JsonObjectWriter::new()
        .string("alg", algorithm::KEY_ENCRYPTION)
        .string("enc", algorithm::CONTENT_ENCRYPTION)
        .optional_string("zip", options.deflate.then_some("DEF"))
        .optional_string("cty", options.cty.then_some("JWT"))
        .optional_string("kid", encryption.kid())
        .finish();
    // The text is encrypted in place, so that no copy of the plain text stays behind.
    let mut text = Zeroizing::new(signed);
    if options.deflate {
        text = deflate::deflate(&text);
    }
    assemble(&header, text, encryption)
}

/// Encrypts bytes under a header.
fn assemble(
    header: &str,
    text: Zeroizing<Vec<u8>>,
    encryption: &EncryptionKey,
) -> Result<String, SealError> {
    let key = ContentKey::random()?;
    let iv: [u8; algorithm::IV_LEN] = random_bytes()?;
    let header = base64url::encode(header.as_bytes());
    let Ciphertext { text, tag, .. } = Ciphertext::seal(&key, iv, header.as_bytes(), text);
    let encrypted_key = encryption.encrypt(key.expose_secret())?;
    let parts = [&encrypted_key[..], &iv, &text, &tag];
    let room = parts
        .iter()
        .map(|part| base64url::encoded_len(part.len()) + 1)
        .sum::<usize>();
    let mut compact = String::with_capacity(header.len() + room);
    compact.push_str(&header);
    for part in parts {
        compact.push('.');
        base64url::encode_into(part, &mut compact);
    }
    Ok(compact)
}

/// Encrypts any bytes under any header, as an outsider who has the encryption key can. This is for
/// fuzzers.
///
/// # Errors
/// As [`Sealer::seal`], without the checks of the message.
#[cfg(fuzzing)]
pub fn encrypt_anything(
    header: &str,
    plain: Vec<u8>,
    encryption: &EncryptionKey,
) -> Result<String, SealError> {
    assemble(header, Zeroizing::new(plain), encryption)
}

/// The reason why a message could not be sealed. All reasons are local faults.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The message is longer than allowed.
    #[error("expected at most {max} bytes of JSON, found {found}")]
    TooLong {
        /// The number of bytes found.
        found: usize,
        /// The maximum number of bytes.
        max: usize,
    },
    /// The message is not JSON as [`bankrail_values::json`] reads it. A duplicate member, an
    /// unpaired surrogate and more than 64 levels are refused too, because many parsers refuse
    /// them.
    #[error("the message is not acceptable JSON: {0}")]
    NotJson(JsonError),
    /// The signing key has a size other than the specification's 2048 or 4096 bits (Specification:
    /// "Secured payload envelope").
    #[error("expected a signing key of 2048 or 4096 bits, found {bits}")]
    SigningKeySize {
        /// The size in bits.
        bits: usize,
    },
    /// The message could not be signed.
    #[error("the message could not be signed")]
    Sign(#[from] SignError),
    /// The content key could not be encrypted.
    #[error("the content key could not be encrypted")]
    EncryptKey(#[from] EncryptError),
    /// The system gave no random bytes.
    #[error("no content key could be made")]
    Random(#[from] RandomnessError),
}
