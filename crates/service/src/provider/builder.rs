//! Putting a provider together.

use super::{Options, Provider, Shared};
use crate::{CursorSecret, CursorSecretError, Directory, Ledger};
use bankrail_client_assertion::token::{Scope, TokenRequest, TokenResponse, TokenStore, names};
use bankrail_client_assertion::{Audience, ReplayPolicy, ReplayStore, Verifier};
use bankrail_rate_limit::Limiter;
use bankrail_statement::StatementRequest;
use bankrail_values::{Clock, SystemClock};
use http::StatusCode;
use std::sync::Arc;
use std::time::Duration;

/// Puts a [`Provider`] together. The directory, the ledger, the two stores and the audience must be given.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct ProviderBuilder {
    directory: Option<Arc<dyn Directory>>,
    ledger: Option<Arc<dyn Ledger>>,
    tokens: Option<Arc<dyn TokenStore>>,
    replay: Option<Arc<dyn ReplayStore>>,
    limits: Option<Arc<Limiter>>,
    clock: Arc<dyn Clock>,
    verifier: Option<Verifier>,
    cursors: Option<CursorSecret>,
    base_path: String,
    options: Options,
}

impl ProviderBuilder {
    pub(super) fn new() -> Self {
        let scope = Scope::parse(names::STATEMENT_READ).expect("a constant that is a scope");
        Self {
            directory: None,
            ledger: None,
            tokens: None,
            replay: None,
            limits: None,
            clock: Arc::new(SystemClock),
            verifier: None,
            cursors: None,
            base_path: String::new(),
            options: Options {
                token_path: "/v1.0/auth".to_owned(),
                statement_path: "/accounts/v2.0/statement".to_owned(),
                token_lifetime: Duration::from_secs(TokenResponse::DEFAULT_LIFETIME),
                replay: ReplayPolicy::default(),
                statement_scope: scope,
                not_found_status: StatusCode::NOT_FOUND,
                rate_limit_headers: false,
                body_timeout: Duration::from_secs(15),
                max_token_body: TokenRequest::MAX_BYTES,
                max_statement_body: StatementRequest::MAX_BYTES,
                reporting_source: "CMM".to_owned(),
                offset_minutes: 0,
            },
        }
    }

    /// Who the customers are.
    pub fn directory(mut self, directory: Arc<dyn Directory>) -> Self {
        self.directory = Some(directory);
        self
    }

    /// What the accounts hold.
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Where tokens are kept, hashed.
    pub fn token_store(mut self, tokens: Arc<dyn TokenStore>) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Where used assertions are remembered.
    pub fn replay_store(mut self, replay: Arc<dyn ReplayStore>) -> Self {
        self.replay = Some(replay);
        self
    }

    /// The limits and their counters. Default: the specification's table, counted in this process's memory.
    pub fn limits(mut self, limits: Arc<Limiter>) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Where the time comes from. Default: the operating system.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The `aud` that assertions must name (Specification: "Client assertion (JWT) the customer builds").
    pub fn audience(self, audience: Audience) -> Self {
        self.verifier(Verifier::new(audience))
    }

    /// How assertions are checked, audience included; for a leeway, or for clients that send no `typ`.
    pub fn verifier(mut self, verifier: Verifier) -> Self {
        self.verifier = Some(verifier);
        self
    }

    /// What counts as an assertion presented again. Default: [`ReplayPolicy::JtiIfPresent`].
    pub fn replay_policy(mut self, policy: ReplayPolicy) -> Self {
        self.options.replay = policy;
        self
    }

    /// How long a token lives, a second or more, cut to seconds. Default: 3600 seconds.
    pub fn token_lifetime(mut self, lifetime: Duration) -> Self {
        self.options.token_lifetime = Duration::from_secs(lifetime.as_secs());
        self
    }

    /// The scope that a statement asks for. Default: `GBL.INSTO.ACCOUNTS.STATEMENT.READ`.
    pub fn statement_scope(mut self, scope: Scope) -> Self {
        self.options.statement_scope = scope;
        self
    }

    /// The secret that seals cursors. Default: a new one, so cursors of a run before or of another process are refused.
    pub fn cursor_secret(mut self, secret: CursorSecret) -> Self {
        self.cursors = Some(secret);
        self
    }

    /// What comes before both endpoints' paths, such as `/bank`. Default: nothing.
    pub fn base_path(mut self, path: impl Into<String>) -> Self {
        self.base_path = path.into();
        self
    }

    /// The token endpoint's path below the base. Default: `/v1.0/auth`.
    pub fn token_path(mut self, path: impl Into<String>) -> Self {
        self.options.token_path = path.into();
        self
    }

    /// The statement endpoint's path below the base. Default: `/accounts/v2.0/statement`.
    pub fn statement_path(mut self, path: impl Into<String>) -> Self {
        self.options.statement_path = path.into();
        self
    }

    /// The status that goes with `EC20001`, which the specification leaves open. Default: 404.
    pub fn account_not_found_status(mut self, status: StatusCode) -> Self {
        self.options.not_found_status = status;
        self
    }

    /// Adds `RateLimit` and `RateLimit-Policy` to the answers of both endpoints. Default: only `Retry-After`, with 429.
    pub fn rate_limit_headers(mut self, wanted: bool) -> Self {
        self.options.rate_limit_headers = wanted;
        self
    }

    /// How long a request's body may take to arrive; then the answer is 408. Default: 15 s.
    pub fn body_timeout(mut self, longest: Duration) -> Self {
        self.options.body_timeout = longest;
        self
    }

    /// The most bytes of a token request. Default, and the most that helps: 32 KiB.
    pub fn max_token_body(mut self, bytes: usize) -> Self {
        self.options.max_token_body = bytes;
        self
    }

    /// The most bytes of a statement request. Default, and the most that helps: 16 KiB.
    pub fn max_statement_body(mut self, bytes: usize) -> Self {
        self.options.max_statement_body = bytes;
        self
    }

    /// `RptgSrc/Prtry` of reports whose account says none: 1 to 35 characters. Default: `CMM`.
    pub fn reporting_source(mut self, source: impl Into<String>) -> Self {
        self.options.reporting_source = source.into();
        self
    }

    /// The offset from UTC, in minutes, in which reports state their times. Default: 0.
    pub fn report_offset_minutes(mut self, minutes: i16) -> Self {
        self.options.offset_minutes = minutes;
        self
    }

    /// Builds the provider.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build(self) -> Result<Provider, BuildError> {
        let mut options = self.options;
        for path in [&mut options.token_path, &mut options.statement_path] {
            *path = checked_path(&self.base_path, path)?;
        }
        if options.token_path == options.statement_path {
            return Err(BuildError::SamePath { path: options.token_path });
        }
        if !(1..=35).contains(&options.reporting_source.chars().count()) {
            return Err(BuildError::ReportingSource);
        }
        if !(-840..=840).contains(&options.offset_minutes) {
            return Err(BuildError::Offset { found: options.offset_minutes });
        }
        if options.token_lifetime.is_zero() {
            return Err(BuildError::TokenLifetime);
        }
        let shared = Shared {
            directory: self.directory.ok_or(BuildError::Missing { part: "directory" })?,
            ledger: self.ledger.ok_or(BuildError::Missing { part: "ledger" })?,
            tokens: self.tokens.ok_or(BuildError::Missing { part: "token store" })?,
            replay: self.replay.ok_or(BuildError::Missing { part: "replay store" })?,
            limits: self.limits.unwrap_or_default(),
            clock: self.clock,
            verifier: self.verifier.ok_or(BuildError::Missing { part: "audience" })?,
            cursors: self.cursors.map_or_else(CursorSecret::generate, Ok).map_err(BuildError::Cursors)?,
            options,
        };
        Ok(Provider { shared: Arc::new(shared) })
    }
}

/// A literal path. Braces and asterisks would be patterns to the router.
fn checked_path(base: &str, path: &str) -> Result<String, BuildError> {
    let literal = |c: u8| c.is_ascii_alphanumeric() || b"/-._~!$&'()+,;=:@".contains(&c);
    let whole = format!("{}{path}", base.trim_end_matches('/'));
    // A segment that begins with a colon was a pattern once, and the router refuses it.
    let plain = !whole.contains("//") && !whole.contains("/:");
    let good = path.len() > 1 && path.starts_with('/') && whole.starts_with('/') && plain;
    if good && whole.bytes().all(literal) { Ok(whole) } else { Err(BuildError::Path { found: whole }) }
}

/// Why there is no provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A part that must be given was not.
    #[error("expected a {part}, found none")]
    Missing {
        /// The part.
        part: &'static str,
    },
    /// A path that is not absolute and literal.
    #[error("expected an absolute path of literal segments, found {found:?}")]
    Path {
        /// The base and the path.
        found: String,
    },
    /// Both endpoints at one path.
    #[error("expected two paths, found {path:?} twice")]
    SamePath {
        /// The path.
        path: String,
    },
    /// The reporting source is empty or longer than 35 characters.
    #[error("expected a reporting source of 1 to 35 characters")]
    ReportingSource,
    /// An offset from UTC of more than 14 hours.
    #[error("expected an offset of at most 840 minutes, found {found}")]
    Offset {
        /// The offset in minutes.
        found: i16,
    },
    /// Tokens that would have ended before they are used.
    #[error("expected a token lifetime of a second or more")]
    TokenLifetime,
    /// There was no randomness for a cursor secret.
    #[error("no cursor secret")]
    Cursors(#[source] CursorSecretError),
}
