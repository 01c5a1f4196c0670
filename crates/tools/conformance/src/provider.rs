//! The judge of a provider.

mod budget;
mod judge;

pub use budget::{Budget, BudgetError};
pub use judge::ProviderJudge;

use crate::hook::Hook;
use crate::invented::any_seed;
use crate::selection::{RowSelection, UnrunRows};
use bankrail_http::tls::{ClientCertificate, TlsRoots};
use bankrail_http::{Proxy, names};
use bankrail_jose::SigningKey;
use bankrail_values::{SecretString, options};
use reqwest::header::HeaderName;
use std::time::Duration;

/// A customer of the provider.
///
/// Use a test customer. Its accounts should have entries of today; one account should have fast
/// payments, and one credits to virtual accounts.
#[derive(Clone, Debug)]
pub struct Customer {
    code: String,
    api_key: SecretString,
    accounts: Vec<String>,
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

/// The calls that the budget has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallsLeft {
    /// Token requests.
    pub tokens: usize,
    /// Statements.
    pub statements: usize,
}

options! {
    /// The options of a [`ProviderJudge`](ProviderJudge).
    #[derive(Clone, Debug)]
    pub struct ProviderJudgeOptions {
        /// Another customer of the provider, for the rows about the separation of customers.
        /// Default: those rows are not seen.
        second_customer(Customer => Some): Option<Customer> = None,
        /// The key of that customer. Default: the rows that need it are not seen.
        second_signing_key(SigningKey => Some): Option<SigningKey> = None,
        /// The address of the token endpoint. Default: the provider's and `/v1.0/auth`.
        token_url(String => Some): Option<String> = None,
        /// The audience of assertions. Default: the address of the token endpoint.
        audience(String => Some): Option<String> = None,
        /// The header of the API key. Default: `apikey`.
        api_key_header: HeaderName = names::API_KEY,
        /// The scopes to ask for. Default: that of statements.
        scopes: Vec<String> = Vec::new(),
        /// The certificate authorities of the provider. Default: those of the system.
        roots: TlsRoots = TlsRoots::Platform,
        /// The certificate for a provider that asks for one. Default: none is shown.
        client_certificate(ClientCertificate => Some): Option<ClientCertificate> = None,
        /// The proxy of calls; that of the environment is never used. Default: none.
        proxy(Proxy => Some): Option<Proxy> = None,
        /// The calls that may be made. Default: those of an hour by the specification.
        budget: Budget = Budget::default(),
        /// The longest time for an answer or an order; a booking is waited for a seventh of it.
        /// Default: 30 s.
        timeout: Duration = Duration::from_secs(30),
        /// The longest wait for a `Retry-After`, or for the end of a token. Default: 5 s.
        wait: Duration = Duration::from_secs(5),
        /// Sends requests beyond the budget until the provider refuses them, last. The customer is
        /// locked out for an hour. Default: no.
        limits: bool = false,
        /// Orders bookings, which the statement must then show. Default: statements are judged by
        /// their own content.
        book(Hook => Some): Option<Hook> = None,
        /// Steps the provider's clock, by an order `{"seconds": N}`, for limits and for the end of
        /// tokens. Default: they are not seen, unless there is a wait as long.
        clock(Hook => Some): Option<Hook> = None,
        /// Fails rows that only public documentation of live services states. Default: differences
        /// there are noted.
        strict: bool = false,
        /// The seed of all invented values, which are the same in each run with it. Default:
        /// another one in each run.
        seed: u32 = any_seed(),
        /// Judges these rows only. Default: all.
        only: Vec<RowSelection> = Vec::new(),
        /// Judges the rows that an earlier run did not reach. Default: everything.
        rest_of(UnrunRows => Some): Option<UnrunRows> = None,
        /// A function that is called before each call to the provider. Default: none.
        on_call: fn(CallsLeft) = |_| {},
    }
}
