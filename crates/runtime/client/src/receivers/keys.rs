//! Senders' verifying keys that can be read again while the receivers run.
//!
//! A JWK set in memory does not need this module: `KeySet::from_jwk_set` of `bankrail-jose` reads
//! it, and `KeySet::replace` puts other keys in its place.

mod folder;
#[cfg(feature = "jwks-url")]
mod jwks_url;

pub use folder::{KeyFolder, KeyFolderError, UnusableKeyError, UnusableKeyFile};
#[cfg(feature = "jwks-url")]
pub use jwks_url::{JwksUrl, JwksUrlError, JwksUrlOptions};

use bankrail_jose::{KeyOptions, KeySizes};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

/// The future of [`SenderKeys::renew`].
pub type RenewFuture<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// A source of the sender's verifying keys ([`KeyFolder`], and `JwksUrl` of the feature
/// `jwks-url`).
///
/// The opener uses the source's [`KeySet`](bankrail_jose::KeySet). With
/// [`ReceiversOptions::sender_keys`](super::ReceiversOptions::sender_keys), the receivers have the
/// source read new keys when no key verifies a message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot read the sender's keys again",
    label = "not a `SenderKeys`",
    note = "pass an `Arc` of a `KeyFolder` or a `JwksUrl` of `bankrail_client::receivers::keys`",
    note = "keys that never change are given to the `Opener` alone"
)]
pub trait SenderKeys: fmt::Debug + Send + Sync {
    /// Reads the keys again, unless a reading was tried a short time ago, and waits for a reading
    /// under way. Returns true if keys were read after `since`, by this call or by another. Faults
    /// are logged, and leave the keys as they are.
    fn renew(&self, since: Instant) -> RenewFuture<'_>;
}

/// Returns the options for reading a sender's keys, with which a key of a forbidden size is
/// reported.
fn key_options() -> KeyOptions {
    KeyOptions::new().sizes(KeySizes::SecuredPayload)
}
