//! Sources of pages.

use crate::{CallError, StatementClient, StatementPage};
use bankrail_rate_limit::Window;
use bankrail_statement::StatementRequest;
use bankrail_values::Timestamp;
use std::future::Future;
use std::pin::Pin;

/// The future of [`PageSource::page`].
pub type PageFuture<'a> =
    Pin<Box<dyn Future<Output = Result<StatementPage, CallError>> + Send + 'a>>;

/// The source of a [`Poller`](super::Poller)'s pages: the statement endpoint, or an archive
/// ([`Replay`](crate::Replay)).
#[diagnostic::on_unimplemented(
    message = "`{Self}` gives no pages of statements",
    label = "not a `PageSource`",
    note = "pass `client.statements()` of a `Client`, or a reference to a `Replay` of an archive"
)]
pub trait PageSource: Send + Sync {
    /// Gets the page that a request asks for. Entries that cannot be read do not refuse it: they
    /// are its [`StatementPage::unread`].
    fn page<'a>(&'a self, request: &'a StatementRequest) -> PageFuture<'a>;

    /// Returns the time by the source's clock, which is the poller's.
    fn now(&self) -> Timestamp;

    /// Returns the limit of calls in an hour, for all accounts or for each; `None` without a limit.
    fn calls_an_hour(&self) -> Option<usize>;

    /// Returns true if each account has its own limit of calls. Default: false.
    fn counts_each_account(&self) -> bool {
        false
    }
}

impl PageSource for StatementClient {
    fn page<'a>(&'a self, request: &'a StatementRequest) -> PageFuture<'a> {
        Box::pin(self.page_or(request, CallError::readable))
    }

    fn now(&self) -> Timestamp {
        StatementClient::now(self)
    }

    /// Returns the limit of
    /// [`ClientOptions::statement_limits`](crate::ClientOptions::statement_limits).
    fn calls_an_hour(&self) -> Option<usize> {
        let of_an_hour = |window: &Window| {
            let millis = u64::try_from(window.length().as_millis())
                // More calls than 64 bits count are no limit.
                .unwrap_or(u64::MAX)
                .max(1);
            u64::from(window.limit()).saturating_mul(3_600_000) / millis
        };
        let calls = self
            .caller()
            .pacer
            .policy()
            .windows()
            .iter()
            .map(of_an_hour)
            .min()?;
        // On a machine of 32 bits more calls saturate, which is as good as no limit.
        Some(usize::try_from(calls).unwrap_or(usize::MAX))
    }

    /// Returns [`ClientOptions::limit_per_account`](crate::ClientOptions::limit_per_account).
    fn counts_each_account(&self) -> bool {
        self.counts_apart()
    }
}
