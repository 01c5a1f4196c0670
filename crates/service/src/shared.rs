//! The state that both endpoints share.

use crate::{ApiKeyHash, CursorSecret, Customer, Directory, Ledger, ProviderOptions};
use bankrail_client_assertion::token::TokenStore;
use bankrail_client_assertion::{ReplayStore, Verifier};
use bankrail_rate_limit::layer::write_rate_limit;
use bankrail_rate_limit::{Decision, Limiter};
use bankrail_values::StoreError;
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
    /// The customer whose API key the request has.
    pub(crate) async fn customer_of(&self, request: &HeaderMap) -> Result<Option<Arc<Customer>>, StoreError> {
        match ApiKeyHash::of_request(request) {
            Some(key) => self.directory.customer_by_api_key(key).await,
            None => Ok(None),
        }
    }

    /// `RateLimit` and `RateLimit-Policy` where they are wanted.
    pub(crate) fn write_rate_limit(&self, decision: Option<&Decision>, out: &mut HeaderMap) {
        if let Some(decision) = decision.filter(|_| self.options.rate_limit_headers) {
            write_rate_limit(decision, out);
        }
    }
}
