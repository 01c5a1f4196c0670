//! Where pages come from.

use crate::{StatementClient, StatementError, StatementPage};
use bankrail_statement::StatementRequest;
use bankrail_values::Timestamp;
use std::future::Future;
use std::pin::Pin;

/// A page that is being fetched.
pub type PageFuture<'a> = Pin<Box<dyn Future<Output = Result<StatementPage, StatementError>> + Send + 'a>>;

/// Where a [`Poller`](super::Poller) gets pages from: the statement endpoint, or an archive
/// ([`Replay`](crate::Replay)).
pub trait PageSource: Send + Sync {
    /// Gets the page that a request asks for.
    fn page<'a>(&'a self, request: &'a StatementRequest) -> PageFuture<'a>;

    /// The time by the source's clock, by which the poller polls.
    fn now(&self) -> Timestamp;
}

impl PageSource for StatementClient {
    fn page<'a>(&'a self, request: &'a StatementRequest) -> PageFuture<'a> {
        Box::pin(StatementClient::page(self, request))
    }

    fn now(&self) -> Timestamp {
        StatementClient::now(self)
    }
}
