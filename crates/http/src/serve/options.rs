//! Options of a server.

use std::time::Duration;

/// The longest time of an option: an instant that far away must exist.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

bankrail_values::options! {
    /// Options of a [`Server`](super::Server): the times and amounts that a peer may take. A time of more than 365 days
    /// counts as 365 days.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ServerOptions {
        /// How long each of these may take: the TLS handshake, the headers of the first request from the connection's
        /// start, and over HTTP/1.1 the headers of a later one from their first byte. Over HTTP/2 the headers of a
        /// later one may take [`ServerOptions::idle_timeout`], or the time of the requests in progress. Default: 10 s.
        pub(super) header_timeout(Duration => |longest| longest.min(LONGEST)): Duration = Duration::from_secs(10),
        /// How long a request's body may take to arrive, from the end of its headers. Then reading it fails with
        /// [`RequestBodyError::TimedOut`](super::RequestBodyError::TimedOut). Default: 30 s; the endpoints and
        /// receivers of this workspace have a shorter time of their own and answer 408 after it.
        pub(super) body_timeout(Duration => |longest| longest.min(LONGEST)): Duration = Duration::from_secs(30),
        /// How long a connection may stay open without a request. Default: 60 s.
        pub(super) idle_timeout(Duration => |longest| longest.min(LONGEST)): Duration = Duration::from_secs(60),
        /// How long a request may take from the end of its headers to the last byte of its answer. A service that has
        /// not answered by then is dropped and the answer is 503; a peer that does not read its answer loses the
        /// connection. Default: 60 s.
        pub(super) request_timeout(Duration => |longest| longest.min(LONGEST)): Duration = Duration::from_secs(60),
        /// How long requests in progress may take at shutdown before they are cut off. Default: 10 s.
        pub(super) shutdown_timeout: Duration = Duration::from_secs(10),
        /// The most connections at once, at least 1. Further ones wait in the operating system's queue. Default: 1024.
        pub(super) max_connections(usize => |connections| connections.max(1)): usize = 1024,
        /// The most requests at once of one HTTP/2 connection, at least 1. Default: 64.
        pub(super) max_requests(u32 => |requests| requests.max(1)): u32 = 64,
        /// The most bytes of a request's headers that the HTTP stack takes. What exceeds them is answered without a
        /// body and without `X-RequestKey`; [`HeadBounds`](crate::HeadBounds) are lower and judged by a layer that
        /// answers with both. Default: 32 KiB.
        pub(super) max_header_bytes: u32 = 32 * 1024,
    }
}
