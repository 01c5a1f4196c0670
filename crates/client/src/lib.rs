//! The customer's side over HTTP: access tokens, statements, webhook receivers.
//!
//! What it is: a [`Client`] that proves who the customer is, keeps an access token ready and fetches statements within the
//! service's limits; and [`receivers`], the four endpoints that the service calls, with an inbox and a worker behind them.
//!
//! What it is not: it decides nothing about money, keeps no statement, and has no command line. What it stores goes
//! through the store traits of the protocol crates, whose engines live in `bankrail-stores`.
//!
//! ```no_run
//! use bankrail_client::{Client, Customer};
//! use bankrail_client_assertion::CustomerCode;
//! use bankrail_jose::SigningKey;
//! use bankrail_statement::{AccountId, StatementRequest};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let key = SigningKey::from_pem(&std::fs::read_to_string("customer-key.pem")?)?;
//! let customer = Customer::new(CustomerCode::parse("CUSTOMERCODE")?, key, std::env::var("API_KEY")?);
//! let client = Client::builder(customer, "https://api.example.com").build()?;
//!
//! let account = AccountId::parse("012003123456789")?;
//! let mut pages = client.statements().pages(StatementRequest::new(&account));
//! while let Some(page) = pages.next().await? {
//!     for entry in page.entries() {
//!         println!("{} {:?}", entry.amount.value(), entry.direction);
//!     }
//!     // Store the page and its checkpoint here, then let the walk go on.
//!     page.stored()?;
//! }
//!
//! match client.statements().statement(&AccountId::parse("000000000000000")?).await {
//!     Err(error) if error.is_account_not_found() => println!("request key {:?}", error.request_key()),
//!     other => println!("{:?}", other.map(|statement| statement.entries().count())),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Nouns
//!
//! - [`Customer`], [`ClientBuilder`], [`Client`]: who calls, how, and the ready client. Make one and keep it.
//! - [`TokenSource`], [`Token`]: one token for all callers, fetched once, renewed before it ends.
//! - [`StatementClient`], [`StatementPage`]: one page; [`Pages`], [`FetchedPage`]: a walk that goes on only behind a page that
//!   was stored; [`Statement`]: all pages in memory.
//! - [`Pacing`]: what happens to a call that the limits do not allow yet.
//! - [`TokenError`], [`StatementError`]: one for each operation, with status, code and request key, and whether trying
//!   again can help.
//! - [`receivers`]: [`Receivers`](receivers::Receivers), [`Handlers`](receivers::Handlers), [`Worker`](receivers::Worker).
//!
//! | feature | what it adds |
//! |---|---|
//! | `aws-lc` (default) | RSA operations by AWS-LC; needs a C compiler |
//! | `josekit` | RSA operations by josekit and the system's OpenSSL |
//!
//! TLS is rustls: with the process's crypto provider where one is installed, with AWS-LC otherwise.
//!
//! # Security notes
//!
//! - Only https, redirects off: a redirect would carry the API key to an address that nobody checked.
//!   [`ClientBuilder::danger_allow_http_on_loopback`] is for tests on one machine.
//! - Private keys, API keys, assertions and tokens are in no `Debug`, no error and no log line. The contents of statements
//!   are in none of this crate's log lines, and [`StatementPage`] prints its size; a document or an entry of it prints all
//!   that it holds, so do not log one. Request keys, message ids, statuses and codes are logged.
//! - Answers and deliveries are read up to a bound and within a time.
//! - A delivery is stored before it is answered, and handled after: at least once, or exactly once within the inbox's own
//!   transaction ([`receivers::Handlers::within`]).
//! - The limits are counted in the process, unless [`ClientBuilder::counters`] are shared. A service whose clock runs further apart from
//!   ours may still answer 429 around the turn of a window; its `Retry-After` is honoured then.

#![forbid(unsafe_code)]

mod client;
mod endpoint;
mod pace;
pub mod receivers;
mod statement;
mod token;
mod transport;

pub use bankrail_http::tls::{TlsError, TlsRoots};
pub use bankrail_rate_limit::Pacing;
pub use client::{BuildError, Client, ClientBuilder, Customer};
pub use endpoint::{AddressError, AddressFault};
pub use statement::{FetchedPage, Pages, Statement, StatementClient, StatementError, StatementPage, UnreadablePayload};
pub use token::{Token, TokenError, TokenSource};
pub use transport::TransportError;
