//! Opening payloads without holding up the asynchronous threads.

use bankrail_jose::remote::RemoteUnwrapper;
use bankrail_secured_payload::{OpenError, Opened, Opener};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Who decrypts.
#[derive(Clone)]
pub(super) enum Opening {
    /// A key in memory. The private-key operation takes most of a millisecond of one core.
    Here { opener: Arc<Opener>, cores: Arc<Semaphore> },
    /// A key behind I/O.
    Elsewhere(Arc<dyn OpenRemote>),
}

type OpenFuture<'a> = Pin<Box<dyn Future<Output = Result<Opened, OpenError>> + Send + 'a>>;

pub(super) trait OpenRemote: Send + Sync {
    fn open<'a>(&'a self, compact: &'a str) -> OpenFuture<'a>;
}

impl<U: RemoteUnwrapper> OpenRemote for Opener<U> {
    fn open<'a>(&'a self, compact: &'a str) -> OpenFuture<'a> {
        Box::pin(self.open_remote(compact))
    }
}

impl Opening {
    /// `None`: the runtime is shutting down, or opening panicked.
    pub(super) async fn open(&self, compact: String) -> Option<Result<Opened, OpenError>> {
        match self {
            Self::Elsewhere(opener) => Some(opener.open(&compact).await),
            Self::Here { opener, cores } => {
                let core = cores.clone().acquire_owned().await.ok()?;
                let opener = opener.clone();
                // The permit goes along: a sender that hangs up frees no core before the work on it is done.
                let work = tokio::task::spawn_blocking(move || {
                    let opened = opener.open(&compact);
                    drop(core);
                    opened
                });
                work.await.ok()
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
