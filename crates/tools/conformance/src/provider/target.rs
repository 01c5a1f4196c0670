//! Whom to judge, and as whom.

use super::ProviderJudgeOptions;
use crate::client::{address, below};
use crate::error::JudgeError;
use bankrail_client_assertion::token::names;
use bankrail_http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail_values::SecretString;
use reqwest::Url;
use reqwest::header::HeaderName;

/// A customer of the provider.
///
/// It should be one for tests. Its accounts should have entries of today, one of them fast
/// payments, one of them credits to virtual accounts.
#[derive(Clone, Debug)]
pub struct Customer {
    pub(super) code: String,
    pub(super) api_key: SecretString,
    pub(super) accounts: Vec<String>,
}

impl Customer {
    /// The customer of this code, whose statements of these accounts may be asked for.
    #[must_use]
    pub fn new(
        code: impl Into<String>,
        api_key: SecretString,
        accounts: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self {
            code: code.into(),
            api_key,
            accounts: accounts.into_iter().map(Into::into).collect(),
        }
    }
}

/// A provider, and a customer of it.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) base_url: Url,
    pub(super) token_url: Url,
    pub(super) statement_url: Url,
    pub(super) audience: String,
    /// The issuer that the provider's metadata name. Clients send it as the audience, too.
    pub(super) issuer: Option<String>,
    pub(super) customer: Customer,
    pub(super) api_key_header: HeaderName,
    pub(super) scopes: Vec<String>,
    /// Another customer of the same provider.
    pub(super) other: Option<Customer>,
}

impl Target {
    pub(super) fn new(
        url: &str,
        customer: Customer,
        options: &ProviderJudgeOptions,
    ) -> Result<Self, JudgeError> {
        if customer.accounts.is_empty() {
            return Err(JudgeError::NoAccount);
        }
        let base_url = address(url)?;
        let token_url = options
            .token_url
            .as_deref()
            .map_or_else(|| Ok(below(&base_url, TOKEN_PATH)), address)?;
        let mut scopes = options.scopes.clone();
        if scopes.is_empty() {
            scopes.push(names::STATEMENT_READ.to_owned());
        }
        let other = options.second_customer.clone().map(|mut other| {
            // An account that both have is not the other's alone.
            other
                .accounts
                .retain(|account| !customer.accounts.contains(account));
            other
        });
        Ok(Self {
            statement_url: below(&base_url, STATEMENT_PATH),
            audience: options
                .audience
                .clone()
                .unwrap_or_else(|| token_url.to_string()),
            issuer: None,
            token_url,
            base_url,
            customer,
            api_key_header: options.api_key_header.clone(),
            scopes,
            other,
        })
    }
}
