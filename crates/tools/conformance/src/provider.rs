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
    /// Returns a customer with its code and the accounts whose statements may be requested.
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

/// The number of calls that the budget has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallsLeft {
    /// The number of token requests.
    pub tokens: usize,
    /// The number of statement requests.
    pub statements: usize,
}

options! {
    /// The options of a [`ProviderJudge`](ProviderJudge).
    #[derive(Clone, Debug)]
    pub struct ProviderJudgeOptions {
        /// Sets another customer of the provider, for the rows about the separation of customers.
        /// Default: those rows get [`Verdict::NotSeen`](crate::Verdict::NotSeen).
        second_customer(Customer => Some): Option<Customer> = None,
        /// Sets the signing key of that customer. Default: the rows that need the key get
        /// [`Verdict::NotSeen`](crate::Verdict::NotSeen).
        second_signing_key(SigningKey => Some): Option<SigningKey> = None,
        /// Sets the address of the token endpoint. Default: the provider's address and
        /// `/v1.0/auth`.
        token_url(String => Some): Option<String> = None,
        /// Sets the audience of assertions. Default: the address of the token endpoint.
        audience(String => Some): Option<String> = None,
        /// Sets the header of the API key. Default: `apikey`.
        api_key_header: HeaderName = names::API_KEY,
        /// Sets the scopes to request. Default: that of statements.
        scopes: Vec<String> = Vec::new(),
        /// Sets the certificate authorities of the provider. Default: those of the system.
        roots: TlsRoots = TlsRoots::Platform,
        /// Sets the client certificate for a provider that requests one. Default: none.
        client_certificate(ClientCertificate => Some): Option<ClientCertificate> = None,
        /// Sets the proxy of calls. The proxy of the environment is never used. Default: none.
        proxy(Proxy => Some): Option<Proxy> = None,
        /// Sets the calls that may be made. Default: those that the specification allows in an
        /// hour.
        budget: Budget = Budget::default(),
        /// Sets the maximum time for an answer or an order. The judge waits a seventh of it for a
        /// booking. Default: 30 s.
        timeout: Duration = Duration::from_secs(30),
        /// Sets the maximum wait for a `Retry-After` or for the end of a token. Default: 5 s.
        wait: Duration = Duration::from_secs(5),
        /// Sends requests beyond the budget as the last calls, until the provider refuses them, if
        /// true. The customer is then locked out for an hour. Default: false.
        limits: bool = false,
        /// Sets a hook that orders bookings, which the statement must then show. Default:
        /// statements are judged only by their own content.
        book(Hook => Some): Option<Hook> = None,
        /// Sets a hook that steps the provider's clock with an order `{"seconds": N}`, for the rows
        /// about limits and the end of tokens. Default: these rows get
        /// [`Verdict::NotSeen`](crate::Verdict::NotSeen), unless `wait` is long enough.
        clock(Hook => Some): Option<Hook> = None,
        /// Lets rows fail that only the public documentation of live services states, if true.
        /// Default: false, such rows are noted.
        strict: bool = false,
        /// Sets the seed of all invented values, which are the same in each run with the same seed.
        /// Default: a random seed.
        seed: u32 = any_seed(),
        /// Sets the rows to judge. Default: all.
        only: Vec<RowSelection> = Vec::new(),
        /// Selects the rows that an earlier run did not reach. Default: all rows.
        rest_of(UnrunRows => Some): Option<UnrunRows> = None,
        /// Sets a function that is called before each call to the provider. Default: none.
        on_call: fn(CallsLeft) = |_| {},
    }
}
