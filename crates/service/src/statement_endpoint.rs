//! `POST /accounts/v2.0/statement`: a page of an account's entries of today (Specification: "Request statement").

mod failure;
mod refusal;
pub(crate) mod report;

pub use self::failure::StatementFailure;
use self::refusal::{BearerFault, Refusal};
use crate::Customer;
use crate::answer::{self, Exchange, json};
use crate::audit::{AuditEvent, AuditOptions};
use crate::cursor::{Owner, Walk};
use crate::ledger::{LedgerAnswer, LedgerPage, StatementQuery};
use crate::shared::Shared;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bankrail_client_assertion::token::{AccessToken, TokenGrant};
use bankrail_http::{BodyError, BodyReader, content};
use bankrail_rate_limit::CallType;
use bankrail_statement::{AccountKind, Page, StatementRequest, StatementResponse};
use bankrail_values::{StoreError, Timestamp};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CACHE_CONTROL};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use std::sync::Arc;

/// Answers every request to the statement endpoint's path.
pub(crate) async fn handle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let mut exchange = Exchange::new("statement", &head.extensions);
    let mut body = BodyReader::new(&head.headers, body);
    let served = answer::unless_it_panics(exchange.key, serve(&shared, &mut exchange, &head, &mut body)).await;
    exchange.drain(body).await;
    let mut response = match served {
        Some(Ok(response)) => response,
        Some(Err(refusal)) => refusal.into_response(&exchange, &shared.options),
        None => {
            exchange.refused("internal");
            refusal::internal(&exchange, &shared.options)
        }
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    exchange.finish(response)
}

/// Makes the checks in their documented order.
async fn serve(
    shared: &Shared,
    exchange: &mut Exchange,
    parts: &Parts,
    body: &mut BodyReader<Body>,
) -> Result<Response, Refusal> {
    if parts.method != Method::POST {
        return Err(Refusal::Method);
    }
    let customer = shared.customer_of(&parts.headers).await.map_err(Refusal::Store)?.map_err(Refusal::ApiKey)?;
    exchange.customer = Some(customer.code.clone());
    let read = body.read(shared.options.max_statement_body, shared.options.body_timeout).await;
    // After the body, which may take its time: everything is judged at this one instant.
    let now = shared.options.clock.now();
    let grant = match grant(shared, &customer, &parts.headers, now).await {
        Ok(grant) => grant,
        Err(refusal @ Refusal::Bearer(_)) => {
            // The same work was done, whatever is left of the budget.
            let charged = shared.charge_failure(&customer, CallType::BearerFailure, now).await;
            return Err(charged.err().map_or(refusal, Refusal::BearerLimit));
        }
        Err(refusal) => return Err(refusal),
    };
    // The customer may have lost the scope since the token was issued.
    let scope = shared.options.statement_scope.as_str();
    if !grant.scopes.contains(scope) || !customer.scopes.contains(scope) {
        return Err(Refusal::Scope);
    }
    let decision = shared.admit(&customer, CallType::Statement, now).await;
    let decision = decision.map_err(Refusal::Limit)?;
    let served = after_limit(shared, exchange, &customer, &parts.headers, read, now).await;
    let mut response = served.unwrap_or_else(|refusal| refusal.into_response(exchange, &shared.options));
    shared.write_rate_limit(decision.as_ref(), response.headers_mut());
    Ok(response)
}

/// The grant of the request's bearer token, which must be the same customer's as the API key.
async fn grant(
    shared: &Shared,
    customer: &Customer,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<TokenGrant, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Err(Refusal::Bearer(BearerFault::Absent)) };
    if values.next().is_some() {
        return Err(Refusal::Bearer(BearerFault::Invalid));
    }
    let token = value.to_str().ok().and_then(|value| AccessToken::from_authorization(value).ok());
    let token = token.ok_or(Refusal::Bearer(BearerFault::Invalid))?;
    let grant = shared.tokens.find(token.hash(), now).await.map_err(Refusal::Store)?;
    grant
        .filter(|grant| grant.is_valid_at(now) && grant.customer == customer.code)
        .ok_or(Refusal::Bearer(BearerFault::Invalid))
}

async fn after_limit(
    shared: &Shared,
    exchange: &Exchange,
    customer: &Customer,
    headers: &HeaderMap,
    read: Result<Bytes, BodyError>,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let body = read.map_err(Refusal::Body)?;
    if !content::is_json(headers) {
        return Err(Refusal::MediaType);
    }
    if content::is_encoded(headers) {
        return Err(Refusal::Encoding);
    }
    let request = StatementRequest::from_json(&body).map_err(Refusal::Request)?;
    // A malformed identifier names no account, so the ledger is not asked.
    let account = request.account().map_err(|_| Refusal::Account(request.account_id().to_owned()))?;
    let owner = Owner { customer: &customer.code, account: &account };
    let (walk, position) = match &request.cursor {
        None => (Walk::of(&request, shared.options.report_time_zone.day_of(now)), None),
        Some(cursor) => {
            let (walk, position) = shared.cursors.open(&owner, cursor).ok_or(Refusal::Cursor)?;
            if !walk.agrees_with(&request) {
                return Err(Refusal::Cursor);
            }
            (walk, Some(position))
        }
    };
    let query = StatementQuery {
        customer: customer.code.clone(),
        account,
        day: walk.day,
        position,
        max_entries: request.max_entries.unwrap_or_default(),
        sort_order: walk.order,
    };
    match shared.ledger.statement(&query).await {
        Ok(LedgerAnswer::Page(page)) => {
            let (entries, is_last) = (page.entries.len(), page.next.is_none());
            let response = answer_page(shared, exchange, &request, &query, walk, *page, now)?;
            let served = |options: &AuditOptions| AuditEvent::StatementServed {
                account: options.recorded(&query.account),
                entries,
                is_last,
            };
            let failed = |error: &StoreError| exchange.log_failure("audit log", error.kind());
            shared.audit(exchange.key, customer, now, served, failed).await.map_err(|_| Refusal::Audit)?;
            Ok(response)
        }
        Ok(LedgerAnswer::UnknownAccount) => Err(Refusal::Account(query.account.as_str().to_owned())),
        Ok(LedgerAnswer::UnknownPosition) => Err(Refusal::Cursor),
        Err(error) => Err(Refusal::Ledger(query.account, error)),
    }
}

/// Checks the page of the ledger and writes the answer.
fn answer_page(
    shared: &Shared,
    exchange: &Exchange,
    request: &StatementRequest,
    query: &StatementQuery,
    mut walk: Walk,
    page: LedgerPage,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let broken = |error| Refusal::Page(query.account.clone(), error);
    let most = usize::from(query.max_entries.get());
    if page.entries.len() > most {
        return Err(broken(report::PageError::TooManyEntries { allowed: most, found: page.entries.len() }));
    }
    if request.cursor.is_none() {
        // The first page decides for all pages of the walk; the cursor carries it.
        let has_virtual_accounts = page.account.kind == AccountKind::WithVirtualAccounts;
        walk.says_order |= shared.options.always_say_sort_order || has_virtual_accounts;
    }
    let owner = Owner { customer: &query.customer, account: &query.account };
    let next = match &page.next {
        None => Page::Last,
        Some(next) if Some(next) == query.position.as_ref() => return Err(broken(report::PageError::NoProgress)),
        Some(_) if page.entries.is_empty() => return Err(broken(report::PageError::NothingBeforeMore)),
        Some(next) => Page::More { cursor: shared.cursors.seal(&owner, walk, next) },
    };
    let mut response = StatementResponse::new(&query.account, exchange.key, next);
    response.sort_order = walk.says_order.then_some(walk.order);
    let document = report::document(&shared.options, exchange.key, &query.account, walk.narrative, page, now);
    let body = document.and_then(|document| report::write(&response, &document)).map_err(broken)?;
    Ok(json(StatusCode::OK, body))
}
