//! Options of a server.

use ipnet::IpNet;
use std::sync::Arc;
use std::time::Duration;

/// The longest time of an option, so that `Instant + time` cannot overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

bankrail_values::options! {
    /// Options of a [`Server`](super::Server): the times and amounts that a peer may take. A time
    /// of more than 365 days counts as 365 days.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ServerOptions {
        /// The maximum time of each of these: the TLS handshake, the headers of the first request
        /// from the connection's start, and over HTTP/1.1 the headers of a later one from their
        /// first byte. Over HTTP/2 the headers of a later one may take
        /// [`ServerOptions::idle_timeout`], or the time of the requests in progress. Default: 10 s.
        pub(super) header_timeout(Duration => |longest| longest.min(LONGEST)): Duration = Duration::from_secs(10),
        /// The maximum time in which a request's body has to arrive, from the end of its headers.
        /// After it, reading fails with
        /// [`RequestBodyError::TimedOut`](super::RequestBodyError::TimedOut). Default: 30 s; the
        /// endpoints and receivers of this workspace have a shorter time and answer 408 after it.
        pub(super) body_timeout(Duration => |longest| longest.min(LONGEST)): Duration = Duration::from_secs(30),
        /// The time that a connection may stay open since its last request with a known caller
        /// ([`KnownCaller`](crate::KnownCaller)), or since its start; other requests do not keep it
        /// open. Default: 60 s.
        pub(super) idle_timeout(Duration => |longest| longest.min(LONGEST)): Duration = Duration::from_secs(60),
        /// The time after which requests in progress are cut off at shutdown. Default: 10 s.
        pub(super) shutdown_timeout: Duration = Duration::from_secs(10),
        /// The maximum number of connections at once, at least 1. Default: 1024. A server that
        /// starts in a process which may not open as many files has fewer: an eighth of its limit
        /// (`ulimit -n`) and 16 more are left for other files.
        ///
        /// When all places are taken, a new connection takes the place of another. An address is
        /// known for an hour after a request from it with a known caller
        /// ([`KnownCaller`](crate::KnownCaller)), which an API key alone is not. All others are
        /// strangers. They have at least a quarter of the places and at most three quarters, and
        /// take no place of a request with a known caller. For a new stranger, a connection of a
        /// caller with more than a quarter of the places is evicted, or else one of the network and
        /// the address with the most connections. For a known address, a stranger beyond the
        /// strangers' quarter is evicted, or else a connection that had no known caller or has none
        /// now; if there is none, the new connection waits in the operating system's queue. The
        /// connections with one caller's API key have at most half of the places, and as many
        /// requests under way (64 if that is more), except from [`ServerOptions::trusted_proxies`].
        /// For one more, another of them is evicted. If no file descriptor is left, a new
        /// connection takes the place of a stranger, or of one that had no known caller.
        pub(super) max_connections(usize => |connections| connections.max(1)): usize = 1024,
        /// The maximum number of connections at once from one IPv4 address, or from one IPv6
        /// network of 64 bits; at least 1. One more takes the place of a connection from there that
        /// had no known caller or has none now; if there is no such connection, the new one is
        /// closed. Default: 256.
        pub(super) max_connections_per_address(usize => |connections| connections.max(1)): usize = 256,
        /// The networks of proxies through which many peers connect. A proxy may have any number of
        /// [`ServerOptions::max_connections`], and counts as known. Default: none.
        pub(super) trusted_proxies(&[IpNet] => |proxies| proxies.into()): Arc<[IpNet]> = Arc::from([]),
        /// The maximum number of bytes of a request's headers that the HTTP stack reads. A request
        /// beyond them is answered 431, over HTTP/2 without a body and without `X-RequestKey`;
        /// [`HeadBounds`](crate::HeadBounds) are lower, and their layer answers with both. Default:
        /// 32 KiB.
        pub(super) max_header_bytes: u32 = 32 * 1024,
    }
}

impl ServerOptions {
    /// Lowers the maximum number of connections to fewer than the files that the process may open.
    pub(super) fn within_descriptors(mut self) -> Self {
        #[cfg(unix)]
        if let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
            let most = connections_within(limit);
            if most < self.max_connections {
                tracing::info!(
                    max_connections = self.max_connections,
                    connections = most,
                    files = limit,
                    "fewer connections at once, because of the limit of open files (ulimit -n)"
                );
                self.max_connections = most;
            }
        }
        self
    }
}

/// Returns the maximum number of connections for a limit of open files, some of which are left for
/// other files.
#[cfg(unix)]
fn connections_within(limit: u64) -> usize {
    let left = limit.saturating_sub(limit / 8 + 16).max(1);
    usize::try_from(left).unwrap_or(usize::MAX)
}

#[cfg(all(test, unix))]
mod tests {
    #[test]
    fn a_process_with_few_descriptors_keeps_some_for_other_files() {
        for (limit, expected) in [
            (0, 1),
            (16, 1),
            (24, 5),
            (64, 40),
            (1024, 880),
            (2048, 1776),
        ] {
            assert_eq!(super::connections_within(limit), expected, "{limit}");
        }
    }
}
