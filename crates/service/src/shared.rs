//! The state that both endpoints share.

use crate::{CursorSecret, Directory, Ledger, ProviderOptions};
use bankrail_client_assertion::token::TokenStore;
use bankrail_client_assertion::{ReplayStore, Verifier};
use bankrail_rate_limit::layer::write_rate_limit;
use bankrail_rate_limit::{Decision, Limiter};
use http::HeaderMap;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    pub(crate) replay: Arc<dyn ReplayStore>,
    pub(crate) verifier: Verifier,
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) cursors: CursorSecret,
    pub(crate) options: ProviderOptions,
}

impl Shared {
    /// Writes `RateLimit` and `RateLimit-Policy` if the options ask for them.
    pub(crate) fn write_rate_limit(&self, decision: Option<&Decision>, out: &mut HeaderMap) {
        if let Some(decision) = decision.filter(|_| self.options.rate_limit_headers) {
            write_rate_limit(decision, out);
        }
    }
}
