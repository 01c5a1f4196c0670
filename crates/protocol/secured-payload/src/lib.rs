#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

use bankrail_values::json::JsonLimits;

mod content;
mod deflate;
mod envelope;
mod open;
mod seal;

pub use envelope::{EnvelopeError, SecuredPayload};
pub use open::{
    MalformedMessageError, OpenError, OpenErrorKind, OpenOptions, Opened, Opener, Recipient,
    SealedMessage, unverified_kid,
};
#[cfg(fuzzing)]
pub use seal::encrypt_anything;
pub use seal::{SealError, SealOptions, Sealer, UnsignedMessage};

/// The bounds on a message's JSON: the reader's default depth. The length is bounded by the
/// options.
const JSON_LIMITS: JsonLimits = JsonLimits::new()
    .max_document_bytes(usize::MAX)
    .max_values(usize::MAX);

/// Returns true if a signature of this many bytes was made with a key of the specification's sizes.
fn is_signature_length(bytes: usize) -> bool {
    bankrail_jose::algorithm::MESSAGE_SIGNING_KEY_BITS.contains(&(bytes * 8))
}
