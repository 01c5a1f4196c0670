//! Opening payloads without blocking the asynchronous threads.

use super::delivery::{Read, Sealed};
use super::refusal::Refusal;
use bankrail_http::CpuPool;
use bankrail_jose::remote::RemoteDecrypter;
use bankrail_mailbox::{DEFAULT_TIME_OUT, Inbox};
use bankrail_secured_payload::{MalformedMessageError, OpenError, Opened, Opener, unverified_kid};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// How payloads are opened, and the threads on which they are opened and read.
#[derive(Clone)]
pub(super) struct Opening {
    pub(super) pool: CpuPool,
    pub(super) key: OpeningKey,
}

/// The keys that open payloads.
#[derive(Clone)]
pub(super) enum OpeningKey {
    /// In memory. The private-key operation takes most of a millisecond of one core.
    Here(Arc<Opener>),
    Remote(Arc<dyn OpenRemote>),
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
            OpenError::UnsupportedHeader(header)
            | OpenError::Malformed(MalformedMessageError::Header(header)) => {
                header.member().map_or_else(
                    || "header".to_owned(),
                    |name| format!("header member {name}"),
                )
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
    /// Opens and reads a delivery. [`Refusal::NoAnswer`] if the runtime is shutting down, opening
    /// panicked, or a remote key did not answer while the sender waits (Default: "Webhooks", a
    /// time-out of 15 s).
    pub(super) async fn open<I: Inbox + ?Sized + 'static>(
        &self,
        sealed: &Arc<Sealed<I>>,
    ) -> Result<Read, Refusal> {
        let own = Arc::clone(sealed);
        let opener = match &self.key {
            OpeningKey::Here(opener) => {
                let opener = Arc::clone(opener);
                return self
                    .pool
                    .run(move || own.open(&opener))
                    .await
                    .unwrap_or(Err(Refusal::NoAnswer));
            }
            OpeningKey::Remote(opener) => opener,
        };
        let compact = self
            .pool
            .run(move || own.compact())
            .await
            .ok_or(Refusal::NoAnswer)??;
        let opened = tokio::time::timeout(DEFAULT_TIME_OUT, opener.open(&compact)).await;
        let opened = opened.map_err(|_| Refusal::NoAnswer)?;
        let opened = opened.map_err(|error| {
            Refusal::NotOpened(Unopened {
                error,
                kid: unverified_kid(&compact),
            })
        })?;
        let own = Arc::clone(sealed);
        self.pool
            .run(move || own.read(opened))
            .await
            .unwrap_or(Err(Refusal::NoAnswer))
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.key {
            OpeningKey::Here(_) => "Here",
            OpeningKey::Remote(_) => "Remote",
        })
    }
}
