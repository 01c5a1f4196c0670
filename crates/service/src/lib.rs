//! The provider's side over HTTP: the token endpoint, the statement endpoint, webhook delivery.
//!
//! What it is: [`Provider`], which is `POST /v1.0/auth` and `POST /accounts/v2.0/statement` as axum routers over stores
//! and a ledger that the caller brings; and [`delivery::Dispatcher`], which empties an outbox into the customers' receivers.
//!
//! What it is not: a server. It opens no port, speaks no TLS and keeps nothing: connections, certificates, the size of
//! headers and how long a client may take to send a request are the business of whoever serves the routers, and every
//! record lies in a store. It knows no accounts either: [`Directory`] and [`Ledger`] are the bank's.
//!
//! ```
//! use bankrail_client_assertion::{AssertionBuilder, Audience, CustomerCode};
//! use bankrail_client_assertion::token::{FORM_CONTENT_TYPE, TokenRequest};
//! use bankrail_jose::{KeySet, RsaSize, SigningKey};
//! use bankrail_service::{AccountFacts, ApiKeyHash, Customer, Directory, Ledger, LedgerAnswer, LedgerPage, Provider, StatementQuery};
//! use bankrail_stores::memory::MemoryStore;
//! use bankrail_values::{Currency, StoreFuture, Timestamp};
//! use std::sync::Arc;
//! use std::time::SystemTime;
//! use tower::ServiceExt;
//!
//! #[derive(Debug)]
//! struct Bank(Arc<Customer>);
//!
//! impl Directory for Bank {
//!     fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
//!         Box::pin(async move { Ok((key == ApiKeyHash::of(b"its-key")).then(|| Arc::clone(&self.0))) })
//!     }
//! }
//!
//! impl Ledger for Bank {
//!     fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
//!         Box::pin(async move {
//!             if query.account.as_str() != "012003123456789" {
//!                 return Ok(LedgerAnswer::UnknownAccount);
//!             }
//!             Ok(LedgerPage::new(AccountFacts::new(Currency::AUD), 5.into(), query.day).into())
//!         })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (code, audience) = (CustomerCode::parse("ACME")?, Audience::parse("https://auth.example/")?);
//! let key = SigningKey::generate(RsaSize::Rsa2048)?;
//! let keys = KeySet::new([key.verifying_key()])?;
//! let bank = Arc::new(Bank(Arc::new(Customer::new(code.clone(), keys, "GBL.INSTO.ACCOUNTS.STATEMENT.READ".parse()?))));
//! let store = Arc::new(MemoryStore::new());
//! let provider = Provider::builder()
//!     .directory(bank.clone())
//!     .ledger(bank)
//!     .token_store(store.clone())
//!     .replay_store(store)
//!     .audience(audience.clone())
//!     .build()?;
//!
//! // Serve `provider.router()` with any server; here, one request by hand.
//! let assertion = AssertionBuilder::new(code, audience).sign(&key, SystemTime::now().into())?;
//! let form = TokenRequest::new(assertion, "GBL.INSTO.ACCOUNTS.STATEMENT.READ".parse()?).to_form();
//! let request = http::Request::post("/v1.0/auth").header("apikey", "its-key").header("content-type", FORM_CONTENT_TYPE);
//! let answer = provider.router().oneshot(request.body(axum::body::Body::from(form))?).await?;
//! assert_eq!(answer.status(), 200);
//! assert!(answer.headers().contains_key("x-requestkey"));
//! # Ok(())
//! # }
//! ```
//!
//! # Nouns
//!
//! - [`Provider`], [`ProviderBuilder`]: the endpoints, and what they are made of.
//! - [`Directory`], [`Customer`], [`ApiKeyHash`]: who calls. [`Ledger`], [`StatementQuery`],
//!   [`LedgerAnswer`], [`LedgerPage`]: what there is.
//! - [`CursorSecret`]: what makes a cursor good for its customer, account, day, order and narrative choice only.
//! - In [`delivery`], [`Dispatcher`](delivery::Dispatcher), [`Endpoint`](delivery::Endpoint) and
//!   [`Transport`](delivery::Transport).
//!
//! | feature | what it adds |
//! |---|---|
//! | `aws-lc` (default) | RSA operations by AWS-LC; needs a C compiler |
//! | `josekit` | RSA operations by josekit and the system's OpenSSL |
//!
//! # What is checked, in this order
//!
//! - Token: method (405), API key (401), limit (429), size (413), content type and form (400), assertion (401), scope
//!   (400), first use of the assertion (401; 503 while that cannot be known). The grant is stored under the token's hash
//!   before the token is said.
//! - Statement: method (405), API key and bearer token (401), scope (403), limit (429), size (413), media type (415), body
//!   and cursor (400, `EC42001`), account (`EC20001`, 404 unless configured).
//!
//! Every answer, also 404 and 500, has a fresh `X-RequestKey` and a JSON body: the statement endpoint's is the
//! specification's error shape (where that has no code, `EC` and the HTTP status), the token endpoint's RFC 6749's. The
//! specification leaves the bodies of 400, 401 and 429 open.
//!
//! Not here: the discovery documents of an OpenID Connect issuer (Specification: "Authentication", 2). Access tokens are
//! references that only this provider can resolve, so there is no key to publish; serve the metadata beside
//! [`Provider::router`] if clients look for it.
//!
//! # Security notes
//!
//! - An API key, an assertion and a token must all be the same customer's.
//! - An account that does not exist and one that is not registered for the customer are answered alike.
//! - Requests without a known API key are charged to nobody: limit them by address, further out.
//! - Logged by `tracing` are request key, customer code, status and duration, why an assertion was refused in a word, and store
//!   failures with their causes; never a key, token, assertion, account or payload.
//! - A panic of the directory, the ledger or a store is answered 500.
//! - Deliveries go to `https` addresses, and follow no redirection. An address inside the provider's own network is not
//!   told from any other: check what customers register, or resolve names in a [`Transport`](delivery::Transport) that does.

#![forbid(unsafe_code)]

mod answer;
mod api_key;
mod cursor;
pub mod delivery;
mod directory;
mod fallback;
mod ledger;
mod provider;
mod statement_endpoint;
mod token_endpoint;

pub use api_key::ApiKeyHash;
pub use cursor::{CursorSecret, CursorSecretError};
pub use directory::{Customer, Directory};
pub use ledger::{AccountFacts, Ledger, LedgerAnswer, LedgerEntry, LedgerPage, StatementQuery};
pub use provider::{BuildError, Provider, ProviderBuilder};
