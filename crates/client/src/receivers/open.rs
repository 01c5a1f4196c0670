//! Opening payloads without blocking the asynchronous threads.

use bankrail_http::CpuPool;
use bankrail_jose::remote::RemoteDecrypter;
use bankrail_mailbox::DEFAULT_TIME_OUT;
use bankrail_secured_payload::{MalformedMessageError, OpenError, Opened, Opener, unverified_kid};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// How payloads are opened.
#[derive(Clone)]
pub(super) enum Opening {
    /// A key in memory. The private-key operation takes most of a millisecond of one core.
    Here { opener: Arc<Opener>, pool: CpuPool },
    /// A remote key.
    Elsewhere(Arc<dyn OpenRemote>),
}

/// A payload that was not opened.
pub(super) struct Unopened {
    pub(super) error: OpenError,
    /// The `kid` of the payload's header, not verified, cut and escaped.
    pub(super) kid: Option<String>,
}

impl Unopened {
    /// The reason for the log, without the text of any header but a `kid`.
    pub(super) fn reason(&self) -> String {
        match &self.error {
            OpenError::UnsupportedHeader(header) | OpenError::Malformed(MalformedMessageError::Header(header)) => {
                header.member().map_or_else(|| "header".to_owned(), |name| format!("header member {name}"))
            }
            // With the payload's own names.
            OpenError::PayloadInvalid(_) => "the signed message is not acceptable JSON".to_owned(),
            other => other.to_string(),
        }
    }
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
    /// A key in memory.
    pub(super) fn here(opener: Opener, pool: CpuPool) -> Self {
        Self::Here { opener: Arc::new(opener), pool }
    }

    /// Opens a payload. `None` if the runtime is shutting down, opening panicked, or a remote key did not answer while
    /// the sender waits (Default: "Webhooks", a time-out of 15 s).
    pub(super) async fn open(&self, compact: String) -> Option<Result<Opened, Unopened>> {
        match self {
            Self::Elsewhere(opener) => {
                let opened = tokio::time::timeout(DEFAULT_TIME_OUT, opener.open(&compact)).await;
                let opened =
                    opened.inspect_err(|_| tracing::error!("the decryption key did not answer in time")).ok()?;
                Some(opened.map_err(|error| Unopened { error, kid: unverified_kid(&compact) }))
            }
            Self::Here { opener, pool } => {
                let opener = opener.clone();
                let opening =
                    move || opener.open(&compact).map_err(|error| Unopened { error, kid: unverified_kid(&compact) });
                pool.run(opening).await
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
