//! The state that both endpoints share.

use super::api_key::ApiKeyFault;
use super::issuer::Issuer;
use super::refusal::Refusal;
use crate::{ApiKeyHash, CursorSecret, Customer, Directory, Ledger, ProviderOptions, ReportDay};
use bankrail_client_assertion::Verifier;
use bankrail_client_assertion::token::TokenStore;
use bankrail_http::names::API_KEY;
use bankrail_rate_limit::Limiter;
use http::HeaderMap;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    pub(crate) verifier: Verifier,
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) cursors: CursorSecret,
    pub(crate) options: ProviderOptions,
    pub(crate) issuer: Option<Issuer>,
    pub(crate) report_day: ReportDay,
}

impl Shared {
    /// Returns the customer whose API key the request has.
    pub(crate) async fn customer_of(&self, request: &HeaderMap) -> Result<Arc<Customer>, Refusal> {
        let fault = match ApiKeyHash::of_request(request) {
            Some(key) => match self
                .directory
                .customer_by_api_key(key)
                .await
                .map_err(Refusal::Store)?
            {
                Some(customer) => return Ok(customer),
                None => ApiKeyFault::Invalid,
            },
            None if request.contains_key(API_KEY) => ApiKeyFault::Invalid,
            None => ApiKeyFault::Absent,
        };
        Err(Refusal::ApiKey(fault))
    }
}
