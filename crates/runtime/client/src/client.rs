//! The client of one customer of one service.

mod options;
mod probe;

pub use options::{ClientOptions, ClientOptionsError};
pub use probe::{Probe, ProbeStep};

use crate::call_error::Call;
use crate::http_client::{HttpClientError, HttpClientOptions};
use crate::pace::{Closing, PacedApart};
use crate::statement::{self, StatementClient};
use crate::token::{Exchange, KeptTokens, TokenSource};
use crate::transport::{Caller, Failing};
use bankrail_client_assertion::token::TokenResponse;
use bankrail_client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, CustomerCode, JwtId, is_lifetime,
};
use bankrail_http::EndpointUrl;
use bankrail_http::names::{STATEMENT_PATH, TOKEN_PATH, is_reserved};
use bankrail_jose::remote::RemoteSigner;
use bankrail_jose::{CurrentKey, SigningKey};
use bankrail_rate_limit::{CallType, MemoryCounters, Pacer, PacerOptions};
use bankrail_statement::AccountId;
use bankrail_values::{SecretString, excerpt};
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use std::sync::{Arc, Mutex};

/// The credentials of a customer: its code, the private key of its assertions and its API key.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub(crate) code: CustomerCode,
    pub(crate) key: AssertionKey,
    pub(crate) api_key: SecretString,
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
/// Make one and keep it: two clients of one customer do not know each other's calls and tokens, and
/// one that is started again does not know its own, unless they share [`ClientOptions::counters`]
/// and [`ClientOptions::token_cache`].
#[derive(Clone, Debug)]
pub struct Client(pub(crate) Arc<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) tokens: TokenSource,
    pub(crate) statements: StatementClient,
    pub(crate) closing: Closing,
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
        let address = |text: &str| EndpointUrl::check(text, options.danger_allow_http_on_loopback);
        let base = address(base_url).map_err(ClientOptionsError::BaseUrl)?;
        let auth = match &options.auth_url {
            Some(url) => address(url).map_err(ClientOptionsError::AuthUrl)?,
            None => base.join(TOKEN_PATH),
        };
        let mut api_key = HeaderValue::from_str(credentials.api_key.expose_secret())
            .map_err(|_| ClientOptionsError::ApiKey)?;
        if api_key.is_empty() {
            return Err(ClientOptionsError::ApiKey);
        }
        api_key.set_sensitive(true);
        let api_key = (api_key_header(&options.api_key_header)?, api_key);
        let all_http = base.is_plain_http() && auth.is_plain_http();
        let http = HttpClientOptions {
            roots: options.tls_roots.as_ref(),
            http_on_loopback: options.danger_allow_http_on_loopback,
            all_http,
            // Shorter than the whole exchange, so that a call that only tried to connect is known
            // to be one.
            connect_timeout: options.connect_timeout.min(options.timeout / 2),
        };
        let http = http.build().map_err(|error| match error {
            HttpClientError::Tls(error) => ClientOptionsError::Tls(error),
            HttpClientError::Http(error) => ClientOptionsError::Http(error),
        })?;
        let assertion = assertion(&options, &credentials, &auth)?;
        let kept = options.token_cache.clone().map(|(cache, secret)| {
            KeptTokens::new(
                cache,
                secret,
                auth.url().as_str(),
                &credentials.code,
                &options.scopes,
            )
        });
        let closing = Closing::default();
        let counters = options
            .counters
            .clone()
            .unwrap_or_else(|| Arc::new(MemoryCounters::default()));
        let pacing = PacerOptions::new()
            .counters(counters)
            .customer(credentials.code.as_str())
            .pacing(options.pacing);
        let caller = |endpoint, call, call_type, policy, limit| Caller {
            http: http.clone(),
            timeout: options.timeout,
            endpoint,
            call,
            api_key: api_key.clone(),
            pacer: Arc::new(Pacer::new(
                call_type,
                policy,
                options.clock.clone(),
                pacing.clone(),
            )),
            closing: closing.clone(),
            limit,
            failing: Failing::default(),
        };
        let tokens = TokenSource::new(Exchange {
            caller: caller(
                auth,
                Call::Token,
                CallType::Token,
                options.token_limits,
                TokenResponse::MAX_BYTES,
            ),
            assertion,
            key: CurrentKey::new(credentials.key),
            scopes: options.scopes.clone(),
            kept,
        });
        let (endpoint, limit) = (base.join(STATEMENT_PATH), options.max_statement_bytes);
        let statements = StatementClient::new(statement::Parts {
            caller: caller(
                endpoint,
                Call::Statement,
                CallType::Statement,
                options.statement_limits,
                limit,
            ),
            apart: options.limit_per_account.then(|| PacedApart {
                policy: options.statement_limits,
                options: pacing.clone(),
                customer: credentials.code.clone(),
                clock: options.clock.clone(),
                pacers: Mutex::default(),
            }),
            tokens: tokens.clone(),
            read: options.read_options,
            archive: options.archive,
        });
        Ok(Self(Arc::new(Parts {
            tokens,
            statements,
            closing,
        })))
    }

    /// Tries what a statement needs, and says what to change: name, connection and TLS, clock, API
    /// key and assertion, scopes, and the service of statements. For a first start, and for whoever
    /// looks for a fault.
    ///
    /// - It takes a token from the cache, if there is one, and otherwise one of the token calls.
    ///   Only if the service refuses the assertion, it tries the two audiences that the service's
    ///   metadata may name, if they are of the token endpoint's own host, with a token call for
    ///   each.
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
        self.0.tokens.replace_key(AssertionKey::Here(signing_key));
    }

    /// Signs assertions with this remote key from now on, as [`Client::replace_signing_key`].
    pub fn replace_remote_signer(&self, signer: Arc<dyn RemoteSigner>) {
        self.0.tokens.replace_key(AssertionKey::Elsewhere(signer));
    }

    /// Ends every wait at once, for a shutdown: a call that waits for the rate limit or for a
    /// token, and every later call, here and in all clones, fails with
    /// [`CallFault::Closed`](crate::CallFault::Closed). It cannot be undone.
    ///
    /// A call that was already sent is not ended, because the service may have counted it: its
    /// caller gets the answer, within [`ClientOptions::timeout`], and a token that comes is put
    /// into the token cache. Drop the caller's future to wait for less.
    pub fn close(&self) {
        self.0.closing.close();
    }

    bankrail_values::getters! { self;
        /// The source of the customer's access tokens.
        tokens: &TokenSource = &self.0.tokens;
        /// The client of the statement endpoint.
        statements: &StatementClient = &self.0.statements;
    }
}

/// The header of the API key: any but those that a call has anyway, of which one carries the token.
fn api_key_header(name: &str) -> Result<HeaderName, ClientOptionsError> {
    let header = HeaderName::try_from(name)
        .ok()
        .filter(|name| !is_reserved(name) && *name != AUTHORIZATION);
    header.ok_or_else(|| ClientOptionsError::ApiKeyHeader {
        found: excerpt(name),
    })
}

fn assertion(
    options: &ClientOptions,
    credentials: &Credentials,
    auth: &EndpointUrl,
) -> Result<AssertionBuilder, ClientOptionsError> {
    let audience = options
        .audience
        .as_deref()
        .or(options.auth_url.as_deref())
        .unwrap_or(auth.url().as_str());
    let audience = Audience::parse(audience).map_err(ClientOptionsError::Audience)?;
    let mut assertion = AssertionOptions::new();
    if options.jti {
        assertion = assertion.jwt_id(JwtId::Random);
    }
    if let Some(lifetime) = options.assertion_lifetime {
        if !is_lifetime(lifetime) {
            return Err(ClientOptionsError::AssertionLifetime { found: lifetime });
        }
        assertion = assertion.lifetime(lifetime);
    }
    Ok(AssertionBuilder::new(
        credentials.code.clone(),
        audience,
        assertion,
    ))
}
