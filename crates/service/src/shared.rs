//! The state that both endpoints share.

use crate::api_key::ApiKeyFault;
use crate::audit::{AuditEvent, AuditOptions, AuditRecord};
use crate::issuer::Issuer;
use crate::{ApiKeyHash, CursorSecret, Customer, Directory, Ledger, ProviderOptions};
use bankrail_client_assertion::token::TokenStore;
use bankrail_client_assertion::{ReplayStore, Verifier};
use bankrail_http::names::API_KEY;
use bankrail_rate_limit::layer::{LimitRefusal, write_rate_limit};
use bankrail_rate_limit::{CallType, Decision, Limiter};
use bankrail_values::{HyphenatedUuid, StoreError, Timestamp};
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
    pub(crate) issuer: Option<Issuer>,
}

impl Shared {
    /// The customer whose API key the request has.
    pub(crate) async fn customer_of(
        &self,
        request: &HeaderMap,
    ) -> Result<Result<Arc<Customer>, ApiKeyFault>, StoreError> {
        Ok(match ApiKeyHash::of_request(request) {
            Some(key) => self.directory.customer_by_api_key(key).await?.ok_or(ApiKeyFault::Invalid),
            None if request.contains_key(API_KEY) => Err(ApiKeyFault::Invalid),
            None => Err(ApiKeyFault::Absent),
        })
    }

    /// Charges a request to a limit.
    pub(crate) async fn admit(
        &self,
        customer: &Customer,
        budget: CallType,
        now: Timestamp,
    ) -> Result<Option<Decision>, LimitRefusal> {
        self.limiter.admit(customer.code.as_str(), budget, now).await
    }

    /// Charges a request that proved nothing to the customer's budget for such requests. A request that proves right is
    /// never charged to it, so that nobody who has only the API key can shut the customer out.
    pub(crate) async fn charge_failure(
        &self,
        customer: &Customer,
        budget: CallType,
        now: Timestamp,
    ) -> Result<(), LimitRefusal> {
        self.admit(customer, budget, now).await.map(drop)
    }

    /// Records what a request is given, if there is an audit. The error of the log is returned only if the request
    /// must be refused for it; `failed` logs it in either case.
    pub(crate) async fn audit(
        &self,
        request_key: HyphenatedUuid,
        customer: &Customer,
        now: Timestamp,
        event: impl FnOnce(&AuditOptions) -> AuditEvent,
        failed: impl FnOnce(&StoreError),
    ) -> Result<(), StoreError> {
        let Some((log, options)) = &self.options.audit else { return Ok(()) };
        let record = AuditRecord::new(now, request_key, customer.code.clone(), event(options));
        let recorded = log.record(&record).await.inspect_err(failed);
        if options.continues_after_failure() { Ok(()) } else { recorded }
    }

    /// `RateLimit` and `RateLimit-Policy` where they are wanted.
    pub(crate) fn write_rate_limit(&self, decision: Option<&Decision>, out: &mut HeaderMap) {
        if let Some(decision) = decision.filter(|_| self.options.rate_limit_headers) {
            write_rate_limit(decision, out);
        }
    }
}

/// What a refusal of the limits says to the provider's own people.
pub(crate) fn limit_detail(refusal: &LimitRefusal) -> Option<String> {
    match refusal {
        LimitRefusal::Exceeded(decision) => {
            let seconds = decision.retry_after_seconds()?;
            Some(format!("rate limit exceeded, allowed again in {seconds} s"))
        }
        LimitRefusal::Unreachable(error) => Some(error.kind().to_string()),
        _ => None,
    }
}
