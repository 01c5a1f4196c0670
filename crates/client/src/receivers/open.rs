//! Opening payloads without holding up the asynchronous threads.

use super::crew::Crew;
use bankrail_jose::remote::RemoteUnwrapper;
use bankrail_secured_payload::{OpenError, Opened, Opener};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Who decrypts.
#[derive(Clone)]
pub(super) enum Opening {
    /// A key in memory. The private-key operation takes most of a millisecond of one core.
    Here { opener: Arc<Opener>, crew: Arc<Crew> },
    /// A key behind I/O.
    Elsewhere(Arc<dyn OpenRemote>),
}

type OpenFuture<'a> = Pin<Box<dyn Future<Output = Result<Opened, OpenError>> + Send + 'a>>;

pub(super) trait OpenRemote: Send + Sync {
    fn open<'a>(&'a self, compact: &'a str) -> OpenFuture<'a>;
}

impl<U: RemoteUnwrapper + Clone> OpenRemote for Opener<U> {
    fn open<'a>(&'a self, compact: &'a str) -> OpenFuture<'a> {
        Box::pin(self.open_remote(compact))
    }
}

impl Opening {
    /// `None`: the runtime is shutting down, or opening panicked.
    pub(super) async fn open(&self, compact: String) -> Option<Result<Opened, OpenError>> {
        match self {
            Self::Elsewhere(opener) => Some(opener.open(&compact).await),
            Self::Here { opener, crew } => {
                let opener = opener.clone();
                crew.run(move || opener.open(&compact)).await
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
