//! The steps of opening one message, in order.

use super::options::RecipientPlace;
use super::{MalformedMessageError, OpenError, OpenOptions, Opened};
use crate::content::{Authentic, Ciphertext, NotOpened};
use crate::deflate;
use bankrail_jose::algorithm::BLOCK_LEN;
use bankrail_jose::header::{HeaderRules, JoseHeader, JoseHeaderError, is_media_type};
use bankrail_jose::jws::{Compact, Verified, VerifyError, VerifyOptions};
use bankrail_jose::remote::{DecryptionOutcome, RemoteDecrypter};
use bankrail_jose::{ContentKey, DecryptionKey, EncryptionKey, KeySet, VerifyingKey, base64url};
use bankrail_values::excerpt;
use bankrail_values::json::{self, JsonLimits, JsonValue};
use std::ops::ControlFlow;
use zeroize::{Zeroize as _, Zeroizing};

/// A well-formed JWE of the profile that is not yet decrypted. This type opens messages without
/// I/O, for a remote decryption key.
///
/// ```
/// # #[cfg(any(feature = "aws-lc", feature = "josekit"))] {
/// # use bankrail_jose::{KeySet, RsaSize, SigningKey, DecryptionKey, remote::DecryptionOutcome};
/// # use bankrail_secured_payload::{OpenOptions, SealedMessage, SealOptions, Sealer};
/// # let (signing, decryption) = (SigningKey::generate(RsaSize::Rsa2048)?, DecryptionKey::generate(RsaSize::Rsa2048)?);
/// # let compact = Sealer::new(signing.clone(), decryption.encryption_key(), SealOptions::new()).seal(b"{}")?;
/// # let public = decryption.encryption_key();
/// # let senders = KeySet::from(signing.verifying_key());
/// # let ask_the_key_service = |encrypted: &[u8]| decryption.decrypt(encrypted);
/// let received = SealedMessage::parse(&compact, &OpenOptions::default())?;
/// received.check_for(&public)?;
/// let decrypted = match ask_the_key_service(received.encrypted_key()) {
///     Ok(key) => DecryptionOutcome::Key(key),
///     Err(_) => DecryptionOutcome::CannotDecrypt,
/// };
/// assert_eq!(received.finish(&decrypted, &public, &senders)?.json(), b"{}");
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SealedMessage<'a> {
    options: OpenOptions,
    header: JoseHeader,
    /// The header in base64url, whose bytes the tag covers.
    encoded_header: &'a str,
    encrypted_key: Vec<u8>,
    ciphertext: Ciphertext,
}

impl<'a> SealedMessage<'a> {
    /// Reads a message as far as possible without a key. The checks are, in this order: length,
    /// number of parts, base64url, header, lengths of the parts.
    ///
    /// # Errors
    /// [`OpenError::Malformed`] or [`OpenError::UnsupportedHeader`].
    pub fn parse(compact: &'a str, options: &OpenOptions) -> Result<Self, OpenError> {
        if compact.len() > options.max_message_bytes {
            return Err(MalformedMessageError::TooLong {
                found: compact.len(),
                max: options.max_message_bytes,
            }
            .into());
        }
        let [encoded_header, encrypted_key, iv, text, tag] = split(compact)?;
        let decode = |part, text| {
            base64url::decode(text).map_err(|_| MalformedMessageError::NotBase64url { part })
        };
        let header = decode("header", encoded_header)?;
        let encrypted_key = decode("encrypted key", encrypted_key)?;
        let iv = decode("initialisation vector", iv)?;
        let text = Zeroizing::new(decode("ciphertext", text)?);
        let tag = decode("authentication tag", tag)?;

        let rules = HeaderRules::encryption(
            options.max_header_bytes,
            options.max_inflated_bytes.is_some(),
        );
        let header = JoseHeader::from_json(&header, &rules)?;
        check_cty(header.cty(), options.require_cty)?;

        let length = |part, expected, found: usize| MalformedMessageError::Length {
            part,
            expected,
            found,
        };
        let found = iv.len();
        let iv = iv
            .try_into()
            .map_err(|_| length("initialisation vector", "16 bytes", found))?;
        let found = tag.len();
        let tag = tag
            .try_into()
            .map_err(|_| length("authentication tag", "32 bytes", found))?;
        if text.is_empty() || !text.len().is_multiple_of(BLOCK_LEN) {
            return Err(length("ciphertext", "one or more blocks of 16 bytes", text.len()).into());
        }
        let ciphertext = Ciphertext { iv, text, tag };
        Ok(Self {
            options: options.clone(),
            header,
            encoded_header,
            encrypted_key,
            ciphertext,
        })
    }

    /// Returns the unverified header, whose `kid` selects the decryption key.
    #[must_use]
    pub fn header(&self) -> &JoseHeader {
        &self.header
    }

    /// Returns the encrypted content key, for the decryption key.
    #[must_use]
    pub fn encrypted_key(&self) -> &[u8] {
        &self.encrypted_key
    }

    /// Checks that the encrypted key is as long as the modulus of `key`. Call this before a remote
    /// key is used.
    ///
    /// # Errors
    /// [`MalformedMessageError::Length`].
    #[doc(hidden)]
    pub fn check_for(&self, key: &EncryptionKey) -> Result<(), OpenError> {
        if self.encrypted_key.len() == key.public_key().modulus_len() {
            Ok(())
        } else {
            Err(self.wrong_length())
        }
    }

    /// Performs the remaining steps with the outcome of the decryption.
    ///
    /// `key` is the public half of the decryption key. If the key could not decrypt, or the result
    /// is not 64 bytes long, a random content key takes the result's place, and the same work is
    /// done up to the comparison of the tag.
    ///
    /// # Errors
    /// [`OpenError`], as from [`Opener::open`](super::Opener::open).
    pub fn finish(
        self,
        decrypted: &DecryptionOutcome,
        key: &EncryptionKey,
        verifying: &KeySet<VerifyingKey>,
    ) -> Result<Opened, OpenError> {
        self.check_for(key)?;
        let content_key = ContentKey::random()?.or(decrypted.bytes());
        self.open_under(&content_key, || key.clone(), verifying)
            .break_value()
            .unwrap_or(Err(OpenError::Rejected))
    }

    /// Tries the local keys that the `kid`, or its absence, has selected.
    pub(super) fn open_with(
        mut self,
        keys: &[DecryptionKey],
        verifying: &KeySet<VerifyingKey>,
    ) -> Result<Opened, OpenError> {
        let mut refused = self.wrong_length();
        for key in keys {
            if key.encrypted_len() != self.encrypted_key.len() {
                continue;
            }
            refused = OpenError::Rejected;
            let content_key = key.content_key(&self.encrypted_key)?;
            match self.open_under(&content_key, || key.encryption_key(), verifying) {
                ControlFlow::Break(opened) => return opened,
                ControlFlow::Continue(received) => self = received,
            }
        }
        Err(refused)
    }

    /// Tries the remote keys that the `kid`, or its absence, has selected.
    pub(super) async fn open_remote<U: RemoteDecrypter>(
        mut self,
        keys: &[U],
        verifying: &KeySet<VerifyingKey>,
    ) -> Result<Opened, OpenError> {
        let mut refused = self.wrong_length();
        for key in keys {
            if self.check_for(key.encryption_key()).is_err() {
                continue;
            }
            refused = OpenError::Rejected;
            let decrypted = key.decrypt(&self.encrypted_key).await?;
            let content_key = ContentKey::random()?.or(decrypted.bytes());
            match self.open_under(&content_key, || key.encryption_key().clone(), verifying) {
                ControlFlow::Break(opened) => return opened,
                ControlFlow::Continue(received) => self = received,
            }
        }
        Err(refused)
    }

    fn wrong_length(&self) -> OpenError {
        let (part, expected) = ("encrypted key", "as many bytes as the key's modulus");
        MalformedMessageError::Length {
            part,
            expected,
            found: self.encrypted_key.len(),
        }
        .into()
    }

    /// Opens the message with `content_key`. If the tag is wrong, continues with the message
    /// unchanged.
    fn open_under(
        mut self,
        content_key: &ContentKey,
        encryption_key: impl FnOnce() -> EncryptionKey,
        verifying: &KeySet<VerifyingKey>,
    ) -> ControlFlow<Result<Opened, OpenError>, Self> {
        match self
            .ciphertext
            .open(content_key, self.encoded_header.as_bytes())
        {
            Ok(signed) => {
                let Self {
                    options, header, ..
                } = self;
                ControlFlow::Break(verify(signed, options, header, encryption_key(), verifying))
            }
            Err(NotOpened::WrongTag(ciphertext)) => {
                self.ciphertext = ciphertext;
                ControlFlow::Continue(self)
            }
            Err(NotOpened::WrongPadding) => ControlFlow::Break(Err(OpenError::Rejected)),
        }
    }
}

// Prints the header and the length of the ciphertext.
bankrail_values::impl_debug!(SealedMessage<'_>, self; header: self.header, len: self.ciphertext.text.len());

/// Checks `cty`, the mark of a nested token (RFC 7519 section 5.2).
fn check_cty(cty: Option<&str>, required: bool) -> Result<(), JoseHeaderError> {
    match cty {
        None if required => Err(JoseHeaderError::Missing { name: "cty" }),
        Some(found) if !is_media_type(found, "JWT") => {
            Err(JoseHeaderError::unsupported("cty", "JWT", found))
        }
        _ => Ok(()),
    }
}

/// Verifies the decrypted JWS with the sender's keys, and checks `typ`, recipient and JSON.
fn verify(
    decrypted: Authentic,
    options: OpenOptions,
    header: JoseHeader,
    encryption_key: EncryptionKey,
    verifying: &KeySet<VerifyingKey>,
) -> Result<Opened, OpenError> {
    let mut signed = decrypted.into_bytes();
    if header.is_deflated() {
        let max = options.max_inflated_bytes.ok_or(OpenError::Rejected)?;
        signed = deflate::inflate(&signed, max).ok_or(OpenError::Rejected)?;
    }
    let limits = VerifyOptions::new()
        .max_token_bytes(signed.len())
        .max_header_bytes(options.max_header_bytes);
    // The reason of the refusal is dropped, so that all have the same error.
    let signed = std::str::from_utf8(&signed).map_err(|_| OpenError::Rejected)?;
    let signed = Compact::parse(signed, &limits).map_err(|_| OpenError::Rejected)?;
    let kid = signed.header().kid().map(excerpt);
    let verified = match signed.verify(verifying) {
        Ok(verified) => verified,
        Err(VerifyError::NoKey(reason)) => {
            let keys = verifying.keys();
            let known: Vec<String> = keys
                .iter()
                .filter_map(|key| key.kid().map(excerpt))
                .collect();
            let known = known.join(", ");
            return Err(OpenError::NoSigningKey { kid, known, reason });
        }
        Err(_) => return Err(OpenError::Rejected),
    };
    if !crate::is_signature_length(verified.signature().len()) {
        return Err(OpenError::Rejected);
    }
    if options.require_typ
        && !verified
            .header()
            .typ()
            .is_some_and(|typ| is_media_type(typ, "JWT"))
    {
        return Err(OpenError::OtherType);
    }
    check_recipient(&verified, &options)?;
    // The search for the recipient in a claim has read the whole JSON under the same limits.
    let is_read = options
        .recipient
        .as_ref()
        .is_some_and(|recipient| recipient.place == RecipientPlace::Claim);
    if options.check_json && !is_read {
        json::check(verified.payload(), &crate::JSON_LIMITS).map_err(OpenError::PayloadInvalid)?;
    }
    let (signed_header, signing_key) = (verified.header().clone(), verified.key().clone());
    Ok(Opened {
        json: verified.into_payload(),
        header,
        signed_header,
        signing_key,
        encryption_key,
    })
}

fn check_recipient(verified: &Verified, options: &OpenOptions) -> Result<(), OpenError> {
    let Some(recipient) = &options.recipient else {
        return Ok(());
    };
    let expected = Some(recipient.value.as_str());
    let meant = match recipient.place {
        RecipientPlace::SignedHeader => verified.header().member_text(&recipient.name) == expected,
        RecipientPlace::Claim => {
            let mut members = json::read_object(verified.payload(), &crate::JSON_LIMITS)
                .map_err(OpenError::PayloadInvalid)?;
            let meant = members.get(&recipient.name).and_then(JsonValue::as_str) == expected;
            members.zeroize();
            meant
        }
    };
    if meant {
        Ok(())
    } else {
        Err(OpenError::OtherRecipient {
            name: recipient.name.clone(),
        })
    }
}

/// Returns the unverified `kid` of a message's header, cut and escaped, so that the log shows the
/// key that the sender has used. `None` if the header is longer than 4 KiB, cannot be read, or has
/// no `kid`.
#[must_use]
#[doc(hidden)]
pub fn unverified_kid(compact: &str) -> Option<String> {
    const MAX_HEADER_BYTES: usize = 4 * 1024;
    let (header, _) = compact.split_once('.')?;
    if header.len() > base64url::encoded_len(MAX_HEADER_BYTES) {
        return None;
    }
    let header = base64url::decode(header).ok()?;
    let members = json::read_object(
        &header,
        &JsonLimits::new().max_document_bytes(MAX_HEADER_BYTES),
    )
    .ok()?;
    members.get("kid").and_then(JsonValue::as_str).map(excerpt)
}

fn split(compact: &str) -> Result<[&str; 5], MalformedMessageError> {
    let mut parts = compact.split('.');
    let mut next = || parts.next();
    if let (Some(header), Some(key), Some(iv), Some(text), Some(tag), None) =
        (next(), next(), next(), next(), next(), next())
    {
        return Ok([header, key, iv, text, tag]);
    }
    if compact.trim_start().starts_with('{') {
        return Err(MalformedMessageError::JsonForm);
    }
    match compact.bytes().filter(|byte| *byte == b'.').count() + 1 {
        3 => Err(MalformedMessageError::BareSignature),
        found => Err(MalformedMessageError::Parts { found }),
    }
}
