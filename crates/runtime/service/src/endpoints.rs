//! The routers of the provider's two endpoints and of its documents.

mod answer;
mod api_key;
pub mod audit;
mod cursor;
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
mod shared;
pub(crate) mod statement_endpoint;
mod time_zone;
mod token_endpoint;

pub use api_key::ApiKeyHash;
pub use cursor::CursorSecret;
pub use directory::{Customer, Directory};
pub use failure::StatementFailure;
pub use ledger::{
    Ledger, LedgerAnswer, LedgerEntry, LedgerPage, PageEntry, RegisteredAccount, StatementQuery,
};
pub use options::{ProviderOptions, ProviderOptionsError, TokenErrorStyle};
pub use outcome::{CallOutcome, CallRefusal};
pub use report_day::{BookingDayError, BookingDayPolicy, ReportDay};

use crate::measure;
use answer::{Exchange, to_everybody};
use operation::Operation as _;
use refusal::Refusal;
use shared::Shared;
use statement_endpoint::Statement;
use token_endpoint::Token;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::routing::any;
use bankrail_client_assertion::Verifier;
use bankrail_client_assertion::token::TokenStore;
use bankrail_http::{HeadBoundsLayer, HeadError, RequestKeyLayer};
use bankrail_values::Date;
use http::Response;
use http::request::Parts;
use std::sync::Arc;
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
pub struct Provider {
    shared: Arc<Shared>,
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
        measure::endpoints::describe();
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
        let shared = Shared {
            directory,
            ledger,
            tokens,
            verifier,
            limiter,
            cursors,
            options,
            issuer,
            report_day,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Returns the day of a report made now, in the reports' time zone: the booking day of what is
    /// booked now.
    #[must_use]
    pub fn today(&self) -> Date {
        self.shared.report_day.today()
    }

    /// Returns the day of reports made now, for a booking side that lives apart from the provider.
    #[must_use]
    pub fn report_day(&self) -> &ReportDay {
        &self.shared.report_day
    }

    /// Returns the OpenAPI 3.1 document of this provider: of its endpoints, of its webhooks, and of
    /// the answers of receivers. Its paths, error codes, statuses and headers are those of the
    /// options. Its members `x-limits` have the limits of customers who have none of their own, and
    /// the bounds on requests. The routers serve the document of the moment at which they were made
    /// ([`ProviderOptions::serve_openapi`]).
    #[must_use]
    pub fn openapi(&self) -> String {
        openapi::document(
            &self.shared.options,
            self.shared.issuer.as_ref(),
            &self.shared.limiter,
        )
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
        let shared = Arc::clone(&self.shared);
        let mut routes = Router::new().route(
            &self.shared.options.token_path,
            any(operation::handle::<Token>),
        );
        if let Some(issuer) = &self.shared.issuer {
            routes = routes.merge(discovery::routes(issuer, &self.shared.options));
        }
        routes.with_state(shared)
    }

    fn statement_route(&self) -> Router {
        let shared = Arc::clone(&self.shared);
        Router::new()
            .route(
                &self.shared.options.statement_path,
                any(operation::handle::<Statement>),
            )
            .with_state(shared)
    }

    /// Adds the fallback, the bounds on addresses and headers, and the layer that sets the request
    /// key as the outermost, so that every answer has one.
    fn finished(&self, routes: Router) -> Router {
        let (shared, too_long) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        let openapi = shared.options.openapi_path().map(|path| {
            discovery::document_route(&path, self.openapi().into())
                .with_state(Arc::clone(&self.shared))
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
        let bounds = HeadBoundsLayer::new(shared.options.head_bounds, too_long);
        let unknown = async move |request: Request| {
            to_everybody("none", &shared.options, request, |_| {
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
