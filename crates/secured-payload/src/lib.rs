//! JSON messages signed with JWS RS256, then encrypted with JWE RSA-OAEP and A256CBC-HS512, as one compact text
//! (Specification: "Secured payload envelope").
//!
//! What it is: [`Sealer`] makes such a text out of JSON, [`Opener`] turns it back into JSON that is known to come from
//! the holder of a key. Both layers are mandatory: there is no way to the text of a message whose signature was not
//! verified.
//!
//! What it is not: a general JWE library, a transport, or a parser of the messages.
//!
//! ```
//! # #[cfg(any(feature = "aws-lc", feature = "josekit"))] {
//! use bankrail_jose::{RsaSize, SigningKey, DecryptionKey};
//! use bankrail_secured_payload::{Opener, Sealer, SecuredPayload};
//!
//! // The provider has a signing key, the customer a decryption key; each has the other's public half.
//! let signing = SigningKey::generate(RsaSize::Rsa2048)?.with_kid("provider-1");
//! let decryption = DecryptionKey::generate(RsaSize::Rsa2048)?.with_kid("customer-1");
//!
//! let sealer = Sealer::new(signing.clone(), decryption.encryption_key());
//! let body = SecuredPayload::new(sealer.seal(br#"{"status":"SUCC"}"#)?).to_json();
//!
//! let opener = Opener::new(decryption, signing.verifying_key());
//! let envelope = SecuredPayload::from_json(body.as_bytes())?;
//! let message = opener.open(&envelope.secured_payload)?;
//! assert_eq!(message.json(), br#"{"status":"SUCC"}"#);
//! assert_eq!(message.signing_kid(), Some("provider-1"));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Nouns
//!
//! - [`SecuredPayload`]: the JSON body `{"secured_payload":"…"}`.
//! - [`Sealer`], [`SealOptions`]; [`UnsignedMessage`] for a signing key that lives elsewhere.
//! - [`Opener`], [`OpenOptions`], [`Recipient`]; [`SealedMessage`] for a decryption key that lives elsewhere.
//! - [`Opened`]: a verified message. [`OpenError`]: why not, for the log, and what the sender may learn.
//!
//! | feature | what it adds |
//! |---|---|
//! | `aws-lc` (default) | RSA operations by AWS-LC; needs a C compiler |
//! | `josekit` | RSA operations by josekit and the system's OpenSSL |
//!
//! AES and HMAC are the same code with every RSA back end, so that a message meets the same checks whichever is chosen.
//!
//! # How a message is opened
//!
//! Length, shape, base64url, header, lengths of the parts; then RSA-OAEP, with a random content key in place of the
//! result on any failure; HMAC over everything, compared in constant time; AES-CBC; inflating up to a bound, if
//! switched on; the signature; UTF-8 and JSON. What goes wrong from RSA-OAEP to the signature is one value,
//! [`OpenError::Rejected`].
//!
//! # Security notes
//!
//! - A message can be delivered twice: compare the duplicate keys of the message after opening, never before.
//! - A message does not say for whom it was made: see [`Recipient`].
//! - RSA-OAEP with SHA-1 is what the specification asks for. SHA-1's collisions do not weaken it.
//! - The same message to several keys without `kid` is tried on each: how long that takes shows how many there are.

#![forbid(unsafe_code)]

use bankrail_values::json::JsonLimits;

mod content;
mod deflate;
mod envelope;
mod open;
mod seal;

pub use envelope::{EnvelopeError, SecuredPayload};
pub use open::{Malformed, OpenError, OpenErrorKind, OpenOptions, Opened, Opener, Recipient, SealedMessage};
#[cfg(fuzzing)]
pub use seal::encrypt_anything;
pub use seal::{SealError, SealOptions, Sealer, UnsignedMessage};

/// Bounds on a message's JSON: the reader's default depth. Its length has a bound of its own.
const JSON_LIMITS: JsonLimits = JsonLimits::new().max_bytes(usize::MAX).max_values(usize::MAX);
