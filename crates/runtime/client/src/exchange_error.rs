//! Errors of an HTTP exchange, each with the cause and advice. Both follow from the kinds of the
//! source errors, never from their texts.

use bankrail_http::__private::BodyError;
use bankrail_http::tls::{TlsFault, error_chain};
use http::StatusCode;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A cause that is shared, because several callers get the same failure.
pub(crate) type Cause = Arc<dyn Error + Send + Sync>;

/// Makes a shared cause out of an error.
pub(crate) fn cause(error: impl Into<Box<dyn Error + Send + Sync>>) -> Cause {
    Arc::from(error.into())
}

/// The error of an exchange without a complete answer. No variant and no cause shows an address, a
/// header or a body.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The service was not reached, and nothing was sent.
    #[error("the service was not reached")]
    Connect(#[source] Arc<dyn Error + Send + Sync>),
    /// There was no complete answer within the time allowed. The service may have counted and
    /// answered the call.
    #[error("no complete answer within {after:?}")]
    #[non_exhaustive]
    TimedOut {
        /// The time allowed.
        after: Duration,
        /// The part of the call: waiting for the answer, or reading it.
        phase: CallPhase,
    },
    /// The connection broke after sending had started. The service may have counted the call.
    #[error("no complete answer: the connection broke off")]
    #[non_exhaustive]
    Interrupted {
        /// The part of the call: waiting for the answer, or reading it.
        phase: CallPhase,
        /// The error of the connection.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The answer is larger than allowed. The part that was read is dropped.
    #[error("expected at most {limit} bytes, found more in an answer with status {status}")]
    #[non_exhaustive]
    TooLarge {
        /// The maximum number of bytes allowed.
        limit: usize,
        /// The HTTP status of the answer.
        status: u16,
    },
}

impl ExchangeError {
    pub(crate) fn from_send(error: reqwest::Error) -> Self {
        let connect = error.is_connect();
        let source = cause(error.without_url());
        if connect {
            Self::Connect(source)
        } else {
            Self::Interrupted {
                phase: CallPhase::Answer,
                source,
            }
        }
    }

    pub(crate) fn from_body(error: BodyError, status: StatusCode) -> Self {
        match error {
            BodyError::TooLarge { limit } => Self::TooLarge {
                limit,
                status: status.as_u16(),
            },
            BodyError::TimedOut { after } => Self::TimedOut {
                after,
                phase: CallPhase::Read,
            },
            BodyError::Broken(source) => Self::unread(match source.downcast::<reqwest::Error>() {
                Ok(error) => cause(error.without_url()),
                Err(other) => cause(other),
            }),
            other => Self::unread(cause(other)),
        }
    }

    fn unread(source: Cause) -> Self {
        Self::Interrupted {
            phase: CallPhase::Read,
            source,
        }
    }

    /// Returns true if the same call can succeed later without a change on this side.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        !matches!(self, Self::TooLarge { .. })
    }

    /// Returns the part of the call that failed.
    #[must_use]
    pub fn phase(&self) -> CallPhase {
        Diagnosis::of(self).phase
    }

    /// Returns the cause of the failure as a text of this crate, without a text of the peer or an
    /// address.
    #[must_use]
    pub fn cause(&self) -> &'static str {
        Diagnosis::of(self).cause
    }

    /// Returns advice on what to check, for the operator of this side.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        Diagnosis::of(self).advice
    }
}

/// The part of a call in which it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum CallPhase {
    /// The name of the service was being resolved.
    Name,
    /// The connection was being made.
    Connect,
    /// TLS was being negotiated.
    Tls,
    /// The request was being sent, and the answer had not begun.
    Answer,
    /// The answer was being read.
    Read,
}

/// The phase of a failure, its cause, and what to check.
struct Diagnosis {
    phase: CallPhase,
    cause: &'static str,
    advice: &'static str,
}

impl Diagnosis {
    fn of(error: &ExchangeError) -> Self {
        let is_slow = "check whether the service is overloaded, or allow more time";
        match error {
            ExchangeError::Connect(source) => Self::of_connecting(&**source),
            ExchangeError::TimedOut {
                phase: CallPhase::Read,
                ..
            } => Self {
                phase: CallPhase::Read,
                cause: "the answer stopped half way",
                advice: is_slow,
            },
            ExchangeError::TimedOut { phase, .. } => Self {
                phase: *phase,
                cause: "no answer in time",
                advice: is_slow,
            },
            ExchangeError::Interrupted { phase, source } => {
                let found = TlsFault::within(&**source).or_else(|| refused_late(*phase, &**source));
                found.map_or(
                    Self {
                        phase: *phase,
                        cause: "the connection was closed",
                        advice: "try again, or check what stands between here and the service, such as a proxy",
                    },
                    Self::of_tls,
                )
            }
            ExchangeError::TooLarge { .. } => Self {
                phase: CallPhase::Read,
                cause: "the answer is larger than allowed",
                advice: "check the address, or allow more bytes",
            },
        }
    }

    fn of_connecting(error: &(dyn Error + 'static)) -> Self {
        if find::<NotResolved>(error).is_some() {
            return Self {
                phase: CallPhase::Name,
                cause: "the name of the service is not known",
                advice: "check the name in the address, or that of the proxy, and the name server of this machine",
            };
        }
        if let Some(fault) = TlsFault::within(error) {
            return Self::of_tls(fault);
        }
        let timed_out = find::<reqwest::Error>(error).is_some_and(reqwest::Error::is_timeout);
        let (cause, advice) = match find::<io::Error>(error).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => (
                "the connection was refused",
                "check that the service runs, and its address and port, or those of the proxy",
            ),
            Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => (
                "there is no way to the service",
                "check the network of this machine, and the address",
            ),
            kind if timed_out || kind == Some(io::ErrorKind::TimedOut) => (
                "no answer to connecting",
                "check address, port and firewall, and whether calls need a proxy",
            ),
            // A proxy's refusal is no error of the operating system, and its type is private.
            None => (
                "the connection failed, as when a proxy refuses it",
                "check whether calls need a proxy, and whether it takes the user name and the password and lets calls to the service through",
            ),
            Some(_) => (
                "the connection failed",
                "check the address, the network, and the proxy if calls need one",
            ),
        };
        Self {
            phase: CallPhase::Connect,
            cause,
            advice,
        }
    }

    fn of_tls(fault: TlsFault) -> Self {
        Self {
            phase: CallPhase::Tls,
            cause: fault.cause(),
            advice: fault.advice(),
        }
    }
}

/// Returns the fault of a server that refuses the client's certificate. In TLS 1.3 the refusal
/// follows the handshake, and HTTP/2 preserves only the kind and the text of the error.
fn refused_late(phase: CallPhase, error: &(dyn Error + 'static)) -> Option<TlsFault> {
    let is_tls = find::<io::Error>(error)?.kind() == io::ErrorKind::InvalidData;
    (phase == CallPhase::Answer && is_tls).then_some(TlsFault::Refused)
}

/// Returns the first error of this kind in the chain.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    error_chain(error).find_map(<dyn Error>::downcast_ref)
}

/// The error of a name that the operating system does not resolve.
#[derive(Debug, thiserror::Error)]
#[error("the name was not resolved")]
pub(crate) struct NotResolved(#[source] pub(crate) io::Error);
