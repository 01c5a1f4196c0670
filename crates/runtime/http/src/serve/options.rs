//! Options of a server.

use ipnet::IpNet;
use std::sync::Arc;
use std::time::Duration;

/// The longest time of an option: an instant that far away must exist.
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
        /// endpoints and receivers of this workspace have a shorter time of their own and answer
        /// 408 after it.
        pub(super) body_timeout(Duration => |longest| longest.min(LONGEST)): Duration = Duration::from_secs(30),
        /// The time that a connection may stay open since its last request with a known caller
        /// ([`KnownCaller`](crate::KnownCaller)), or since its start; other requests do not keep it
        /// open. Default: 60 s.
        pub(super) idle_timeout(Duration => |longest| longest.min(LONGEST)): Duration = Duration::from_secs(60),
        /// The time after which requests in progress are cut off at shutdown. Default: 10 s.
        pub(super) shutdown_timeout: Duration = Duration::from_secs(10),
        /// The most connections at once, at least 1. Default: 1024.
        ///
        /// When they are all taken, a new connection takes the place of another. An address is
        /// known for an hour after a request from it with a known caller
        /// ([`KnownCaller`](crate::KnownCaller)). All others are strangers. They have three
        /// quarters of the places, and never take that of a known address. For a new stranger, one
        /// of the network and the address with the most connections gives up its place. A known
        /// address takes the place of a stranger, then that of a connection that had no known
        /// caller or is idle; while there is none, it waits in the operating system's queue. If the
        /// process may not open as many files, a new connection takes the place of a stranger, or
        /// of one that had no known caller, when no file descriptor is left.
        pub(super) max_connections(usize => |connections| connections.max(1)): usize = 1024,
        /// The most connections at once from one IPv4 address, or from one IPv6 network of 64 bits;
        /// at least 1. One more takes the place of one from there that had no known caller or is
        /// idle, and is closed if there is none. Default: 256.
        pub(super) max_connections_per_address(usize => |connections| connections.max(1)): usize = 256,
        /// The networks of proxies that connections of many peers come from. They may have any
        /// number of [`ServerOptions::max_connections`], and count as known. Default: none.
        pub(super) trusted_proxies(&[IpNet] => |proxies| proxies.into()): Arc<[IpNet]> = Arc::from([]),
        /// The most bytes of a request's headers that the HTTP stack reads. What exceeds them is
        /// answered 431, over HTTP/2 without a body and without `X-RequestKey`;
        /// [`HeadBounds`](crate::HeadBounds) are lower and judged by a layer that answers with
        /// both. Default: 32 KiB.
        pub(super) max_header_bytes: u32 = 32 * 1024,
    }
}
