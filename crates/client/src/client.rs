//! One customer of one service: what both kinds of call share.

mod build;

pub use build::{BuildError, ClientBuilder};

use crate::statement::StatementClient;
use crate::token::TokenSource;
use bankrail_client_assertion::CustomerCode;
use bankrail_jose::SigningKey;
use bankrail_jose::remote::RemoteSigner;
use bankrail_values::SecretString;
use std::sync::Arc;

/// Who calls: the customer's code, the private key of its assertions, its API key.
#[derive(Clone, Debug)]
pub struct Customer {
    pub(crate) code: CustomerCode,
    pub(crate) key: AssertionKey,
    pub(crate) api_key: SecretString,
}

impl Customer {
    /// A customer. If the key has an id, assertions carry it as `kid`.
    pub fn new(code: CustomerCode, signing_key: SigningKey, api_key: impl Into<SecretString>) -> Self {
        Self { code, key: AssertionKey::Here(signing_key), api_key: api_key.into() }
    }

    /// A customer whose key lives elsewhere, in an HSM or a key service. It is asked once for each token, and given as
    /// long to answer as a call to the service.
    pub fn remote(code: CustomerCode, signer: Arc<dyn RemoteSigner>, api_key: impl Into<SecretString>) -> Self {
        Self { code, key: AssertionKey::Elsewhere(signer), api_key: api_key.into() }
    }
}

/// What signs assertions.
#[derive(Clone, Debug)]
pub(crate) enum AssertionKey {
    Here(SigningKey),
    Elsewhere(Arc<dyn RemoteSigner>),
}

/// One customer of one service. Cheap to clone; clones share token, limits and connections.
///
/// Make one and keep it: two clients of one customer do not know of each other's calls, unless they share
/// [`ClientBuilder::counters`].
#[derive(Clone, Debug)]
pub struct Client(pub(crate) Arc<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) tokens: TokenSource,
    pub(crate) statements: StatementClient,
}

impl Client {
    /// Starts a client of the service at `base_url`: https, with or without a path, such as
    /// `https://api.example.com/corporate`.
    pub fn builder(customer: Customer, base_url: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(customer, base_url.into())
    }

    /// Its access tokens.
    #[must_use]
    pub fn tokens(&self) -> &TokenSource {
        &self.0.tokens
    }

    /// Its statements.
    #[must_use]
    pub fn statements(&self) -> &StatementClient {
        &self.0.statements
    }
}
