//! Why there was no answer, and what to check: from the kinds of the errors below, never from their
//! texts.

use super::ExchangeError;
use super::name::NotResolved;
use bankrail_http::tls::TlsFault;
use std::error::Error;
use std::fmt;
use std::io;

/// What a call was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallPhase {
    /// It was looking for the address of the service's name.
    Name,
    /// It was connecting.
    Connect,
    /// It was agreeing on TLS.
    Tls,
    /// It had begun to send, and the answer had not begun.
    Answer,
    /// It was reading the answer.
    Read,
}

impl fmt::Display for CallPhase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Name => "name",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Answer => "answer",
            Self::Read => "read",
        })
    }
}

pub(super) struct Diagnosis {
    pub(super) phase: CallPhase,
    pub(super) cause: &'static str,
    pub(super) advice: &'static str,
}

impl Diagnosis {
    pub(super) fn of(error: &ExchangeError) -> Self {
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
            ExchangeError::Interrupted { phase, source } => match fault_of_tls(&**source) {
                Some(fault) => Self::of_tls(fault),
                None => Self {
                    phase: *phase,
                    cause: "the connection was closed",
                    advice: "try again, or check what stands between here and the service, such as a proxy",
                },
            },
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
        if let Some(fault) = fault_of_tls(error) {
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
            _ => (
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

fn fault_of_tls(error: &(dyn Error + 'static)) -> Option<TlsFault> {
    chain(error).find_map(TlsFault::of)
}

/// The first error of this kind in the chain.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(<dyn Error>::downcast_ref)
}

/// An error and its causes. What an I/O error holds is one of them: it is not its own `source`.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let held = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        held.map(|held| held as &(dyn Error + 'static))
            .or_else(|| error.source())
    })
}
