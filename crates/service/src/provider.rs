//! The provider: what the endpoints work with, and the routers that they are.

mod builder;

pub use builder::{BuildError, ProviderBuilder};

use crate::fallback;
use crate::{CursorSecret, Directory, Ledger, statement_endpoint, token_endpoint};
use axum::Router;
use axum::routing::any;
use bankrail_client_assertion::token::{Scope, TokenStore};
use bankrail_client_assertion::{ReplayPolicy, ReplayStore, Verifier};
use bankrail_http::RequestKeyLayer;
use bankrail_rate_limit::layer::write_rate_limit;
use bankrail_rate_limit::{Decision, Limiter};
use bankrail_values::Clock;
use http::{HeaderMap, StatusCode};
use std::sync::Arc;
use std::time::Duration;

/// The provider's two endpoints. A cheap handle: clones share everything.
///
/// The routers speak HTTP and leave the rest to whoever serves them: TLS (Specification: "Authentication", 5), the
/// number of connections, the size of headers, and how long a client may take to send a request.
#[derive(Clone, Debug)]
pub struct Provider {
    shared: Arc<Shared>,
}

/// What both endpoints work with.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    pub(crate) replay: Arc<dyn ReplayStore>,
    pub(crate) limits: Arc<Limiter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) verifier: Verifier,
    pub(crate) cursors: CursorSecret,
    pub(crate) options: Options,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) token_path: String,
    pub(crate) statement_path: String,
    pub(crate) token_lifetime: Duration,
    pub(crate) replay: ReplayPolicy,
    pub(crate) statement_scope: Scope,
    pub(crate) not_found_status: StatusCode,
    pub(crate) rate_limit_headers: bool,
    pub(crate) body_timeout: Duration,
    pub(crate) max_token_body: usize,
    pub(crate) max_statement_body: usize,
    pub(crate) reporting_source: String,
    pub(crate) offset_minutes: i16,
}

impl Provider {
    /// Starts to put a provider together.
    pub fn builder() -> ProviderBuilder {
        ProviderBuilder::new()
    }

    /// The token endpoint alone, for a host of its own. Whatever else is asked of the router is answered 404.
    pub fn token_router(&self) -> Router {
        finished(self.token_route())
    }

    /// The statement endpoint alone, for a host of its own. Whatever else is asked of the router is answered 404.
    pub fn statement_router(&self) -> Router {
        finished(self.statement_route())
    }

    /// Both endpoints. Whatever else is asked of the router is answered 404; to merge it with a router that answers
    /// that itself, use [`Router::reset_fallback`].
    pub fn router(&self) -> Router {
        finished(self.token_route().merge(self.statement_route()))
    }

    fn token_route(&self) -> Router {
        let shared = Arc::clone(&self.shared);
        Router::new().route(&self.shared.options.token_path, any(token_endpoint::handle)).with_state(shared)
    }

    fn statement_route(&self) -> Router {
        let shared = Arc::clone(&self.shared);
        Router::new().route(&self.shared.options.statement_path, any(statement_endpoint::handle)).with_state(shared)
    }
}

/// 404 for everything else, and outermost the layer that gives each request its key: no answer of the router lacks it.
fn finished(routes: Router) -> Router {
    routes.fallback(fallback::handle).layer(RequestKeyLayer::new())
}

impl Shared {
    /// `RateLimit` and `RateLimit-Policy` where they are wanted.
    pub(crate) fn write_rate_limit(&self, decision: Option<&Decision>, out: &mut HeaderMap) {
        if let Some(decision) = decision.filter(|_| self.options.rate_limit_headers) {
            write_rate_limit(decision, out);
        }
    }
}
