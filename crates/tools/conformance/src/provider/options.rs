//! What may be said beside the provider and the customer.

use super::budget::Budget;
use super::target::Customer;
use crate::hook::Hook;
use crate::invented::any_seed;
use crate::selection::{RowSelection, UnrunRows};
use bankrail_http::names;
use bankrail_http::tls::TlsRoots;
use bankrail_jose::SigningKey;
use bankrail_values::options;
use reqwest::header::HeaderName;
use std::time::Duration;

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
    /// The options of a [`ProviderJudge`](super::ProviderJudge).
    #[derive(Clone, Debug)]
    pub struct ProviderJudgeOptions {
        /// Another customer of the provider, for the rows about what must be kept from each other.
        /// Default: those rows are not seen.
        pub(super) second_customer(Customer => Some): Option<Customer> = None,
        /// The key of that customer. Default: the rows that need it are not seen.
        pub(super) second_signing_key(SigningKey => Some): Option<SigningKey> = None,
        /// The address of the token endpoint. Default: the provider's and `/v1.0/auth`.
        pub(super) token_url(String => Some): Option<String> = None,
        /// The audience of assertions. Default: the address of the token endpoint.
        pub(super) audience(String => Some): Option<String> = None,
        /// The header of the API key. Default: `apikey`.
        pub(super) api_key_header: HeaderName = names::API_KEY,
        /// The scopes to ask for. Default: that of statements.
        pub(super) scopes: Vec<String> = Vec::new(),
        /// The certificate authorities of the provider. Default: those of the system.
        pub(super) roots: TlsRoots = TlsRoots::Platform,
        /// The calls that may be made. Default: those of an hour by the specification.
        pub(super) budget: Budget = Budget::default(),
        /// The longest wait for a `Retry-After`, or for the end of a token. Default: 5 s.
        pub(super) wait: Duration = Duration::from_secs(5),
        /// Whether requests are sent beyond the budget until the provider refuses them, last. The
        /// customer is locked out for an hour. Default: no.
        pub(super) limits: bool = false,
        /// How bookings are ordered, which the statement must then show. Default: statements are
        /// judged by what is in them.
        pub(super) book(Hook => Some): Option<Hook> = None,
        /// How the provider's clock is stepped: by an order `{"seconds": N}`. Default: the worked
        /// cases of limits are not seen, unless there is a wait of six hours.
        pub(super) clock(Hook => Some): Option<Hook> = None,
        /// Whether it fails what only public documentation of live services has. Default: what
        /// differs there is noted.
        pub(super) strict: bool = false,
        /// The seed of what is made up, which is the same in each run with it. Default: another one
        /// in each run.
        pub(super) seed: u32 = any_seed(),
        /// Judges these rows only. Default: all.
        pub(super) only: Vec<RowSelection> = Vec::new(),
        /// Judges what an earlier run did not come to. Default: everything.
        pub(super) rest_of(UnrunRows => Some): Option<UnrunRows> = None,
        /// A function that is called before each call to the provider. Default: none.
        pub(super) on_call: fn(CallsLeft) = |_| {},
    }
}
