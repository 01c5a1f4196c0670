//! Where pages come from.

use crate::{StatementClient, StatementError, StatementPage};
use bankrail_statement::StatementRequest;
use bankrail_values::Timestamp;
use std::future::Future;
use std::pin::Pin;

pub(super) type Fetching<'a> = Pin<Box<dyn Future<Output = Result<StatementPage, StatementError>> + Send + 'a>>;

/// The statement endpoint, and the clock of its client.
pub(super) trait Source: Send + Sync {
    fn page<'a>(&'a self, request: &'a StatementRequest) -> Fetching<'a>;

    fn now(&self) -> Timestamp;
}

impl Source for StatementClient {
    fn page<'a>(&'a self, request: &'a StatementRequest) -> Fetching<'a> {
        Box::pin(StatementClient::page(self, request))
    }

    fn now(&self) -> Timestamp {
        StatementClient::now(self)
    }
}
