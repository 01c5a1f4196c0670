//! What stands around the provider: it lets calls go wrong where that was ordered, and keeps how they ended.

use super::super::calls::{Call, Calls};
use super::super::fault::Faults;
use crate::text;
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use bankrail::http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail::http::{RequestKey, RequestKeyLayer};
use bankrail::service::CallOutcome;
use bankrail::values::{Clock as _, SystemClock};
use std::sync::Arc;
use std::time::Instant;

/// The columns of a path that are kept.
const PATH: usize = 200;

#[derive(Debug)]
pub(super) struct Front {
    pub(super) calls: Calls,
    pub(super) faults: Faults,
}

impl Front {
    /// The provider's router with all this around it.
    pub(super) fn around(self, provider: Router) -> Router {
        provider.layer(from_fn_with_state(Arc::new(self), answer)).layer(RequestKeyLayer::new())
    }
}

async fn answer(State(front): State<Arc<Front>>, request: Request, next: Next) -> Response {
    let (at, started) = (SystemClock.now(), Instant::now());
    let path = request.uri().path();
    let what = match path {
        TOKEN_PATH => "token",
        STATEMENT_PATH => "statement",
        _ => "other",
    };
    let path = text::cut(path, PATH).into_owned();
    let method = text::cut(request.method().as_str(), PATH).into_owned();
    let request_key = RequestKey::of(request.extensions()).map(RequestKey::uuid);
    let fault = front.faults.draw(what);
    let answer = match fault {
        Some(fault) => fault.answer(what, request, next).await,
        None => next.run(request).await,
    };
    let outcome = CallOutcome::of(answer.extensions());
    let ordered = fault.filter(|fault| !fault.is_served()).map(ToString::to_string);
    let reason = outcome.and_then(|outcome| outcome.refusal.as_ref()).map(ToString::to_string).or(ordered);
    let customer = outcome.and_then(|outcome| outcome.customer.as_ref()).map(ToString::to_string);
    let (status, took) = (answer.status().as_u16(), started.elapsed());
    front.calls.record(Call { number: 0, at, request_key, customer, what, method, path, status, reason, took });
    answer
}
