//! Options of a server.

use std::time::Duration;

/// The longest time of an option: an instant that far away must exist.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Options of a [`Server`](super::Server): the times and amounts that a peer may take. A time of more than 365 days
/// counts as 365 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    pub(super) header_timeout: Duration,
    pub(super) body_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) request_timeout: Duration,
    pub(super) shutdown_timeout: Duration,
    pub(super) max_connections: usize,
    pub(super) max_requests: u32,
    pub(super) max_header_bytes: u32,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(60),
            request_timeout: Duration::from_secs(60),
            shutdown_timeout: Duration::from_secs(10),
            max_connections: 1024,
            max_requests: 64,
            max_header_bytes: 32 * 1024,
        }
    }
}

impl ServerOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How long each of these may take: the TLS handshake, the headers of the first request from the connection's
    /// start, and over HTTP/1.1 the headers of a later one from their first byte. Over HTTP/2 the headers of a later
    /// one may take [`ServerOptions::idle_timeout`], or the time of the requests in progress. Default: 10 s.
    #[must_use]
    pub fn header_timeout(mut self, longest: Duration) -> Self {
        self.header_timeout = longest.min(LONGEST);
        self
    }

    /// How long a request's body may take to arrive, from the end of its headers. Then reading it fails with
    /// [`RequestBodyError::TimedOut`](super::RequestBodyError::TimedOut). Default: 30 s; the endpoints and receivers of
    /// this workspace have a shorter time of their own and answer 408 after it.
    #[must_use]
    pub fn body_timeout(mut self, longest: Duration) -> Self {
        self.body_timeout = longest.min(LONGEST);
        self
    }

    /// How long a connection may stay open without a request. Default: 60 s.
    #[must_use]
    pub fn idle_timeout(mut self, longest: Duration) -> Self {
        self.idle_timeout = longest.min(LONGEST);
        self
    }

    /// How long a request may take from the end of its headers to the last byte of its answer. A service that has not
    /// answered by then is dropped and the answer is 503; a peer that does not read its answer loses the connection.
    /// Default: 60 s.
    #[must_use]
    pub fn request_timeout(mut self, longest: Duration) -> Self {
        self.request_timeout = longest.min(LONGEST);
        self
    }

    /// How long requests in progress may take at shutdown before they are cut off. Default: 10 s.
    #[must_use]
    pub fn shutdown_timeout(mut self, longest: Duration) -> Self {
        self.shutdown_timeout = longest;
        self
    }

    /// The most connections at once, at least 1. Further ones wait in the operating system's queue. Default: 1024.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.max(1);
        self
    }

    /// The most requests at once of one HTTP/2 connection, at least 1. Default: 64.
    #[must_use]
    pub fn max_requests(mut self, requests: u32) -> Self {
        self.max_requests = requests.max(1);
        self
    }

    /// The most bytes of a request's headers that the HTTP stack takes. What exceeds them is answered without a body
    /// and without `X-RequestKey`; [`HeadBounds`](crate::HeadBounds) are lower and judged by a layer that answers with
    /// both. Default: 32 KiB.
    #[must_use]
    pub fn max_header_bytes(mut self, bytes: u32) -> Self {
        self.max_header_bytes = bytes;
        self
    }
}
