//! Options of a provider.

use crate::audit::{AuditLog, AuditOptions};
use crate::issuer::Issuer;
use crate::time_zone::ReportTimeZone;
use crate::{CursorSecret, StatementFailure, discovery};
use bankrail_client_assertion::ReplayPolicy;
use bankrail_client_assertion::token::{Scope, ScopeSet, TokenRequest, TokenResponse, names};
use bankrail_http::HeadBounds;
use bankrail_http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail_rate_limit::Limiter;
use bankrail_statement::{ErrorCode, StatementRequest};
use bankrail_values::{Clock, RandomnessError, SystemClock};
use http::StatusCode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Options of a [`Provider`](crate::Provider).
#[derive(Clone, Debug)]
pub struct ProviderOptions {
    pub(crate) limiter: Option<Arc<Limiter>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) cursor_secret: Option<CursorSecret>,
    pub(crate) base_path: String,
    pub(crate) token_path: String,
    pub(crate) statement_path: String,
    pub(crate) issuer: Option<String>,
    pub(crate) scopes_supported: Option<ScopeSet>,
    pub(crate) serve_contract: bool,
    pub(crate) token_lifetime: Duration,
    pub(crate) replay_policy: ReplayPolicy,
    pub(crate) statement_scope: Scope,
    pub(crate) error_codes: BTreeMap<StatementFailure, ErrorCode>,
    pub(crate) error_statuses: BTreeMap<StatementFailure, StatusCode>,
    pub(crate) token_error_body: TokenErrorStyle,
    pub(crate) always_say_sort_order: bool,
    pub(crate) rate_limit_headers: bool,
    pub(crate) body_timeout: Duration,
    pub(crate) max_token_body: usize,
    pub(crate) max_statement_body: usize,
    pub(crate) head_bounds: HeadBounds,
    pub(crate) audit: Option<(Arc<dyn AuditLog>, AuditOptions)>,
    pub(crate) reporting_source: String,
    pub(crate) report_time_zone: ReportTimeZone,
}

impl Default for ProviderOptions {
    fn default() -> Self {
        Self {
            limiter: None,
            clock: Arc::new(SystemClock),
            cursor_secret: None,
            base_path: String::new(),
            token_path: TOKEN_PATH.to_owned(),
            statement_path: STATEMENT_PATH.to_owned(),
            issuer: None,
            scopes_supported: None,
            serve_contract: true,
            token_lifetime: Duration::from_secs(TokenResponse::DEFAULT_LIFETIME),
            replay_policy: ReplayPolicy::default(),
            statement_scope: Scope::parse(names::STATEMENT_READ).expect("a constant that is a scope"),
            error_codes: BTreeMap::new(),
            error_statuses: BTreeMap::new(),
            token_error_body: TokenErrorStyle::default(),
            always_say_sort_order: false,
            rate_limit_headers: false,
            body_timeout: Duration::from_secs(15),
            max_token_body: TokenRequest::MAX_BYTES,
            max_statement_body: StatementRequest::MAX_BYTES,
            head_bounds: HeadBounds::default(),
            audit: None,
            reporting_source: "CMM".to_owned(),
            report_time_zone: ReportTimeZone::default(),
        }
    }
}

impl ProviderOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The limits and their counters. Default: the specification's table, counted in this process's memory.
    #[must_use]
    pub fn limiter(mut self, limiter: Arc<Limiter>) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// The clock. Default: the operating system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The secret that seals cursors. Default: a new one for each provider, so that cursors of another process or from
    /// before a restart are refused.
    #[must_use]
    pub fn cursor_secret(mut self, secret: CursorSecret) -> Self {
        self.cursor_secret = Some(secret);
        self
    }

    /// The name of the issuer, as the public knows it: an `https` URL without user, query and fragment, such as
    /// `https://auth.bank.example` or `https://bank.example/auth`. Default: none.
    ///
    /// With it:
    /// - [`Provider::router`](crate::Provider::router) and `token_router` serve the issuer's metadata to everybody
    ///   (Specification: "Authentication", 2): `/.well-known/openid-configuration` after the issuer's path (OpenID
    ///   Connect Discovery 1.0 section 4.1) and `/.well-known/oauth-authorization-server` before it (RFC 8414 section
    ///   3.1). The base path is not in front of them.
    /// - The metadata names the token endpoint at the issuer's host, under the path that the router serves.
    /// - Assertions may name the issuer or the token endpoint's address as their audience, beside those that the
    ///   verifier accepts. Client libraries do so by default (Default: "Token endpoint").
    #[must_use]
    pub fn issuer(mut self, url: impl Into<String>) -> Self {
        self.issuer = Some(url.into());
        self
    }

    /// The scopes that the issuer's metadata names. Default: the one that a statement needs.
    #[must_use]
    pub fn scopes_supported(mut self, scopes: ScopeSet) -> Self {
        self.scopes_supported = Some(scopes);
        self
    }

    /// Whether the routers serve the contract, an OpenAPI 3.1 document, to everybody, at `/openapi.json` below the
    /// base. Default: yes. [`Provider::contract`](crate::Provider::contract) returns it in either case.
    #[must_use]
    pub fn serve_contract(mut self, serve: bool) -> Self {
        self.serve_contract = serve;
        self
    }

    /// A path before those of both endpoints, such as `/bank`. Default: none.
    #[must_use]
    pub fn base_path(mut self, path: impl Into<String>) -> Self {
        self.base_path = path.into();
        self
    }

    /// The token endpoint's path below the base. Default: `/v1.0/auth`.
    #[must_use]
    pub fn token_path(mut self, path: impl Into<String>) -> Self {
        self.token_path = path.into();
        self
    }

    /// The statement endpoint's path below the base. Default: `/accounts/v2.0/statement`.
    #[must_use]
    pub fn statement_path(mut self, path: impl Into<String>) -> Self {
        self.statement_path = path.into();
        self
    }

    /// How long a token is valid: a second or more, in whole seconds. Default: 3600 seconds.
    #[must_use]
    pub fn token_lifetime(mut self, lifetime: Duration) -> Self {
        self.token_lifetime = Duration::from_secs(lifetime.as_secs());
        self
    }

    /// Which assertions count as replayed. Default: [`ReplayPolicy::JtiIfPresent`].
    #[must_use]
    pub fn replay_policy(mut self, policy: ReplayPolicy) -> Self {
        self.replay_policy = policy;
        self
    }

    /// The scope that a statement needs. Default: `GBL.INSTO.ACCOUNTS.STATEMENT.READ`.
    #[must_use]
    pub fn statement_scope(mut self, scope: Scope) -> Self {
        self.statement_scope = scope;
        self
    }

    /// Sets the error code of a failure of the statement endpoint: `EC` and 1 to 16 digits. Default:
    /// [`StatementFailure::default_code`]. That of [`StatementFailure::AccountNotFound`] is the specification's.
    #[must_use]
    pub fn error_code(mut self, failure: StatementFailure, code: ErrorCode) -> Self {
        self.error_codes.insert(failure, code);
        self
    }

    /// Sets the HTTP status of a failure of the statement endpoint, one whose answers have a body. Default:
    /// [`StatementFailure::default_status`]. That of [`StatementFailure::RateLimit`] is the specification's.
    #[must_use]
    pub fn error_status(mut self, failure: StatementFailure, status: StatusCode) -> Self {
        self.error_statuses.insert(failure, status);
        self
    }

    /// The shape of the token endpoint's error bodies (Specification: "Errors", which leaves it open). Default:
    /// [`TokenErrorStyle::Rfc6749`].
    #[must_use]
    pub fn token_error_body(mut self, style: TokenErrorStyle) -> Self {
        self.token_error_body = style;
        self
    }

    /// Whether every statement says its `sortOrder`. Default: no; it is said on all pages of a statement whose account
    /// has virtual accounts or whose first request names an order (Specification: "Statement response", "only in some
    /// responses"), and on no page of any other.
    #[must_use]
    pub fn always_say_sort_order(mut self, always: bool) -> Self {
        self.always_say_sort_order = always;
        self
    }

    /// Whether the answers of both endpoints have `RateLimit` and `RateLimit-Policy`. Default: no. Every 429 has a
    /// `Retry-After` in either case.
    #[must_use]
    pub fn rate_limit_headers(mut self, wanted: bool) -> Self {
        self.rate_limit_headers = wanted;
        self
    }

    /// How long the body of a request may take to arrive. After that the answer is 408. Default: 15 s.
    #[must_use]
    pub fn body_timeout(mut self, longest: Duration) -> Self {
        self.body_timeout = longest;
        self
    }

    /// The most bytes of a token request. Default: 32 KiB, and a larger value has no effect.
    #[must_use]
    pub fn max_token_body(mut self, bytes: usize) -> Self {
        self.max_token_body = bytes;
        self
    }

    /// The most bytes of a statement request. Default: 16 KiB, and a larger value has no effect.
    #[must_use]
    pub fn max_statement_body(mut self, bytes: usize) -> Self {
        self.max_statement_body = bytes;
        self
    }

    /// How long the address and the headers of a request may be. After that the answer is 414 or 431. The server under
    /// the routers must allow more, so that it does not answer by itself. Default: [`HeadBounds::default`].
    #[must_use]
    pub fn head_bounds(mut self, bounds: HeadBounds) -> Self {
        self.head_bounds = bounds;
        self
    }

    /// Records each token granted and each page of a statement served, before its answer is sent. Default: no records.
    #[must_use]
    pub fn audit(mut self, log: Arc<dyn AuditLog>, options: AuditOptions) -> Self {
        self.audit = Some((log, options));
        self
    }

    /// `RptgSrc/Prtry` of reports whose account has none: 1 to 35 characters. Default: `CMM`.
    #[must_use]
    pub fn reporting_source(mut self, source: impl Into<String>) -> Self {
        self.reporting_source = source.into();
        self
    }

    /// The time zone of reports: a name of the IANA time zone database such as `Australia/Sydney`, in upper or lower
    /// case. It decides which day a statement is of, and the offset of the report's times, summer time included.
    /// Default: `UTC`.
    ///
    /// The rules are those that this version was compiled with; the machine's own are not asked.
    #[must_use]
    pub fn report_time_zone(mut self, name: impl Into<String>) -> Self {
        self.report_time_zone = ReportTimeZone::named(name.into());
        self
    }

    /// The path of the contract, if it is served.
    pub(crate) fn contract_path(&self) -> Option<String> {
        self.serve_contract.then(|| format!("{}/openapi.json", self.base_path.trim_end_matches('/')))
    }

    /// The scopes of the metadata.
    pub(crate) fn advertised_scopes(&self) -> ScopeSet {
        self.scopes_supported.clone().unwrap_or_else(|| ScopeSet::of(self.statement_scope.clone()))
    }

    /// Checks the options and prefixes the paths with the base path.
    pub(crate) fn checked(mut self) -> Result<(Self, Option<Issuer>), ProviderOptionsError> {
        for path in [&mut self.token_path, &mut self.statement_path] {
            *path = checked_path(&self.base_path, path)?;
        }
        let issuer = self.issuer.as_deref().map(Issuer::parse).transpose()?;
        let mut paths = vec![self.token_path.clone(), self.statement_path.clone()];
        if let Some(issuer) = &issuer {
            paths.extend(discovery::paths(issuer, &self));
        }
        paths.extend(self.contract_path());
        let mut seen = BTreeSet::new();
        if let Some(path) = paths.into_iter().find(|path| !seen.insert(path.clone())) {
            return Err(ProviderOptionsError::SamePath { path });
        }
        if !(1..=35).contains(&self.reporting_source.chars().count()) {
            return Err(ProviderOptionsError::ReportingSource);
        }
        self.report_time_zone.check()?;
        StatementFailure::check(&self)?;
        if self.token_lifetime.is_zero() {
            return Err(ProviderOptionsError::TokenLifetime);
        }
        Ok((self, issuer))
    }
}

/// The shape of the token endpoint's error bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenErrorStyle {
    /// `{"error":"invalid_client"}`, with `error_description` where the request itself is wrong (RFC 6749 section 5.2).
    /// Client libraries read it.
    #[default]
    Rfc6749,
    /// `{"requestKey":…,"error":{"statusCode":…,"title":…}}`, as the statement endpoint writes it. The code is
    /// `EC42001` under 400, `EC20005` under 500 and 503, and otherwise `EC` and the status (Default: "Token endpoint").
    Statement,
}

/// The base followed by the path, which must be literal: braces and asterisks would be patterns to the router.
fn checked_path(base: &str, path: &str) -> Result<String, ProviderOptionsError> {
    let whole = format!("{}{path}", base.trim_end_matches('/'));
    let good = path.len() > 1 && path.starts_with('/') && is_literal_path(&whole);
    if good { Ok(whole) } else { Err(ProviderOptionsError::Path { found: whole }) }
}

/// Whether the router takes the path for itself: it begins with a slash and has no pattern and no empty segment.
pub(crate) fn is_literal_path(path: &str) -> bool {
    let literal = |c: u8| c.is_ascii_alphanumeric() || b"/-._~!$&'()+,;=:@".contains(&c);
    // The router refuses a segment that begins with a colon, which was a pattern in older versions.
    let plain = !path.contains("//") && !path.contains("/:");
    path.starts_with('/') && plain && path.bytes().all(literal)
}

/// Why a [`Provider`](crate::Provider) cannot be made from its options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderOptionsError {
    /// A path that is not absolute and literal.
    #[error("expected an absolute path of literal segments, found {found:?}")]
    Path {
        /// The base and the path.
        found: String,
    },
    /// Not the name of an issuer.
    #[error("expected an https URL without user, query and fragment as the issuer, found {found}")]
    Issuer {
        /// The text, cut and escaped.
        found: String,
    },
    /// Two of what is served have the same path.
    #[error("expected two paths, found {path:?} twice")]
    SamePath {
        /// The path.
        path: String,
    },
    /// The reporting source is empty or longer than 35 characters.
    #[error("expected a reporting source of 1 to 35 characters")]
    ReportingSource,
    /// A time zone that the IANA database does not have.
    #[error("expected an IANA time zone such as {}, found {found}", .similar.join(" or "))]
    TimeZone {
        /// The name, cut and escaped.
        found: String,
        /// Names that are spelt alike, at most three; an example if there are none.
        similar: Vec<String>,
    },
    /// A code that is not `EC` and digits, or another one than the specification's.
    #[error("expected an error code of EC and digits that the specification allows for {failure:?}, found {found}")]
    ErrorCode {
        /// The failure.
        failure: StatementFailure,
        /// The code.
        found: ErrorCode,
    },
    /// A status whose answers have no body, or another one than the specification's.
    #[error("expected a status with a body that the specification allows for {failure:?}, found {found}")]
    ErrorStatus {
        /// The failure.
        failure: StatementFailure,
        /// The status.
        found: StatusCode,
    },
    /// A token lifetime below a second.
    #[error("expected a token lifetime of a second or more")]
    TokenLifetime,
    /// The operating system gave no random bytes for a cursor secret.
    #[error("no random bytes for a cursor secret")]
    Cursors(#[source] RandomnessError),
}
