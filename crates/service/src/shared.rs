//! The state that both endpoints share.

use crate::{ApiKeyHash, CursorSecret, Customer, Directory, Ledger, ProviderOptions};
use bankrail_client_assertion::token::TokenStore;
use bankrail_client_assertion::{ReplayStore, Verifier};
use bankrail_rate_limit::layer::{LimitRefusal, write_rate_limit};
use bankrail_rate_limit::{CallType, Decision, Limiter};
use bankrail_values::{StoreError, Timestamp};
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

    /// Charges a request that proved nothing to the customer's budget for such requests. A request that proves right is
    /// never charged to it, so that nobody who has only the API key can shut the customer out.
    pub(crate) async fn charge_failure(
        &self,
        customer: &Customer,
        budget: CallType,
        now: Timestamp,
    ) -> Result<(), LimitRefusal> {
        self.limiter.admit(customer.code.as_str(), budget, now).await.map(drop)
    }

    /// `RateLimit` and `RateLimit-Policy` where they are wanted.
    pub(crate) fn write_rate_limit(&self, decision: Option<&Decision>, out: &mut HeaderMap) {
        if let Some(decision) = decision.filter(|_| self.options.rate_limit_headers) {
            write_rate_limit(decision, out);
        }
    }
}
