//! Senders' verifying keys that can be read again while the receivers run.
//!
//! A JWK set in memory needs nothing of this module: `KeySet::from_jwk_set` of `bankrail-jose`
//! reads it, and `KeySet::replace` puts other keys in its place.

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
/// Its [`KeySet`](bankrail_jose::KeySet) is the opener's. Given to
/// [`ReceiversOptions::sender_keys`](super::ReceiversOptions::sender_keys), the source is asked for
/// new keys when no key verifies a message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot read the sender's keys again",
    label = "not a `SenderKeys`",
    note = "pass an `Arc` of a `KeyFolder` or a `JwksUrl` of `bankrail_client::receivers::keys`",
    note = "keys that never change are given to the `Opener` alone"
)]
pub trait SenderKeys: fmt::Debug + Send + Sync {
    /// Reads the keys again, unless that was tried a short time ago; waits for a reading that is
    /// under way. Returns true if keys were read after `since`, by this call or by another. Faults
    /// are logged, and leave the keys as they are.
    fn renew(&self, since: Instant) -> RenewFuture<'_>;
}

/// The options under which a sender's keys are read: a key of a size that no message may be signed
/// with is reported.
fn key_options() -> KeyOptions {
    KeyOptions::new().sizes(KeySizes::SecuredPayload)
}
