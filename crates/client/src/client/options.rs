//! Options of a client.

use crate::token::TokenCacheSecret;
use bankrail_camt052::ReadOptions;
use bankrail_client_assertion::AudienceError;
use bankrail_client_assertion::token::{ScopeSet, TokenCache, names};
use bankrail_http::AddressError;
use bankrail_http::names::API_KEY;
use bankrail_http::tls::{TlsError, TlsRoots};
use bankrail_rate_limit::{CallType, CounterStore, Pacing, Policy, default_limits};
use bankrail_values::{Clock, SystemClock};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// Options of a [`Client`](super::Client).
#[derive(Clone, Debug)]
pub struct ClientOptions {
    pub(super) auth_url: Option<String>,
    pub(super) audience: Option<String>,
    pub(super) api_key_header: String,
    pub(super) scopes: ScopeSet,
    pub(super) assertion_lifetime: Option<Duration>,
    pub(super) jti: bool,
    pub(super) roots: Option<TlsRoots>,
    pub(super) http_on_loopback: bool,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
    pub(super) max_statement_bytes: usize,
    pub(super) read: ReadOptions,
    pub(super) pacing: Pacing,
    pub(super) token_limits: Policy,
    pub(super) statement_limits: Policy,
    pub(super) counters: Option<Arc<dyn CounterStore>>,
    pub(super) token_cache: Option<(Arc<dyn TokenCache>, TokenCacheSecret)>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            auth_url: None,
            audience: None,
            api_key_header: API_KEY.as_str().to_owned(),
            scopes: ScopeSet::parse(names::STATEMENT_READ).expect("the documented scope name is well formed"),
            assertion_lifetime: None,
            jti: true,
            roots: None,
            http_on_loopback: false,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(60),
            max_statement_bytes: Self::DEFAULT_MAX_STATEMENT_BYTES,
            read: ReadOptions::default(),
            pacing: Pacing::default(),
            token_limits: default_limits(CallType::Token),
            statement_limits: default_limits(CallType::Statement),
            counters: None,
            token_cache: None,
            clock: Arc::new(SystemClock),
        }
    }
}

impl ClientOptions {
    /// The most bytes of a statement's answer by default: 32 MiB.
    pub const DEFAULT_MAX_STATEMENT_BYTES: usize = 32 << 20;

    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The full address of the token endpoint. Default: `{base_url}/v1.0/auth` (Specification: "Obtain access token").
    #[must_use]
    pub fn auth_url(mut self, url: impl Into<String>) -> Self {
        self.auth_url = Some(url.into());
        self
    }

    /// The assertion's `aud`, sent exactly as given. Default: the address of the token endpoint. A service may expect
    /// another text than its address (Default: "Token endpoint").
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// The header that carries the API key to both endpoints. Default: `apikey` (Specification: "Authentication").
    #[must_use]
    pub fn api_key_header(mut self, name: impl Into<String>) -> Self {
        self.api_key_header = name.into();
        self
    }

    /// The scopes that are requested for tokens. Default: the documented scope of statements.
    #[must_use]
    pub fn scopes(mut self, scopes: ScopeSet) -> Self {
        self.scopes = scopes;
        self
    }

    /// The lifetime of an assertion, at most 60 minutes (Specification: "Client assertion (JWT) the customer builds").
    /// Default: [`AssertionBuilder::DEFAULT_LIFETIME`](bankrail_client_assertion::AssertionBuilder::DEFAULT_LIFETIME).
    #[must_use]
    pub fn assertion_lifetime(mut self, lifetime: Duration) -> Self {
        self.assertion_lifetime = Some(lifetime);
        self
    }

    /// Whether assertions have a random `jti`, which the specification does not list. Without it, two assertions that
    /// expire in the same second are the same text, and a service may refuse the second as a replay. Default: yes.
    #[must_use]
    pub fn jti(mut self, wanted: bool) -> Self {
        self.jti = wanted;
        self
    }

    /// Which certificate authorities are trusted. Default: those of the operating system.
    #[must_use]
    pub fn tls_roots(mut self, roots: TlsRoots) -> Self {
        self.roots = Some(roots);
        self
    }

    /// Allows `http://` for loopback hosts, and then ignores the environment's proxies. **For tests on one machine
    /// only**: every program that can read the loopback interface can read API key, assertion and token.
    #[must_use]
    pub fn danger_allow_http_on_loopback(mut self) -> Self {
        self.http_on_loopback = true;
        self
    }

    /// How long connecting may take. Default: 10 s.
    #[must_use]
    pub fn connect_timeout(mut self, longest: Duration) -> Self {
        self.connect_timeout = longest;
        self
    }

    /// How long a whole exchange may take, from connecting to the last byte of the answer. Waiting for the rate limit
    /// does not count. Default: 60 s.
    #[must_use]
    pub fn timeout(mut self, longest: Duration) -> Self {
        self.timeout = longest;
        self
    }

    /// The most bytes of a statement's answer, which has at most 1000 entries. Default:
    /// [`ClientOptions::DEFAULT_MAX_STATEMENT_BYTES`]. The bound on a token's answer is
    /// [`TokenResponse::MAX_BYTES`](bankrail_client_assertion::token::TokenResponse::MAX_BYTES).
    #[must_use]
    pub fn max_statement_bytes(mut self, bytes: usize) -> Self {
        self.max_statement_bytes = bytes;
        self
    }

    /// How documents are read; [`ReadOptions::deny_findings`] also refuses answers that have findings. Default:
    /// tolerant.
    #[must_use]
    pub fn read_options(mut self, options: ReadOptions) -> Self {
        self.read = options;
        self
    }

    /// What happens to a call that the limits, or a `Retry-After`, do not allow yet. Default: it waits for up to a
    /// minute. If that is too short, it fails at once with the time from which it is allowed
    /// ([`StatementError::retry_at`](crate::StatementError::retry_at),
    /// [`TokenError::retry_at`](crate::TokenError::retry_at)). A wait of more than a second is logged once, at `INFO`,
    /// with `until`, and [`Client::close`](super::Client::close) ends it.
    #[must_use]
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = pacing;
        self
    }

    /// The limits of token calls, if they differ from the specification's; [`Policy::unlimited`] for none. Default: 10
    /// an hour and 2 a second.
    #[must_use]
    pub fn token_limits(mut self, limits: Policy) -> Self {
        self.token_limits = limits;
        self
    }

    /// The limits of statement calls, if they differ from the specification's; [`Policy::unlimited`] for none. Default:
    /// 25 an hour.
    #[must_use]
    pub fn statement_limits(mut self, limits: Policy) -> Self {
        self.statement_limits = limits;
        self
    }

    /// Counters in a store, for a customer that calls from more than one process, or whose process may be restarted
    /// within an hour. Default: the client's own counters in memory, so that a client that is made anew counts from 0
    /// and the service refuses what is too much.
    ///
    /// With them, a program that crashes and is started again and again makes no more calls than the limits allow: 10
    /// token calls an hour without a [`ClientOptions::token_cache`], and one for each token's life with it. A
    /// `Retry-After` is not kept: each start may meet the service's refusal once more, within the limits.
    #[must_use]
    pub fn counters(mut self, counters: Arc<dyn CounterStore>) -> Self {
        self.counters = Some(counters);
        self
    }

    /// A store for access tokens, and the secret that seals them there, so that a client that is made anew uses the
    /// token of the one before it instead of one of ten token calls an hour. Default: tokens are kept in memory only.
    ///
    /// - A token is found again by a client with the same token endpoint, customer code, scopes and secret.
    /// - It is sealed with AES-256-GCM together with its scopes, its times and the key of its call. Its expiry is in
    ///   the clear, and is sealed too.
    /// - What cannot be opened, because it was sealed with another secret or by another version, or was changed, is
    ///   ignored with a warning in the log, and replaced. A store that fails is a warning too: the client then goes on
    ///   as if it had none.
    /// - A token that the service refuses is removed, unless another one has replaced it.
    /// - Tokens are shared as they are found, without locks. One client makes one token call at a time, and looks into
    ///   the cache before it and again after having waited for the rate limit. Clients that start at once on an empty
    ///   cache may each make a call. With [`ClientOptions::counters`] shared too, the limit of two calls a second lets
    ///   two of them go; the others wait, look again, and find the token if one was answered meanwhile. A call that
    ///   waited and then was not needed stays counted.
    #[must_use]
    pub fn token_cache(mut self, cache: Arc<dyn TokenCache>, secret: TokenCacheSecret) -> Self {
        self.token_cache = Some((cache, secret));
        self
    }

    /// The clock of assertions, token lifetimes and limits. Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

/// Why a [`Client`](super::Client) cannot be made from its credentials, address and options.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientOptionsError {
    /// The base address is refused.
    #[error("the base address is refused")]
    BaseUrl(#[source] AddressError),
    /// The address of the token endpoint is refused.
    #[error("the address of the token endpoint is refused")]
    AuthUrl(#[source] AddressError),
    /// The audience is refused.
    #[error("the audience is refused")]
    Audience(#[source] AudienceError),
    /// The lifetime of assertions is below a second or above an hour.
    #[error("expected an assertion lifetime of 1 to 3600 seconds, found {found:?}")]
    AssertionLifetime {
        /// The lifetime.
        found: Duration,
    },
    /// The API key is empty or has characters that a header cannot carry.
    #[error("expected an API key of visible characters")]
    ApiKey,
    /// [`ClientOptions::api_key_header`] is not the name of a header, or is one that every call has.
    #[error("expected the name of a header of its own for the API key, found {found}")]
    #[non_exhaustive]
    ApiKeyHeader {
        /// The text, cut and escaped.
        found: String,
    },
    /// TLS could not be set up.
    #[error("TLS could not be set up")]
    Tls(#[source] TlsError),
    /// The HTTP client could not be set up.
    #[error("the HTTP client could not be set up")]
    Http(#[source] Box<dyn Error + Send + Sync>),
}
