//! Opening payloads without blocking the asynchronous threads.

use bankrail_jose::remote::RemoteDecrypter;
use bankrail_mailbox::DEFAULT_TIME_OUT;
use bankrail_secured_payload::{OpenError, Opened, Opener};
use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How payloads are opened.
#[derive(Clone)]
pub(super) enum Opening {
    /// A key in memory. The private-key operation takes most of a millisecond of one core.
    Here { opener: Arc<Opener>, places: Arc<Semaphore> },
    /// A remote key.
    Elsewhere(Arc<dyn OpenRemote>),
}

type OpenFuture<'a> = Pin<Box<dyn Future<Output = Result<Opened, OpenError>> + Send + 'a>>;

pub(super) trait OpenRemote: Send + Sync {
    fn open<'a>(&'a self, compact: &'a str) -> OpenFuture<'a>;
}

impl<U: RemoteDecrypter + Clone> OpenRemote for Opener<U> {
    fn open<'a>(&'a self, compact: &'a str) -> OpenFuture<'a> {
        Box::pin(self.open_remote(compact))
    }
}

impl Opening {
    /// A key in memory, for at most `at_once` payloads at once.
    pub(super) fn here(opener: Opener, at_once: NonZeroUsize) -> Self {
        let places = at_once.get().min(Semaphore::MAX_PERMITS);
        Self::Here { opener: Arc::new(opener), places: Arc::new(Semaphore::new(places)) }
    }

    /// Opens a payload. `None` if the runtime is shutting down, opening panicked, or a remote key did not answer while
    /// the sender waits (Default: "Webhooks", a time-out of 15 s).
    pub(super) async fn open(&self, compact: String) -> Option<Result<Opened, OpenError>> {
        match self {
            Self::Elsewhere(opener) => {
                let opened = tokio::time::timeout(DEFAULT_TIME_OUT, opener.open(&compact)).await;
                opened.inspect_err(|_| tracing::error!("the decryption key did not answer in time")).ok()
            }
            Self::Here { opener, places } => {
                let (opener, place) = (opener.clone(), places.clone().acquire_owned().await.ok()?);
                let opening = move || {
                    let opened = opener.open(&compact);
                    drop(place);
                    opened
                };
                tokio::task::spawn_blocking(opening).await.ok()
            }
        }
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Here { .. } => "Here",
            Self::Elsewhere(_) => "Elsewhere",
        })
    }
}
