//! The client of one customer of one service.

mod options;
mod probe;

pub use options::{ClientOptions, ClientOptionsError};
pub use probe::{Probe, ProbeStep};

use crate::pace::Closing;
use crate::statement::StatementClient;
use crate::token::TokenSource;
use bankrail_client_assertion::CustomerCode;
use bankrail_jose::SigningKey;
use bankrail_jose::remote::RemoteSigner;
use bankrail_statement::AccountId;
use bankrail_values::SecretString;
use std::sync::Arc;

/// The credentials of a customer: its code, the private key of its assertions and its API key.
#[derive(Clone, Debug)]
pub struct Credentials {
    code: CustomerCode,
    key: AssertionKey,
    api_key: SecretString,
}

impl Credentials {
    /// Credentials with a key in memory. If the key has an id, assertions have it as their `kid`.
    pub fn new(
        code: CustomerCode,
        signing_key: SigningKey,
        api_key: impl Into<SecretString>,
    ) -> Self {
        Self {
            code,
            key: AssertionKey::Here(signing_key),
            api_key: api_key.into(),
        }
    }

    /// Credentials with a key in an HSM or a key service. It signs once for each token, and may
    /// take as long as a call to the service ([`ClientOptions::timeout`]).
    pub fn remote(
        code: CustomerCode,
        signer: Arc<dyn RemoteSigner>,
        api_key: impl Into<SecretString>,
    ) -> Self {
        Self {
            code,
            key: AssertionKey::Elsewhere(signer),
            api_key: api_key.into(),
        }
    }
}

/// The key that signs assertions.
#[derive(Clone, Debug)]
pub(crate) enum AssertionKey {
    Here(SigningKey),
    Elsewhere(Arc<dyn RemoteSigner>),
}

/// A client of one customer of one service. Cheap to clone; clones share token, limits and
/// connections.
///
/// Make one client and keep it. Two clients of one customer do not see each other's calls and
/// tokens, and a restarted client has lost its own. [`ClientOptions::counters`] and
/// [`ClientOptions::token_cache`] share and keep them.
#[derive(Clone, Debug)]
pub struct Client {
    tokens: TokenSource,
    statements: StatementClient,
    closing: Closing,
}

impl Client {
    /// A client of the service at `base_url`: https, with or without a path, such as
    /// `https://api.example.com/corporate`.
    ///
    /// # Errors
    /// [`ClientOptionsError`] if the credentials, the address or the options are unusable.
    pub fn new(
        credentials: Credentials,
        base_url: &str,
        options: ClientOptions,
    ) -> Result<Self, ClientOptionsError> {
        crate::measure::describe();
        options.into_client(credentials, base_url)
    }

    /// Tries each part that a statement needs, and returns what to change: name, connection and
    /// TLS, clock, API key and assertion, scopes, and the service of statements. For a first start,
    /// and for whoever looks for a fault.
    ///
    /// - A new token is asked for, which is one of the token calls (10 an hour), also while another
    ///   is valid: a valid token proves nothing about the key. The client uses the new one from
    ///   then on. Only if the service refuses the assertion, the two audiences that the service's
    ///   metadata may name are tried, if they are of the token endpoint's own host, with a token
    ///   call for each.
    /// - Of an account it asks for the statement, which is one of the statement calls. Nothing else
    ///   shows whether the token's scopes are enough. Without an account, the service is asked
    ///   without a token, which uses up no call.
    pub async fn probe(&self, account: Option<&AccountId>) -> Probe {
        Probe::of(self.tokens(), self.statements(), account).await
    }

    /// Signs assertions with this key from now on, here and in all clones. The token at hand stays
    /// until it is renewed.
    ///
    /// The service must know the public half before, beside the old one.
    pub fn replace_signing_key(&self, signing_key: SigningKey) {
        self.tokens.replace_key(AssertionKey::Here(signing_key));
    }

    /// Signs assertions with this remote key from now on, as [`Client::replace_signing_key`].
    pub fn replace_remote_signer(&self, signer: Arc<dyn RemoteSigner>) {
        self.tokens.replace_key(AssertionKey::Elsewhere(signer));
    }

    /// Ends every wait at once, for a shutdown: a call that waits for the rate limit or for a
    /// token, and every later call, here and in all clones, fails with
    /// [`CallErrorKind::Closed`](crate::CallErrorKind::Closed). It cannot be undone.
    ///
    /// A call that was already sent is not ended, because the service may have counted it: its
    /// caller gets the answer, within [`ClientOptions::timeout`], and a token that comes is put
    /// into the token cache. Drop the caller's future to wait for less.
    pub fn close(&self) {
        self.closing.close();
    }

    /// The source of the customer's access tokens.
    #[must_use]
    pub fn tokens(&self) -> &TokenSource {
        &self.tokens
    }

    /// The client of the statement endpoint.
    #[must_use]
    pub fn statements(&self) -> &StatementClient {
        &self.statements
    }
}
