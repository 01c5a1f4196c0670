//! `POST /accounts/v2.0/statement`: a page of an account's entries of today (Specification:
//! "Request statement").

mod cursor;
pub(crate) mod report;

pub use cursor::CursorSecret;

use super::ProviderOptions;
use super::answer::json;
use super::audit::AuditEvent;
use super::failure::StatementFailure;
use super::ledger::{LedgerAnswer, LedgerPage, StatementQuery};
use super::operation::{Call, Operation};
use super::refusal::Refusal;
use axum::response::Response;
use bankrail_client_assertion::token::{AccessToken, TokenGrant};
use bankrail_http::{__private::BodyError, content};
use bankrail_rate_limit::CallType;
use bankrail_statement::{AccountKind, NextPage, SortOrder, StatementRequest, StatementResponse};
use bankrail_values::Date;
use bytes::Bytes;
use http::StatusCode;
use http::header::AUTHORIZATION;

/// The statement endpoint.
pub(crate) struct Statement;

impl Operation for Statement {
    const NAME: &'static str = "statement";
    const LIMIT: CallType = CallType::Statement;
    /// The body, or the error of reading it, which is answered after the limit was charged.
    type Input = Result<Bytes, BodyError>;

    fn max_body_bytes(options: &ProviderOptions) -> usize {
        options.max_statement_body_bytes
    }

    async fn authenticate(call: &Call<'_>, body: Self::Input) -> Result<Self::Input, Refusal> {
        let grant = grant(call).await?;
        // The customer may have lost the scope since the token was issued.
        let scope = call.provider.options.statement_scope.as_str();
        let has_scope = grant.scopes.contains(scope) && call.customer.scopes.contains(scope);
        if has_scope {
            Ok(body)
        } else {
            Err(Refusal::Scope)
        }
    }

    async fn perform(call: &Call<'_>, body: Self::Input) -> Result<Response, Refusal> {
        let body = body.map_err(Refusal::Body)?;
        if !content::is_json(call.headers) {
            return Err(Refusal::MediaType);
        }
        if content::coding(call.headers).is_some() {
            return Err(Refusal::Encoding(StatementFailure::MediaType));
        }
        let request = StatementRequest::from_json(&body).map_err(Refusal::Request)?;
        // A malformed identifier names no account, so the ledger is not asked.
        let account = request
            .account()
            .map_err(|_| Refusal::Account(request.account_id().to_owned()))?;
        let (customer, options) = (&call.customer.code, &call.provider.options);
        let (walk, position) = match &request.cursor {
            None => {
                let narrative = request
                    .include_narrative
                    .unwrap_or(options.narrative_by_default);
                (
                    Walk::of(&request, narrative, call.provider.report_day.of(call.now)),
                    None,
                )
            }
            Some(cursor) => {
                let opened = call.provider.cursors.open(customer, &account, cursor);
                let (walk, position) = opened
                    .filter(|(walk, _)| walk.agrees_with(&request))
                    .ok_or(Refusal::Cursor)?;
                (walk, Some(position))
            }
        };
        let query = StatementQuery {
            customer: customer.clone(),
            account,
            day: walk.day,
            position,
            max_entries: request.max_entries.unwrap_or_default(),
            sort_order: walk.order,
        };
        let page = match call.provider.ledger.statement(&query).await {
            Ok(LedgerAnswer::Page(page)) => page,
            Ok(LedgerAnswer::UnknownAccount) => {
                return Err(Refusal::Account(query.account.as_str().to_owned()));
            }
            Ok(LedgerAnswer::UnknownPosition) => return Err(Refusal::Cursor),
            Err(error) => return Err(Refusal::Ledger(query.account, error)),
        };
        let (entries, is_last) = (page.entries.len(), page.next.is_none());
        // Before the record, so that a page that cannot be sent is not recorded as served.
        let response = answer_page(call, &request, &query, walk, *page).await?;
        let account = &query.account;
        call.audit(|options| AuditEvent::StatementServed {
            account: options.recorded(account),
            entries,
            is_last,
        })
        .await?;
        Ok(response)
    }
}

/// Returns the grant of the request's bearer token, which must be the same customer's as the API
/// key.
async fn grant(call: &Call<'_>) -> Result<TokenGrant, Refusal> {
    if !call.headers.contains_key(AUTHORIZATION) {
        return Err(Refusal::NoToken);
    }
    let token = content::only(call.headers, &AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token
        .and_then(|value| AccessToken::from_authorization(value).ok())
        .ok_or(Refusal::BadToken)?;
    let grant = call
        .provider
        .tokens
        .find(token.hash(), call.now)
        .await
        .map_err(Refusal::Store)?;
    let is_own =
        |grant: &TokenGrant| grant.is_valid_at(call.now) && grant.customer == call.customer.code;
    grant.filter(is_own).ok_or(Refusal::BadToken)
}

/// Checks the page of the ledger and writes the answer.
async fn answer_page(
    call: &Call<'_>,
    request: &StatementRequest,
    query: &StatementQuery,
    mut walk: Walk,
    page: LedgerPage,
) -> Result<Response, Refusal> {
    let broken = |error| Refusal::Page(query.account.clone(), error);
    let most = usize::from(query.max_entries.get());
    // A cursor after more entries than were asked for would skip some of them at the client.
    if page.entries.len() > most {
        return Err(broken(report::PageError::TooManyEntries {
            allowed: most,
            found: page.entries.len(),
        }));
    }
    if request.cursor.is_none() {
        // The first page decides for all pages of the walk; the cursor carries it.
        let has_virtual_accounts = page.account.kind == AccountKind::WithVirtualAccounts;
        walk.has_order |= call.provider.options.always_say_sort_order || has_virtual_accounts;
    }
    let next = match &page.next {
        None => NextPage::None,
        Some(next) if Some(next) == query.position.as_ref() => {
            return Err(broken(report::PageError::NoProgress));
        }
        Some(_) if page.entries.is_empty() => {
            return Err(broken(report::PageError::NothingBeforeMore));
        }
        Some(next) => NextPage::At {
            cursor: call
                .provider
                .cursors
                .seal(&query.customer, &query.account, walk, next),
        },
    };
    let page = report::read_entries(page, walk.narrative)
        .await
        .map_err(broken)?;
    let mut response = StatementResponse::new(&query.account, call.exchange.key, next);
    response.sort_order = walk.has_order.then_some(walk.order);
    let body = report::write(
        &call.provider.options,
        &response,
        walk.narrative,
        page,
        call.now,
    )
    .map_err(broken)?;
    Ok(json(StatusCode::OK, body))
}

/// The choices that all pages of one statement share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Walk {
    day: Date,
    order: SortOrder,
    narrative: bool,
    /// If true, each of its pages has `sortOrder`; otherwise none has.
    has_order: bool,
}

impl Walk {
    /// Returns the walk that starts with this request on this day. Its pages have `sortOrder` if
    /// the request has.
    fn of(request: &StatementRequest, narrative: bool, day: Date) -> Self {
        Self {
            day,
            order: request.order(),
            narrative,
            has_order: request.sort_order.is_some(),
        }
    }

    /// Returns true if a later request of this walk repeats or omits the choices of the first one.
    fn agrees_with(self, request: &StatementRequest) -> bool {
        request.sort_order.is_none_or(|order| order == self.order)
            && request
                .include_narrative
                .is_none_or(|narrative| narrative == self.narrative)
    }
}
