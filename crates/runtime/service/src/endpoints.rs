//! The routers of the provider's two endpoints and of its documents.

mod answer;
mod api_key;
pub mod audit;
mod directory;
mod discovery;
mod failure;
mod issuer;
mod ledger;
mod openapi;
mod operation;
mod options;
mod outcome;
mod refusal;
mod report_day;
pub(crate) mod statement_endpoint;
mod time_zone;
mod token_endpoint;

pub use api_key::ApiKeyHash;
pub use directory::{Customer, Directory};
pub use failure::StatementFailure;
pub use ledger::{
    Ledger, LedgerAnswer, LedgerEntry, LedgerPage, PageEntry, RegisteredAccount, StatementQuery,
};
pub use options::{ProviderOptionsError, TokenErrorStyle};
pub use outcome::{CallOutcome, CallRefusal};
pub use report_day::{BookingDayError, BookingDayPolicy, ReportDay};
pub use statement_endpoint::CursorSecret;

use answer::{Exchange, to_everybody};
use audit::{AuditLog, AuditOptions};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::routing::any;
use bankrail_client_assertion::token::{
    Scope, ScopeSet, TokenRequest, TokenResponse, TokenStore, names,
};
use bankrail_client_assertion::{ReplayPolicy, Verifier};
use bankrail_http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail_http::{
    __private::LineBound, HeadBounds, HeadBoundsLayer, HeadError, RequestKeyLayer,
};
use bankrail_rate_limit::Limiter;
use bankrail_statement::{ErrorCode, StatementRequest};
use bankrail_values::{Clock, Date, SystemClock};
use http::request::Parts;
use http::{Response, StatusCode};
use issuer::Issuer;
use operation::Operation as _;
use refusal::Refusal;
use statement_endpoint::Statement;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use time_zone::ReportTimeZone;
use token_endpoint::Token;
use tower_layer::Stack;

/// The provider's two endpoints, and the documents about them. Cheap to clone; clones share
/// everything.
///
/// The routers serve HTTP. The server under them provides TLS (Specification: "Authentication", 5)
/// and bounds the connections, the headers and the time to send them, as `serve::Server` of
/// `bankrail-http` does.
///
/// A statement lists the entries of the day on which it is asked for, in the reports' time zone.
/// Book on [`Provider::today`]: today's statements do not show an entry of another day.
#[derive(Clone, Debug)]
pub struct Provider(Arc<ProviderState>);

/// The state that all endpoints of a provider share.
#[derive(Debug)]
struct ProviderState {
    directory: Arc<dyn Directory>,
    ledger: Arc<dyn Ledger>,
    tokens: Arc<dyn TokenStore>,
    verifier: Verifier,
    limiter: Arc<Limiter>,
    cursors: CursorSecret,
    options: ProviderOptions,
    issuer: Option<Issuer>,
    report_day: ReportDay,
}

bankrail_values::options! {
    /// Options of a [`Provider`](crate::Provider).
    #[derive(Clone, Debug)]
    pub struct ProviderOptions {
        /// The limits and their counters. Default: the specification's table, counted in this
        /// process's memory.
        limiter(Arc<Limiter> => Some): Option<Arc<Limiter>> = None,
        /// The clock. Default: the operating system's.
        clock: Arc<dyn Clock> = Arc::new(SystemClock),
        /// The clock for the validity of assertions, for a test bank whose
        /// [`ProviderOptions::clock`] differs from the customers' clocks. Default:
        /// [`ProviderOptions::clock`].
        assertion_clock(Arc<dyn Clock> => Some): Option<Arc<dyn Clock>> = None,
        /// The secret that seals cursors. Default: a new one for each provider, so that cursors of
        /// another process or from before a restart are refused.
        cursor_secret(CursorSecret => Some): Option<CursorSecret> = None,
        /// A path before those of both endpoints, such as `/bank`. Default: none.
        base_path(into): String = String::new(),
        /// The token endpoint's path below the base. Default: `/v1.0/auth`.
        token_path(into): String = TOKEN_PATH.to_owned(),
        /// The statement endpoint's path below the base. Default: `/accounts/v2.0/statement`.
        statement_path(into): String = STATEMENT_PATH.to_owned(),
        /// The scopes that the issuer's metadata names. Default: the one that a statement needs.
        scopes_supported(ScopeSet => Some): Option<ScopeSet> = None,
        /// If true, the routers serve [`Provider::openapi`](crate::Provider::openapi) to everybody,
        /// at `/openapi.json` below the base. Default: true.
        serve_openapi: bool = true,
        /// The lifetime of a token: a second or more, in whole seconds. Default: 3600 seconds.
        token_lifetime(Duration => |lifetime| Duration::from_secs(lifetime.as_secs())): Duration =
            Duration::from_secs(TokenResponse::DEFAULT_LIFETIME),
        /// The rule that decides which assertions count as replayed. Default:
        /// [`ReplayPolicy::JtiIfPresent`].
        replay_policy: ReplayPolicy = ReplayPolicy::default(),
        /// The scope that a statement needs. Default: `GBL.INSTO.ACCOUNTS.STATEMENT.READ`.
        statement_scope: Scope = Scope::parse(names::STATEMENT_READ).expect("a constant that is a scope"),
        /// The shape of the token endpoint's error bodies (Specification: "Errors", which leaves it
        /// open). Default: [`TokenErrorStyle::Rfc6749`].
        token_error_body: TokenErrorStyle = TokenErrorStyle::default(),
        /// If true, every statement has `sortOrder`. Default: false, as the specification has it
        /// "only in some responses" ("Statement response"). It is then on all pages of a statement
        /// whose account has virtual accounts or whose first request names an order, and on no page
        /// of any other.
        always_say_sort_order: bool = false,
        /// If true, a statement shows the parties and texts of fast payments when its request has
        /// no `includeNarrative`. Default: true.
        narrative_by_default: bool = true,
        /// If true, the answers of both endpoints have `RateLimit` and `RateLimit-Policy`. Default:
        /// false. Every 429 has a `Retry-After` in either case.
        rate_limit_headers: bool = false,
        /// The time in which the body of a request must arrive. After it the answer is 408.
        /// Default: 15 s.
        body_timeout: Duration = Duration::from_secs(15),
        /// The most bytes of a token request. Default: 32 KiB, and a larger value has no effect.
        max_token_body_bytes: usize = TokenRequest::MAX_BYTES,
        /// The most bytes of a statement request. Default: 16 KiB, and a larger value has no
        /// effect.
        max_statement_body_bytes: usize = StatementRequest::MAX_BYTES,
        /// The most bytes of the address and of the headers of a request. Beyond them the answer is
        /// 414 or 431. The server under the routers must allow more, so that it does not answer by
        /// itself. Default: [`HeadBounds::default`].
        head_bounds: HeadBounds = HeadBounds::default(),
        /// `RptgSrc/Prtry` of reports whose account has none: 1 to 35 characters. Default: `CMM`.
        reporting_source(into): String = "CMM".to_owned(),
        /// The treatment of a booking whose day is not that of a report made now
        /// ([`ReportDay::check`]); a ledger applies it
        /// ([`Ledger::follow_report_day`](crate::Ledger::follow_report_day)). Default:
        /// [`BookingDayPolicy::Warn`].
        booking_day_policy: BookingDayPolicy = BookingDayPolicy::default(),
        ;
        issuer: Option<String> = None,
        error_codes: BTreeMap<StatementFailure, ErrorCode> = BTreeMap::new(),
        error_statuses: BTreeMap<StatementFailure, StatusCode> = BTreeMap::new(),
        audit: Option<(Arc<dyn AuditLog>, AuditOptions)> = None,
        report_time_zone: ReportTimeZone = ReportTimeZone::default(),
        /// Bounds the lines about calls without a known API key.
        strangers: Arc<LineBound> = Arc::default(),
    }
}

impl Provider {
    /// Creates a provider.
    ///
    /// - `directory` knows the customers, `ledger` the accounts.
    /// - `tokens` stores the used assertions and the hashes of access tokens.
    /// - `verifier` checks assertions and knows the audience that they must name (Specification:
    ///   "Client assertion (JWT) the customer builds").
    ///
    /// # Errors
    /// [`ProviderOptionsError`] if the options are unusable.
    pub fn new(
        directory: Arc<dyn Directory>,
        ledger: Arc<dyn Ledger>,
        tokens: Arc<dyn TokenStore>,
        verifier: Verifier,
        options: ProviderOptions,
    ) -> Result<Self, ProviderOptionsError> {
        let (mut options, issuer) = options.checked()?;
        let limiter = options.limiter.take().unwrap_or_default();
        let cursors = options
            .cursor_secret
            .take()
            .map_or_else(CursorSecret::generate, Ok);
        let cursors = cursors.map_err(ProviderOptionsError::Cursors)?;
        answer::describe_metrics();
        let report_day = options.report_day();
        // Before the first request, so that no booking misses the check of its day.
        ledger.follow_report_day(&report_day);
        let verifier = match &issuer {
            Some(issuer) => {
                let audiences =
                    issuer.add_audiences(&options.token_path, verifier.options().clone());
                Verifier::new(verifier.audience().clone(), audiences)
            }
            None => verifier,
        };
        Ok(Self(Arc::new(ProviderState {
            directory,
            ledger,
            tokens,
            verifier,
            limiter,
            cursors,
            options,
            issuer,
            report_day,
        })))
    }

    /// Returns the day of a report made now, in the reports' time zone: the booking day of what is
    /// booked now.
    #[must_use]
    pub fn today(&self) -> Date {
        self.0.report_day.today()
    }

    /// Returns the day of reports made now, for a booking side that lives apart from the provider.
    #[must_use]
    pub fn report_day(&self) -> &ReportDay {
        &self.0.report_day
    }

    /// Returns the OpenAPI 3.1 document of this provider: of its endpoints, of its webhooks, and of
    /// the answers of receivers. Its paths, error codes, statuses and headers are those of the
    /// options. Its members `x-limits` have the limits of customers who have none of their own, and
    /// the bounds on requests. The routers serve the document of the moment at which they were made
    /// ([`ProviderOptions::serve_openapi`]).
    #[must_use]
    pub fn openapi(&self) -> String {
        openapi::document(&self.0.options, self.0.issuer.as_ref(), &self.0.limiter)
    }

    /// Returns a router of the token endpoint and of the issuer's metadata, for a separate host.
    /// Any other request to the router is answered 404.
    pub fn token_router(&self) -> Router {
        self.finished(self.token_route())
    }

    /// Returns a router of the statement endpoint alone, for a separate host. Any other request to
    /// the router is answered 404.
    pub fn statement_router(&self) -> Router {
        self.finished(self.statement_route())
    }

    /// Returns a router of both endpoints and of the issuer's metadata
    /// ([`ProviderOptions::issuer`]). Any other request to the router is answered 404. To merge it
    /// with a router that has a fallback, use [`Router::reset_fallback`].
    pub fn router(&self) -> Router {
        self.finished(self.token_route().merge(self.statement_route()))
    }

    fn token_route(&self) -> Router {
        let mut routes =
            Router::new().route(&self.0.options.token_path, any(operation::handle::<Token>));
        if let Some(issuer) = &self.0.issuer {
            routes = routes.merge(discovery::routes(issuer, &self.0.options));
        }
        routes.with_state(Arc::clone(&self.0))
    }

    fn statement_route(&self) -> Router {
        Router::new()
            .route(
                &self.0.options.statement_path,
                any(operation::handle::<Statement>),
            )
            .with_state(Arc::clone(&self.0))
    }

    /// Adds the fallback, the bounds on addresses and headers, and the layer that sets the request
    /// key as the outermost, so that every answer has one.
    fn finished(&self, routes: Router) -> Router {
        let (provider, too_long) = (Arc::clone(&self.0), Arc::clone(&self.0));
        let openapi = provider.options.openapi_path().map(|path| {
            discovery::document_route(&path, self.openapi().into()).with_state(Arc::clone(&self.0))
        });
        let routes = openapi.into_iter().fold(routes, Router::merge);
        let too_long = move |fault: HeadError, head: &Parts| -> Response<Body> {
            let options = &too_long.options;
            let endpoint = match head.uri.path() {
                path if path == options.token_path => Token::NAME,
                path if path == options.statement_path => Statement::NAME,
                _ => "none",
            };
            Exchange::new(endpoint, &head.extensions, options)
                .finish(None, Err(Refusal::Head(fault)))
        };
        let bounds = HeadBoundsLayer::new(provider.options.head_bounds, too_long);
        let unknown = async move |request: Request| {
            to_everybody("none", &provider.options, request, |_| {
                Err(Refusal::UnknownPath)
            })
            .await
        };
        // One layer, because the router allocates for each.
        routes
            .fallback(unknown)
            .layer(Stack::new(bounds, RequestKeyLayer::new()))
    }
}
