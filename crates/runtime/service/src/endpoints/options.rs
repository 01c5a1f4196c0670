//! Options of a provider.

use super::audit::{AuditLog, AuditOptions};
use super::issuer::{Issuer, is_literal_path};
use super::time_zone::{ReportTimeZone, similar_names};
use crate::{BookingDayPolicy, CursorSecret, ReportDay, StatementFailure};
use bankrail_client_assertion::ReplayPolicy;
use bankrail_client_assertion::token::{Scope, ScopeSet, TokenRequest, TokenResponse, names};
use bankrail_http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail_http::{__private::LineBound, HeadBounds};
use bankrail_rate_limit::Limiter;
use bankrail_statement::{ErrorCode, StatementRequest};
use bankrail_values::{Clock, RandomnessError, SystemClock, excerpt};
use http::StatusCode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

bankrail_values::options! {
    /// Options of a [`Provider`](crate::Provider).
    #[derive(Clone, Debug)]
    pub struct ProviderOptions {
        /// The limits and their counters. Default: the specification's table, counted in this
        /// process's memory.
        pub(crate) limiter(Arc<Limiter> => Some): Option<Arc<Limiter>> = None,
        /// The clock. Default: the operating system's.
        pub(crate) clock: Arc<dyn Clock> = Arc::new(SystemClock),
        /// The clock for the validity of assertions, for a test bank whose
        /// [`ProviderOptions::clock`] differs from the customers' clocks. Default:
        /// [`ProviderOptions::clock`].
        pub(crate) assertion_clock(Arc<dyn Clock> => Some): Option<Arc<dyn Clock>> = None,
        /// The secret that seals cursors. Default: a new one for each provider, so that cursors of
        /// another process or from before a restart are refused.
        pub(crate) cursor_secret(CursorSecret => Some): Option<CursorSecret> = None,
        /// A path before those of both endpoints, such as `/bank`. Default: none.
        pub(crate) base_path(into): String = String::new(),
        /// The token endpoint's path below the base. Default: `/v1.0/auth`.
        pub(crate) token_path(into): String = TOKEN_PATH.to_owned(),
        /// The statement endpoint's path below the base. Default: `/accounts/v2.0/statement`.
        pub(crate) statement_path(into): String = STATEMENT_PATH.to_owned(),
        /// The scopes that the issuer's metadata names. Default: the one that a statement needs.
        pub(crate) scopes_supported(ScopeSet => Some): Option<ScopeSet> = None,
        /// If true, the routers serve [`Provider::openapi`](crate::Provider::openapi) to everybody,
        /// at `/openapi.json` below the base. Default: true.
        pub(crate) serve_openapi: bool = true,
        /// The lifetime of a token: a second or more, in whole seconds. Default: 3600 seconds.
        pub(crate) token_lifetime(Duration => |lifetime| Duration::from_secs(lifetime.as_secs())): Duration =
            Duration::from_secs(TokenResponse::DEFAULT_LIFETIME),
        /// The rule that decides which assertions count as replayed. Default:
        /// [`ReplayPolicy::JtiIfPresent`].
        pub(crate) replay_policy: ReplayPolicy = ReplayPolicy::default(),
        /// The scope that a statement needs. Default: `GBL.INSTO.ACCOUNTS.STATEMENT.READ`.
        pub(crate) statement_scope: Scope = Scope::parse(names::STATEMENT_READ).expect("a constant that is a scope"),
        /// The shape of the token endpoint's error bodies (Specification: "Errors", which leaves it
        /// open). Default: [`TokenErrorStyle::Rfc6749`].
        pub(crate) token_error_body: TokenErrorStyle = TokenErrorStyle::default(),
        /// If true, every statement has `sortOrder`. Default: false, as the specification has it
        /// "only in some responses" ("Statement response"). It is then on all pages of a statement
        /// whose account has virtual accounts or whose first request names an order, and on no page
        /// of any other.
        pub(crate) always_say_sort_order: bool = false,
        /// If true, a statement shows the parties and texts of fast payments when its request has
        /// no `includeNarrative`. Default: true.
        pub(crate) narrative_by_default: bool = true,
        /// If true, the answers of both endpoints have `RateLimit` and `RateLimit-Policy`. Default:
        /// false. Every 429 has a `Retry-After` in either case.
        pub(crate) rate_limit_headers: bool = false,
        /// The time in which the body of a request must arrive. After it the answer is 408.
        /// Default: 15 s.
        pub(crate) body_timeout: Duration = Duration::from_secs(15),
        /// The most bytes of a token request. Default: 32 KiB, and a larger value has no effect.
        pub(crate) max_token_body_bytes: usize = TokenRequest::MAX_BYTES,
        /// The most bytes of a statement request. Default: 16 KiB, and a larger value has no
        /// effect.
        pub(crate) max_statement_body_bytes: usize = StatementRequest::MAX_BYTES,
        /// The most bytes of the address and of the headers of a request. Beyond them the answer is
        /// 414 or 431. The server under the routers must allow more, so that it does not answer by
        /// itself. Default: [`HeadBounds::default`].
        pub(crate) head_bounds: HeadBounds = HeadBounds::default(),
        /// `RptgSrc/Prtry` of reports whose account has none: 1 to 35 characters. Default: `CMM`.
        pub(crate) reporting_source(into): String = "CMM".to_owned(),
        /// The treatment of a booking whose day is not that of a report made now
        /// ([`ReportDay::check`]); a ledger applies it
        /// ([`Ledger::follow_report_day`](crate::Ledger::follow_report_day)). Default:
        /// [`BookingDayPolicy::Warn`].
        pub(crate) booking_day_policy: BookingDayPolicy = BookingDayPolicy::default(),
        ;
        pub(crate) issuer: Option<String> = None,
        pub(crate) error_codes: BTreeMap<StatementFailure, ErrorCode> = BTreeMap::new(),
        pub(crate) error_statuses: BTreeMap<StatementFailure, StatusCode> = BTreeMap::new(),
        pub(crate) audit: Option<(Arc<dyn AuditLog>, AuditOptions)> = None,
        pub(crate) report_time_zone: ReportTimeZone = ReportTimeZone::default(),
        /// Bounds the lines about calls without a known API key.
        pub(crate) strangers: Arc<LineBound> = Arc::default(),
    }
}

impl ProviderOptions {
    /// Records each token granted and each page of a statement served, before its answer is sent.
    /// Default: no records.
    #[must_use]
    pub fn audit(mut self, log: Arc<dyn AuditLog>, options: AuditOptions) -> Self {
        self.audit = Some((log, options));
        self
    }

    /// Sets the public name of the issuer: an `https` URL without user, query and fragment, such as
    /// `https://auth.bank.example` or `https://bank.example/auth`. Default: none.
    ///
    /// With it:
    /// - [`Provider::router`](crate::Provider::router) and `token_router` serve the issuer's
    ///   metadata to everybody (Specification: "Authentication", 2):
    ///   `/.well-known/openid-configuration` after the issuer's path (OpenID Connect Discovery 1.0
    ///   section 4.1) and `/.well-known/oauth-authorization-server` before it (RFC 8414 section
    ///   3.1). The base path is not in front of them.
    /// - The metadata names the token endpoint at the issuer's host, under the path that the router
    ///   serves.
    /// - Assertions may name the issuer or the token endpoint's address as their audience, beside
    ///   those that the verifier accepts. Client libraries do so by default (Default: "Token
    ///   endpoint").
    #[must_use]
    pub fn issuer(mut self, url: impl Into<String>) -> Self {
        self.issuer = Some(url.into());
        self
    }

    /// Sets the error code of a failure of the statement endpoint: `EC` and 1 to 16 digits.
    /// Default: [`StatementFailure::default_code`]. That of [`StatementFailure::AccountNotFound`]
    /// is the specification's.
    #[must_use]
    pub fn error_code(mut self, failure: StatementFailure, code: ErrorCode) -> Self {
        self.error_codes.insert(failure, code);
        self
    }

    /// Sets the HTTP status of a failure of the statement endpoint, one whose answers have a body.
    /// Default: [`StatementFailure::default_status`]. That of [`StatementFailure::RateLimit`] is
    /// the specification's.
    #[must_use]
    pub fn error_status(mut self, failure: StatementFailure, status: StatusCode) -> Self {
        self.error_statuses.insert(failure, status);
        self
    }

    /// Sets the time zone of reports: a name of the IANA time zone database such as
    /// `Australia/Sydney`, in upper or lower case. It decides which day a statement is of, and the
    /// offset of the report's times, summer time included. Default: `UTC`. The side that books
    /// takes [`Provider::today`](crate::Provider::today) as its booking day.
    ///
    /// The rules are those that this version was compiled with; the machine's own are not asked.
    #[must_use]
    pub fn report_time_zone(mut self, name: impl Into<String>) -> Self {
        self.report_time_zone = ReportTimeZone::named(name.into());
        self
    }

    /// Returns the day of reports made with these options.
    pub(crate) fn report_day(&self) -> ReportDay {
        ReportDay::new(
            Arc::clone(&self.clock),
            self.report_time_zone.clone(),
            self.booking_day_policy,
        )
    }

    /// Returns the path of the OpenAPI document, if it is served.
    pub(crate) fn openapi_path(&self) -> Option<String> {
        self.serve_openapi
            .then(|| format!("{}/openapi.json", self.base_path.trim_end_matches('/')))
    }

    /// Returns the path of the authorization endpoint.
    pub(crate) fn authorization_path(&self) -> String {
        format!("{}/authorize", self.base_path.trim_end_matches('/'))
    }

    /// Returns the code and the status of a failure of the statement endpoint.
    pub(crate) fn answer(&self, failure: StatementFailure) -> (ErrorCode, StatusCode) {
        let code = self
            .error_codes
            .get(&failure)
            .cloned()
            .unwrap_or_else(|| failure.default_code());
        (
            code,
            self.error_statuses
                .get(&failure)
                .copied()
                .unwrap_or_else(|| failure.default_status()),
        )
    }

    /// Returns the scopes of the metadata.
    pub(crate) fn advertised_scopes(&self) -> ScopeSet {
        self.scopes_supported
            .clone()
            .unwrap_or_else(|| ScopeSet::of(self.statement_scope.clone()))
    }

    /// Checks the options and prefixes the paths with the base path.
    pub(crate) fn checked(mut self) -> Result<(Self, Option<Issuer>), ProviderOptionsError> {
        for path in [&mut self.token_path, &mut self.statement_path] {
            *path = checked_path(&self.base_path, path)?;
        }
        let issuer = self.issuer.as_deref().map(|text| {
            Issuer::parse(text).ok_or_else(|| ProviderOptionsError::Issuer {
                found: excerpt(text),
            })
        });
        let issuer = issuer.transpose()?;
        let mut paths = vec![self.token_path.clone(), self.statement_path.clone()];
        if let Some(issuer) = &issuer {
            paths.extend(issuer.paths());
            paths.push(self.authorization_path());
        }
        paths.extend(self.openapi_path());
        let mut seen = BTreeSet::new();
        if let Some(path) = paths.into_iter().find(|path| !seen.insert(path.clone())) {
            return Err(ProviderOptionsError::SamePath { path });
        }
        if !(1..=35).contains(&self.reporting_source.chars().count()) {
            return Err(ProviderOptionsError::ReportingSource);
        }
        if let Some(name) = self.report_time_zone.unknown_name() {
            return Err(ProviderOptionsError::TimeZone {
                found: excerpt(name),
                similar: similar_names(name),
            });
        }
        for (failure, code) in &self.error_codes {
            if !failure.may_have_code(code) {
                return Err(ProviderOptionsError::ErrorCode {
                    failure: *failure,
                    found: code.clone(),
                });
            }
        }
        for (failure, status) in &self.error_statuses {
            if !failure.may_have_status(*status) {
                return Err(ProviderOptionsError::ErrorStatus {
                    failure: *failure,
                    found: *status,
                });
            }
        }
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
    /// `{"error":"invalid_client"}`, with `error_description` where the request itself is wrong
    /// (RFC 6749 section 5.2). Client libraries read it.
    #[default]
    Rfc6749,
    /// `{"requestKey":…,"error":{"statusCode":…,"title":…}}`, as the statement endpoint writes it.
    /// The code is `EC42001` under 400, `EC20005` under 500 and 503, and otherwise `EC` and the
    /// status (Default: "Token endpoint").
    Statement,
}

/// Returns the base followed by the path, which must be literal: braces and asterisks would be
/// patterns to the router.
fn checked_path(base: &str, path: &str) -> Result<String, ProviderOptionsError> {
    let whole = format!("{}{path}", base.trim_end_matches('/'));
    let good = path.len() > 1 && path.starts_with('/') && is_literal_path(&whole);
    if good {
        Ok(whole)
    } else {
        Err(ProviderOptionsError::Path { found: whole })
    }
}

/// The reason why a [`Provider`](crate::Provider) cannot be made from its options.
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
    /// Two served resources have the same path.
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
    #[error(
        "expected an error code of EC and digits that the specification allows for {failure:?}, found {found}"
    )]
    ErrorCode {
        /// The failure.
        failure: StatementFailure,
        /// The code.
        found: ErrorCode,
    },
    /// A status whose answers have no body, or another one than the specification's.
    #[error(
        "expected a status with a body that the specification allows for {failure:?}, found {found}"
    )]
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
