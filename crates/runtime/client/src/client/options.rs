//! Options of a client, and the parts that are made with them.

use super::{Client, Credentials};
use crate::archive::Archive;
use crate::call_error::Call;
use crate::http_client::{HttpClient, HttpClientError};
use crate::pace::{AccountPacers, Closing};
use crate::pacer::{Pacer, PacerOptions, Pacing};
use crate::sealing::SealingSecret;
use crate::statement::StatementClient;
use crate::token::{Exchange, SealedTokenCache, TokenSource};
use crate::transport::Caller;
use bankrail_camt052::ReadOptions;
use bankrail_client_assertion::token::{ScopeSet, TokenCache, TokenResponse, names};
use bankrail_client_assertion::{AssertionBuilder, AssertionOptions, Audience, JwtId, is_lifetime};
use bankrail_http::names::{API_KEY, STATEMENT_PATH, TOKEN_PATH, is_reserved};
use bankrail_http::tls::{ClientCertificate, TlsRoots};
use bankrail_http::{AddressError, EndpointUrl, Proxy};
use bankrail_jose::CurrentKey;
use bankrail_rate_limit::{CallType, CounterStore, MemoryCounters, Policy, default_limits};
use bankrail_values::{Clock, SystemClock, ValueError, excerpt};
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use std::sync::{Arc, Mutex};
use std::time::Duration;

bankrail_values::options! {
    /// Options of a [`Client`](super::Client).
    #[derive(Clone, Debug)]
    pub struct ClientOptions {
        /// The full address of the token endpoint. Default: `{base_url}/v1.0/auth` (Specification:
        /// "Obtain access token").
        auth_url(&str => |url| Some(url.to_owned())): Option<String> = None,
        /// The assertion's `aud`, sent exactly as given. Default: the address of the token
        /// endpoint. A service may expect a text other than its address (Default: "Token
        /// endpoint").
        audience(&str => |audience| Some(audience.to_owned())): Option<String> = None,
        /// The header that carries the API key to both endpoints. Default: `apikey` (Specification:
        /// "Authentication").
        api_key_header(&str => str::to_owned): String = API_KEY.as_str().to_owned(),
        /// The scopes that are requested for tokens. Default: the documented scope of statements.
        scopes: ScopeSet =
            ScopeSet::parse(names::STATEMENT_READ).expect("the documented scope name is well formed"),
        /// The lifetime of an assertion, at most 60 minutes (Specification: "Client assertion (JWT)
        /// the customer builds"). Default:
        /// [`AssertionBuilder::DEFAULT_LIFETIME`](bankrail_client_assertion::AssertionBuilder::DEFAULT_LIFETIME).
        assertion_lifetime(Duration => Some): Option<Duration> = None,
        /// If true, assertions have a random `jti`, which the specification does not list. Without
        /// a `jti`, two assertions that expire in the same second are the same text, and a service
        /// may refuse the second as a replay. Default: true.
        jti: bool = true,
        /// The certificate authorities that are trusted. Default: those of the operating system.
        tls_roots(TlsRoots => Some): Option<TlsRoots> = None,
        /// The certificate that is shown to a service that requires one. Default: none.
        client_certificate(ClientCertificate => Some): Option<ClientCertificate> = None,
        /// The proxy of calls over https. Default: that of the environment
        /// ([`Proxy::from_environment`]); a malformed value there is an error.
        proxy(Proxy => Some): Option<Proxy> = None,
        /// Allows `http://` for loopback hosts, and then ignores the environment's proxies. **For
        /// tests on one machine only**: every program that can read the loopback interface can read
        /// API key, assertion and token.
        danger_allow_http_on_loopback: bool = false,
        /// The maximum time of connecting, at most half of [`ClientOptions::timeout`]. Default: 10
        /// s.
        connect_timeout: Duration = Duration::from_secs(10),
        /// The maximum time of a whole exchange, from connecting to the last byte of the answer.
        /// Waiting for the rate limit does not count. Default: 60 s.
        timeout: Duration = Duration::from_secs(60),
        /// The maximum number of bytes of a statement's answer, which has at most 1000 entries.
        /// Default: [`ClientOptions::DEFAULT_MAX_STATEMENT_BYTES`]. The bound on a token's answer
        /// is
        /// [`TokenResponse::MAX_BYTES`](bankrail_client_assertion::token::TokenResponse::MAX_BYTES).
        max_statement_bytes: usize = Self::DEFAULT_MAX_STATEMENT_BYTES,
        /// The options for reading documents; [`ReadOptions::deny_findings`] also refuses answers
        /// that have findings. A poller skips entries that cannot be read
        /// ([`StatementPage::unread`](crate::StatementPage::unread)), unless findings refuse the
        /// document. Default: tolerant.
        read_options: ReadOptions = ReadOptions::default(),
        /// The treatment of a call that the limits, or a `Retry-After`, do not allow yet. Default:
        /// the call waits for up to a minute. If that is too short, the call fails at once with the
        /// time from which it is allowed ([`CallError::retry_at`](crate::CallError::retry_at)). A
        /// wait of more than a second is logged once, at `INFO`, with `until`, and
        /// [`Client::close`](super::Client::close) ends it.
        pacing: Pacing = Pacing::default(),
        /// The limits of token calls, if they differ from the specification's;
        /// [`Policy::unlimited`] for none. Default: 10 an hour and 2 a second.
        token_limits: Policy = default_limits(CallType::Token),
        /// The limits of statement calls, if they differ from the specification's;
        /// [`Policy::unlimited`] for none. Default: 25 an hour.
        statement_limits: Policy = default_limits(CallType::Statement),
        /// If true, the client expects a service that counts statement calls for each account
        /// instead of for the customer. Each account then has its own
        /// [`ClientOptions::statement_limits`], and a `Retry-After` holds back the calls of that
        /// account only. A poller whose call waits for one account does not poll the others
        /// meanwhile ([`Pacing::Fail`](crate::Pacing::Fail) lets it go on). Default: false
        /// (Default: "Limits").
        limit_per_account: bool = false,
        /// Counters in a store, for a customer that calls from more than one process, or whose
        /// process may be restarted within an hour. Default: the client's own counters in memory. A
        /// new client then counts from 0, and the service refuses the calls beyond its limits.
        ///
        /// With counters in a store, a program that crashes and restarts makes no more calls than
        /// the limits allow. That is 10 token calls an hour without a
        /// [`ClientOptions::token_cache`], and one for each token's life with it. A `Retry-After`
        /// is not stored, so each start may cause one more refusal by the service, within the
        /// limits.
        counters(Arc<dyn CounterStore> => Some): Option<Arc<dyn CounterStore>> = None,
        /// The store for access tokens, and the secret that seals them there. A new client then
        /// uses the token of the previous one instead of one of ten token calls an hour. Default:
        /// tokens are in memory only.
        ///
        /// - A token is found again by a client with the same token endpoint, customer code, scopes
        ///   and secret.
        /// - A token is sealed with AES-256-GCM together with its scopes, its times and the key
        ///   of its call. The token's expiry is also in the clear.
        /// - A token that cannot be opened, because it was sealed with another secret or by
        ///   another version, or was changed, is ignored with a warning in the log, and replaced.
        ///   If the store fails, the client logs a warning and goes on without it.
        /// - A token that the service refuses is removed, unless another one has replaced it.
        /// - Clients share tokens without locks. A client makes one token call at a time, and
        ///   checks the cache before it and again after a wait for the rate limit. Clients that
        ///   start at once on an empty cache may each make a call. With shared
        ///   [`ClientOptions::counters`], the limit of two calls a second permits two of them; the
        ///   others wait, check the cache again, and find the token of a successful call.
        token_cache((Arc<dyn TokenCache>, SealingSecret) => Some):
            Option<(Arc<dyn TokenCache>, SealingSecret)> = None,
        /// The archive for each answer of the statement endpoint with a 2xx status. Default: none.
        archive(Archive => Some): Option<Archive> = None,
        /// The clock of assertions, token lifetimes and limits. Default: the system's.
        clock: Arc<dyn Clock> = Arc::new(SystemClock),
        /// The network of a simulation, which takes the place of connections. Default: none.
        #[cfg(feature = "simulation")]
        network(Arc<dyn crate::simulation::Network> => Some):
            Option<Arc<dyn crate::simulation::Network>> = None,
    }
}

impl ClientOptions {
    /// The maximum number of bytes of a statement's answer by default: 32 MiB.
    pub const DEFAULT_MAX_STATEMENT_BYTES: usize = 32 << 20;

    /// Makes a client with these options.
    pub(super) fn into_client(
        self,
        credentials: Credentials,
        base_url: &str,
    ) -> Result<Client, ClientOptionsError> {
        let address = |text: &str| EndpointUrl::check(text, self.danger_allow_http_on_loopback);
        let base = address(base_url).map_err(ClientOptionsError::BaseUrl)?;
        let auth = match &self.auth_url {
            Some(url) => address(url).map_err(ClientOptionsError::AuthUrl)?,
            None => base.join(TOKEN_PATH),
        };
        let mut api_key = HeaderValue::from_str(credentials.api_key.expose_secret())
            .map_err(|_| ClientOptionsError::ApiKey)?;
        if api_key.is_empty() {
            return Err(ClientOptionsError::ApiKey);
        }
        // Not printed by the HTTP stack, nor kept in its table of headers.
        api_key.set_sensitive(true);
        let api_key = (self.checked_header()?, api_key);
        // Shorter than the whole exchange, so that a call that only tried to connect is known to be
        // one.
        let connect_timeout = self.connect_timeout.min(self.timeout / 2);
        let http = HttpClient::new(
            self.tls_roots.as_ref(),
            self.client_certificate.as_ref(),
            self.proxy.as_ref(),
            self.danger_allow_http_on_loopback,
            #[cfg(feature = "simulation")]
            self.network.clone(),
            &[&base, &auth],
            connect_timeout,
        )?;
        let assertion = self.assertion(&credentials, &auth)?;
        let cache = self.token_cache.clone().map(|(store, secret)| {
            SealedTokenCache::new(
                store,
                secret,
                auth.url().as_str(),
                &credentials.code,
                &self.scopes,
            )
        });
        let closing = Closing::default();
        let counters = self
            .counters
            .clone()
            .unwrap_or_else(|| Arc::new(MemoryCounters::default()));
        let alone = PacerOptions::new()
            .pacing(self.pacing)
            .clock(self.clock.clone());
        let pacing = alone
            .clone()
            .counters(counters)
            .customer(credentials.code.as_str());
        let caller = |endpoint, call, call_type, policy, limit| Caller {
            http: http.clone(),
            timeout: self.timeout,
            endpoint,
            call,
            api_key: api_key.clone(),
            pacer: Arc::new(Pacer::new(call_type, policy, pacing.clone())),
            closing: closing.clone(),
            limit,
            failing: Mutex::default(),
        };
        let tokens = TokenSource::new(Exchange {
            caller: caller(
                auth,
                Call::Token,
                CallType::Token,
                self.token_limits,
                TokenResponse::MAX_BYTES,
            ),
            assertion,
            key: CurrentKey::new(credentials.key),
            scopes: self.scopes.clone(),
            cache,
        });
        let (endpoint, limit) = (base.join(STATEMENT_PATH), self.max_statement_bytes);
        let apart = self.limit_per_account.then(|| {
            AccountPacers::new(
                self.statement_limits,
                pacing.clone(),
                credentials.code.clone(),
            )
        });
        let held = AccountPacers::new(Policy::unlimited(), alone, credentials.code.clone());
        let caller = caller(
            endpoint,
            Call::Statement,
            CallType::Statement,
            self.statement_limits,
            limit,
        );
        let read = self.read_options;
        let statements =
            StatementClient::new(caller, apart, held, tokens.clone(), read, self.archive);
        Ok(Client {
            tokens,
            statements,
            closing,
        })
    }

    /// Returns the header of the API key, which must not be a header that calls have for another
    /// purpose, such as the token's.
    fn checked_header(&self) -> Result<HeaderName, ClientOptionsError> {
        let header = HeaderName::try_from(&self.api_key_header)
            .ok()
            .filter(|name| !is_reserved(name) && *name != AUTHORIZATION);
        header.ok_or_else(|| ClientOptionsError::ApiKeyHeader {
            found: excerpt(&self.api_key_header),
        })
    }

    fn assertion(
        &self,
        credentials: &Credentials,
        auth: &EndpointUrl,
    ) -> Result<AssertionBuilder, ClientOptionsError> {
        let audience = self
            .audience
            .as_deref()
            .or(self.auth_url.as_deref())
            .unwrap_or(auth.url().as_str());
        let audience = Audience::parse(audience).map_err(ClientOptionsError::Audience)?;
        let mut assertion = AssertionOptions::new();
        if self.jti {
            assertion = assertion.jwt_id(JwtId::Random);
        }
        if let Some(lifetime) = self.assertion_lifetime {
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
}

/// The reason why a [`Client`](super::Client) cannot be made from its credentials, address and
/// options.
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
    Audience(#[source] ValueError),
    /// The lifetime of assertions is below a second or above an hour.
    #[error("expected an assertion lifetime of 1 to 3600 seconds, found {found:?}")]
    AssertionLifetime {
        /// The lifetime.
        found: Duration,
    },
    /// The API key is empty or has characters that a header cannot carry.
    #[error("expected an API key of visible characters")]
    ApiKey,
    /// [`ClientOptions::api_key_header`] is not the name of a header, or names one that calls have
    /// for another purpose.
    #[error("expected a header that only the API key uses, found {found}")]
    #[non_exhaustive]
    ApiKeyHeader {
        /// The text, cut and escaped.
        found: String,
    },
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Http(#[from] HttpClientError),
}
