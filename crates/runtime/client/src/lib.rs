#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

#[cfg(not(any(feature = "aws-lc", feature = "josekit")))]
compile_error!(
    "bankrail-client needs an RSA back end: switch on its feature `aws-lc` or `josekit`"
);

#[cfg(feature = "statement")]
mod answer_form;
#[cfg(any(feature = "statement", feature = "receivers"))]
mod archive;
#[cfg(feature = "statement")]
mod call_error;
#[cfg(feature = "statement")]
mod client;
#[cfg(feature = "connection")]
pub mod connection;
#[cfg(any(feature = "statement", feature = "jwks-url"))]
mod exchange_error;
#[cfg(any(feature = "statement", feature = "receivers"))]
mod handling;
#[cfg(any(feature = "statement", feature = "jwks-url"))]
mod http_client;
#[cfg(any(feature = "statement", feature = "receivers"))]
mod measure;
#[cfg(feature = "statement")]
mod pace;
#[cfg(feature = "statement")]
mod pacer;
#[cfg(feature = "statement")]
mod poller;
#[cfg(feature = "receivers")]
pub mod receivers;
#[cfg(any(feature = "statement", feature = "receivers"))]
mod sealing;
#[cfg(feature = "simulation")]
#[doc(hidden)]
pub mod simulation;
#[cfg(feature = "statement")]
mod statement;
#[cfg(feature = "statement")]
mod token;
#[cfg(feature = "statement")]
mod transport;

#[cfg(feature = "statement")]
pub use answer_form::AnswerForm;
#[cfg(any(feature = "statement", feature = "receivers"))]
pub use archive::{Archive, ArchiveOptions, Archived};
#[cfg(feature = "statement")]
pub use archive::{ImportError, Imported, Replay};
#[cfg(any(feature = "statement", feature = "jwks-url"))]
pub use bankrail_http::tls::{ClientCertificate, TlsError, TlsRoots};
#[cfg(any(feature = "statement", feature = "jwks-url"))]
pub use bankrail_http::{AddressError, AddressErrorKind, Proxy, ProxyError};
#[cfg(any(feature = "statement", feature = "receivers"))]
pub use bankrail_http::{SecretError, SecretFileError};
#[cfg(feature = "statement")]
pub use bankrail_mailbox::Schedule;
#[cfg(feature = "statement")]
pub use call_error::{Call, CallError, CallErrorKind, UnreadablePayload};
#[cfg(feature = "statement")]
pub use client::{Client, ClientOptions, ClientOptionsError, Credentials, Probe, ProbeStep};
#[cfg(feature = "connection")]
pub use connection::{Connection, ConnectionError, ReceiverConnection};
#[cfg(any(feature = "statement", feature = "jwks-url"))]
pub use exchange_error::{CallPhase, ExchangeError};
#[cfg(any(feature = "statement", feature = "jwks-url"))]
pub use http_client::HttpClientError;
#[cfg(feature = "statement")]
pub use pacer::{PaceError, Pacer, PacerOptions, Pacing, Permit};
#[cfg(feature = "statement")]
pub use poller::{
    AccountState, AccountStatus, Addition, CallFailure, LedgerChange, Movement, MovementError,
    NewEntries, NewEntriesHandler, NewEntry, PageFuture, PageSource, PollError, PolledAccount,
    Poller, PollerCheckError, PollerOptions, Removal, TransactionalNewEntriesHandler, WaitReason,
};
#[cfg(any(feature = "statement", feature = "receivers"))]
pub use sealing::SealingSecret;
#[cfg(feature = "statement")]
pub use statement::{FetchedPage, Pages, Statement, StatementClient, StatementPage};
#[cfg(feature = "statement")]
pub use token::{Token, TokenSource};
