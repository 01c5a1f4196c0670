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
    /// Creates credentials with a key in memory. If the key has an id, assertions have it as their
    /// `kid`.
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

    /// Creates credentials with a key in an HSM or a key service. The key signs once for each
    /// token, and may take as long as a call to the service ([`ClientOptions::timeout`]).
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
/// Make one client and keep it. Two clients of one customer do not share their counts of calls and
/// tokens, and a restart loses both. [`ClientOptions::counters`] and [`ClientOptions::token_cache`]
/// share and store them.
#[derive(Clone, Debug)]
pub struct Client {
    tokens: TokenSource,
    statements: StatementClient,
    closing: Closing,
}

impl Client {
    /// Creates a client of the service at `base_url`: https, with or without a path, such as
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

    /// Tries each part that a statement needs, and returns findings and advice: name, connection
    /// and TLS, clock, API key and assertion, scopes, and the service of statements. Use this for a
    /// first start, and to find a fault.
    ///
    /// - The probe requests a new token, which is one of the token calls (10 an hour), even while
    ///   a token is valid, because that does not prove that the key is right. The client then uses
    ///   the new token. Only if the service refuses the assertion, the two audiences that the
    ///   service's metadata may name are tried, if they are of the token endpoint's own host, with
    ///   a token call for each.
    /// - With an account, the probe requests its statement, which is one of the statement calls;
    ///   only that shows whether the token's scopes suffice. Without an account, it sends a request
    ///   without a token, which uses up no call.
    pub async fn probe(&self, account: Option<&AccountId>) -> Probe {
        Probe::of(self.tokens(), self.statements(), account).await
    }

    /// Replaces the key that signs assertions, here and in all clones. The current token stays
    /// until it is renewed.
    ///
    /// The service must know the new public key before this call, in addition to the old one.
    pub fn replace_signing_key(&self, signing_key: SigningKey) {
        self.tokens.replace_key(AssertionKey::Here(signing_key));
    }

    /// Replaces the key that signs assertions by a remote one, as [`Client::replace_signing_key`]
    /// does.
    pub fn replace_remote_signer(&self, signer: Arc<dyn RemoteSigner>) {
        self.tokens.replace_key(AssertionKey::Elsewhere(signer));
    }

    /// Ends all waiting at once, for a shutdown. A call that waits for the rate limit or for a
    /// token, and every later call, here and in all clones, fails with
    /// [`CallErrorKind::Closed`](crate::CallErrorKind::Closed). Closing cannot be undone.
    ///
    /// A call that was already sent is not ended, because the service may have counted it: its
    /// caller gets the answer, within [`ClientOptions::timeout`], and a token that arrives is put
    /// into the token cache. Drop the caller's future to wait no longer.
    pub fn close(&self) {
        self.closing.close();
    }

    /// Returns the source of the customer's access tokens.
    #[must_use]
    pub fn tokens(&self) -> &TokenSource {
        &self.tokens
    }

    /// Returns the client of the statement endpoint.
    #[must_use]
    pub fn statements(&self) -> &StatementClient {
        &self.statements
    }
}
