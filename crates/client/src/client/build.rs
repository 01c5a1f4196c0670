//! Settings of a client, checked once.

use super::{Client, Customer, Parts};
use crate::endpoint::{AddressError, Endpoint};
use crate::statement::StatementClient;
use crate::token::{Exchange, TokenSource};
use crate::transport::Transport;
use bankrail_camt052::ReadOptions;
use bankrail_client_assertion::token::{ScopeSet, TokenResponse, names};
use bankrail_client_assertion::{AssertionBuilder, Audience, AudienceError};
use bankrail_http::tls::{TlsError, TlsRoots, client_config};
use bankrail_rate_limit::{
    CallType, CounterStore, MemoryCounters, Pacer, PacerOptions, Pacing, Policy, default_limits,
};
use bankrail_values::{Clock, SystemClock};
use http::HeaderValue;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Settings of a [`Client`].
///
/// Only the addresses have no default.
#[derive(Clone)]
pub struct ClientBuilder {
    customer: Customer,
    base_url: String,
    auth_url: Option<String>,
    audience: Option<String>,
    scopes: ScopeSet,
    assertion_lifetime: Option<Duration>,
    jti: bool,
    roots: Option<TlsRoots>,
    http_on_loopback: bool,
    connect_timeout: Duration,
    timeout: Duration,
    max_statement_bytes: usize,
    read: ReadOptions,
    pacing: Pacing,
    token_limits: Policy,
    statement_limits: Policy,
    counters: Option<Arc<dyn CounterStore>>,
    clock: Arc<dyn Clock>,
}

impl ClientBuilder {
    pub(super) fn new(customer: Customer, base_url: String) -> Self {
        Self {
            customer,
            base_url,
            auth_url: None,
            audience: None,
            scopes: ScopeSet::parse(names::STATEMENT_READ).expect("the documented scope name is well formed"),
            assertion_lifetime: None,
            jti: true,
            roots: None,
            http_on_loopback: false,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(60),
            max_statement_bytes: 32 << 20,
            read: ReadOptions::default(),
            pacing: Pacing::default(),
            token_limits: default_limits(CallType::Token),
            statement_limits: default_limits(CallType::Statement),
            counters: None,
            clock: Arc::new(SystemClock),
        }
    }

    /// The full address of the token endpoint. Default: `{base_url}/v1.0/auth` (Specification: "Obtain access token").
    #[must_use]
    pub fn auth_url(mut self, url: impl Into<String>) -> Self {
        self.auth_url = Some(url.into());
        self
    }

    /// The assertion's `aud`, sent exactly as given. Default: the address of the token endpoint. In practice it can be
    /// another text than the address that is called (Default: "Token endpoint").
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// The scopes that tokens are asked for. Default: the documented scope of statements.
    #[must_use]
    pub fn scopes(mut self, scopes: ScopeSet) -> Self {
        self.scopes = scopes;
        self
    }

    /// How long an assertion lives; at most 60 minutes (Specification: "Client assertion (JWT) the customer builds").
    /// Default: [`AssertionBuilder::DEFAULT_LIFETIME`].
    #[must_use]
    pub fn assertion_lifetime(mut self, lifetime: Duration) -> Self {
        self.assertion_lifetime = Some(lifetime);
        self
    }

    /// Assertions exactly as the specification lists them, without a `jti`. By default each carries a random one:
    /// without it, two assertions that expire in the same second are the same text, which a service that refuses
    /// replays may refuse.
    #[must_use]
    pub fn without_jti(mut self) -> Self {
        self.jti = false;
        self
    }

    /// Which certificate authorities are trusted. Default: those of the operating system.
    #[must_use]
    pub fn tls_roots(mut self, roots: TlsRoots) -> Self {
        self.roots = Some(roots);
        self
    }

    /// Allows `http://` for loopback hosts, and then ignores the environment's proxies. **For tests on one machine
    /// only**: API key, assertion and token are readable for whoever can read the loopback interface.
    #[must_use]
    pub fn danger_allow_http_on_loopback(mut self) -> Self {
        self.http_on_loopback = true;
        self
    }

    /// The time to connect (default 10 s), and the time for a whole exchange from connecting to the last octet (default
    /// 60 s). Waiting for the rate limit is not counted.
    #[must_use]
    pub fn timeouts(mut self, connect: Duration, exchange: Duration) -> Self {
        (self.connect_timeout, self.timeout) = (connect, exchange);
        self
    }

    /// The most octets of a statement's answer. Default: 32 MiB; a page has at most 1000 entries. A token's answer is
    /// held to [`TokenResponse::MAX_BYTES`].
    #[must_use]
    pub fn max_statement_bytes(mut self, limit: usize) -> Self {
        self.max_statement_bytes = limit;
        self
    }

    /// How documents are read; [`ReadOptions::deny_findings`] also refuses answers that have findings. Default: tolerant.
    #[must_use]
    pub fn read_options(mut self, options: ReadOptions) -> Self {
        self.read = options;
        self
    }

    /// What happens to a call that the limits do not allow yet. Default: it waits.
    #[must_use]
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = pacing;
        self
    }

    /// Limits other than the specification's table (10 token calls an hour and 2 a second, 25 statements an hour),
    /// where others were agreed. [`Policy::unlimited`] for none.
    #[must_use]
    pub fn limits(mut self, token_calls: Policy, statements: Policy) -> Self {
        (self.token_limits, self.statement_limits) = (token_calls, statements);
        self
    }

    /// Counters that several processes share, for a customer that calls from more than one. Default: counted in this
    /// client alone.
    #[must_use]
    pub fn counters(mut self, counters: Arc<dyn CounterStore>) -> Self {
        self.counters = Some(counters);
        self
    }

    /// The clock of assertions, token lifetimes and limits. Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build(self) -> Result<Client, BuildError> {
        let address = |text: &str| Endpoint::parse(text, self.http_on_loopback);
        let base = address(&self.base_url).map_err(BuildError::BaseUrl)?;
        let auth = match &self.auth_url {
            Some(url) => address(url).map_err(BuildError::AuthUrl)?,
            None => base.join("v1.0/auth"),
        };
        let mut api_key =
            HeaderValue::from_str(self.customer.api_key.expose_secret()).map_err(|_| BuildError::ApiKey)?;
        if api_key.is_empty() {
            return Err(BuildError::ApiKey);
        }
        api_key.set_sensitive(true);
        let all_http = base.is_plain_http() && auth.is_plain_http();
        let transport = self.transport(all_http)?;
        let assertion = self.assertion(&auth)?;
        let counters = self.counters.clone().unwrap_or_else(|| Arc::new(MemoryCounters::default()));
        let pacer = |call_type, policy| {
            let options =
                PacerOptions::new().counters(counters.clone(), self.customer.code.as_str()).pacing(self.pacing);
            Pacer::new(call_type, policy, self.clock.clone()).with_options(options)
        };
        let tokens = TokenSource::new(Exchange {
            transport: transport.clone(),
            endpoint: auth,
            api_key: api_key.clone(),
            assertion,
            key: self.customer.key.clone(),
            scopes: self.scopes.clone(),
            clock: self.clock.clone(),
            pacer: pacer(CallType::Token, self.token_limits),
            limit: TokenResponse::MAX_BYTES,
        });
        let statements = StatementClient::new(
            transport,
            base.join("accounts/v2.0/statement"),
            api_key,
            tokens.clone(),
            pacer(CallType::Statement, self.statement_limits),
            self.max_statement_bytes,
            self.read,
        );
        Ok(Client(Arc::new(Parts { tokens, statements })))
    }

    fn transport(&self, all_http: bool) -> Result<Transport, BuildError> {
        // Over loopback http alone there is nothing to trust, and a container may have no certificates at all.
        let roots =
            if all_http { self.roots.as_ref() } else { Some(self.roots.as_ref().unwrap_or(&TlsRoots::Platform)) };
        let tls = client_config(roots).map_err(BuildError::Tls)?;
        let mut http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .https_only(!self.http_on_loopback)
            // A redirect would carry the API key, and on one host the token, to an address that nobody checked.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(self.connect_timeout)
            .user_agent(concat!("bankrail-client/", env!("CARGO_PKG_VERSION")));
        if self.http_on_loopback {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| BuildError::Http(Box::new(error.without_url())))?;
        Ok(Transport { http, timeout: self.timeout })
    }

    fn assertion(&self, auth: &Endpoint) -> Result<AssertionBuilder, BuildError> {
        let audience = self.audience.as_deref().or(self.auth_url.as_deref()).unwrap_or(auth.url().as_str());
        let audience = Audience::parse(audience).map_err(BuildError::Audience)?;
        let mut assertion = AssertionBuilder::new(self.customer.code.clone(), audience);
        if self.jti {
            assertion = assertion.with_random_jwt_id();
        }
        if let Some(lifetime) = self.assertion_lifetime {
            if lifetime < Duration::from_secs(1) || lifetime > AssertionBuilder::MAX_LIFETIME {
                return Err(BuildError::AssertionLifetime { found: lifetime });
            }
            assertion = assertion.lifetime(lifetime);
        }
        Ok(assertion)
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ClientBuilder")
            .field("customer", &self.customer)
            .field("http_on_loopback", &self.http_on_loopback)
            .field("pacing", &self.pacing)
            .finish_non_exhaustive()
    }
}

/// Settings that make no client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The base address.
    #[error("the base address is refused")]
    BaseUrl(#[source] AddressError),
    /// The address of the token endpoint.
    #[error("the address of the token endpoint is refused")]
    AuthUrl(#[source] AddressError),
    /// The audience.
    #[error("the audience is refused")]
    Audience(#[source] AudienceError),
    /// A lifetime under a second or over an hour.
    #[error("expected an assertion lifetime of 1 to 3600 seconds, found {found:?}")]
    AssertionLifetime {
        /// The lifetime.
        found: Duration,
    },
    /// The API key is empty or has characters that a header cannot carry.
    #[error("expected an API key of visible characters")]
    ApiKey,
    /// TLS could not be set up.
    #[error("TLS could not be set up")]
    Tls(#[source] TlsError),
    /// The HTTP client could not be set up.
    #[error("the HTTP client could not be set up")]
    Http(#[source] Box<dyn Error + Send + Sync>),
}
