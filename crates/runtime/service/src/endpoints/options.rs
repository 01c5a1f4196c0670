//! The checks of a provider's options, and those options that are set in another way than by their
//! value.

use super::ProviderOptions;
use super::audit::{AuditLog, AuditOptions};
use super::failure::StatementFailure;
use super::issuer::{Issuer, is_literal_path};
use super::report_day::ReportDay;
use super::time_zone::{ReportTimeZone, similar_names};
use bankrail_client_assertion::token::ScopeSet;
use bankrail_statement::ErrorCode;
use bankrail_values::{RandomnessError, excerpt};
use http::StatusCode;
use std::collections::BTreeSet;
use std::sync::Arc;

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
    /// With an issuer:
    /// - [`Provider::router`](crate::Provider::router) and `token_router` serve the issuer's
    ///   metadata to everybody (Specification: "Authentication", 2):
    ///   `/.well-known/openid-configuration` after the issuer's path (OpenID Connect Discovery 1.0
    ///   section 4.1) and `/.well-known/oauth-authorization-server` before it (RFC 8414 section
    ///   3.1). The base path is not in front of them.
    /// - The metadata names the token endpoint at the issuer's host, under the path that the router
    ///   serves.
    /// - Assertions may name the issuer or the token endpoint's address as their audience, in
    ///   addition to those that the verifier accepts. Client libraries do so by default (Default:
    ///   "Token endpoint").
    #[must_use]
    pub fn issuer(mut self, url: impl Into<String>) -> Self {
        self.issuer = Some(url.into());
        self
    }

    /// Sets the error code of a failure of the statement endpoint: `EC` and 1 to 16 digits.
    /// Default: [`StatementFailure::default_code`]. The specification fixes that of
    /// [`StatementFailure::AccountNotFound`].
    #[must_use]
    pub fn error_code(mut self, failure: StatementFailure, code: ErrorCode) -> Self {
        self.error_codes.insert(failure, code);
        self
    }

    /// Sets the HTTP status of a failure of the statement endpoint, one whose answers have a body.
    /// Default: [`StatementFailure::default_status`]. The specification fixes that of
    /// [`StatementFailure::RateLimit`].
    #[must_use]
    pub fn error_status(mut self, failure: StatementFailure, status: StatusCode) -> Self {
        self.error_statuses.insert(failure, status);
        self
    }

    /// Sets the time zone of reports: a name of the IANA time zone database such as
    /// `Australia/Sydney`, in upper or lower case. The zone decides on the day of a statement, and
    /// on the offset of the report's times, summer time included. Default: `UTC`. The side that
    /// books takes [`Provider::today`](crate::Provider::today) as its booking day.
    ///
    /// The rules of time zones are compiled in; the machine's own database is not read.
    #[must_use]
    pub fn report_time_zone(mut self, name: impl Into<String>) -> Self {
        self.report_time_zone = ReportTimeZone::named(name.into());
        self
    }

    /// Returns the day of reports made with these options.
    pub(super) fn report_day(&self) -> ReportDay {
        ReportDay::new(
            Arc::clone(&self.clock),
            self.report_time_zone.clone(),
            self.booking_day_policy,
        )
    }

    /// Returns the path of the OpenAPI document, if it is served.
    pub(super) fn openapi_path(&self) -> Option<String> {
        self.serve_openapi
            .then(|| format!("{}/openapi.json", self.base_path.trim_end_matches('/')))
    }

    /// Returns the path of the authorization endpoint.
    pub(super) fn authorization_path(&self) -> String {
        format!("{}/authorize", self.base_path.trim_end_matches('/'))
    }

    /// Returns the code and the status of a failure of the statement endpoint.
    pub(super) fn answer(&self, failure: StatementFailure) -> (ErrorCode, StatusCode) {
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
    pub(super) fn advertised_scopes(&self) -> ScopeSet {
        self.scopes_supported
            .clone()
            .unwrap_or_else(|| ScopeSet::of(self.statement_scope.clone()))
    }

    /// Checks the options and prefixes the paths with the base path.
    pub(super) fn checked(mut self) -> Result<(Self, Option<Issuer>), ProviderOptionsError> {
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
    /// (RFC 6749 section 5.2). Client libraries read this shape.
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
    /// A path is not absolute and literal.
    #[error("expected an absolute path of literal segments, found {found:?}")]
    Path {
        /// The base and the path.
        found: String,
    },
    /// The text is not the name of an issuer.
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
    /// The IANA database does not have this time zone.
    #[error("expected an IANA time zone such as {}, found {found}", .similar.join(" or "))]
    TimeZone {
        /// The name, cut and escaped.
        found: String,
        /// Similar names, at most three; an example if there are none.
        similar: Vec<String>,
    },
    /// The code is not `EC` and digits, or differs from the one that the specification fixes.
    #[error(
        "expected an error code of EC and digits that the specification allows for {failure:?}, found {found}"
    )]
    ErrorCode {
        /// The failure.
        failure: StatementFailure,
        /// The code.
        found: ErrorCode,
    },
    /// The status has answers without a body, or differs from the one that the specification fixes.
    #[error(
        "expected a status with a body that the specification allows for {failure:?}, found {found}"
    )]
    ErrorStatus {
        /// The failure.
        failure: StatementFailure,
        /// The status.
        found: StatusCode,
    },
    /// The token lifetime is below a second.
    #[error("expected a token lifetime of a second or more")]
    TokenLifetime,
    /// The operating system gave no random bytes for a cursor secret.
    #[error("no random bytes for a cursor secret")]
    Cursors(#[source] RandomnessError),
}
