//! Senders' verifying keys that can be read anew while the receivers run.
//!
//! A JWK set in memory needs nothing of this module: `KeySet::from_jwk_set` of `bankrail-jose` reads it, and
//! `KeySet::replace` puts other keys in its place.

mod folder;
#[cfg(feature = "jwks-url")]
mod jwks_url;

pub use folder::{KeyFileFault, KeyFolder, KeyFolderError, UnusableKeyFile};
#[cfg(feature = "jwks-url")]
pub use jwks_url::{JwksUrl, JwksUrlError, JwksUrlOptions};

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// What [`SenderKeys::renew`] returns.
pub type RenewFuture<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// A source of the sender's verifying keys ([`KeyFolder`], and `JwksUrl` of the feature `jwks-url`).
///
/// Its [`KeySet`](bankrail_jose::KeySet) is the opener's. Given to
/// [`ReceiversOptions::sender_keys`](super::ReceiversOptions::sender_keys), the source is asked for new keys when a
/// message is signed under an unknown `kid`.
pub trait SenderKeys: fmt::Debug + Send + Sync {
    /// Reads the keys again, unless that was tried a short time ago. True if it was done and the keys may be others
    /// now. Faults are logged, and leave the keys as they are.
    fn renew(&self) -> RenewFuture<'_>;
}

/// Lets something happen at most once in a time.
#[derive(Debug)]
struct AtMostOnceIn {
    time: Duration,
    last: Mutex<Option<Instant>>,
}

impl AtMostOnceIn {
    fn new(time: Duration) -> Self {
        Self { time, last: Mutex::default() }
    }

    /// True if it may happen now. It then counts as having happened.
    fn now(&self) -> bool {
        let now = Instant::now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let may = last.is_none_or(|last| now.duration_since(last) >= self.time);
        if may {
            *last = Some(now);
        }
        may
    }
}
