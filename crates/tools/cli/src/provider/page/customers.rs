//! The customers and what is arranged with each.

use super::Page;
use super::command::{ADD_CUSTOMER, Command, ROTATE_KEYS};
use super::error::PageError;
use super::layout::{After, Head, Paging, first_rows, html};
use super::text::{encoded, filters, shown};
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use bankrail::bank::CustomerRecord;
use bankrail::client_assertion::CustomerCode;
use bankrail::jose::VerifyingKey;
use bankrail::service::RegisteredAccount;
use bankrail::statement::{AccountId, AccountKind};
use bankrail::values::{Clock as _, SystemClock, Timestamp};

#[derive(Template)]
#[template(path = "page/customers.html")]
struct CustomersView<'a> {
    head: Head,
    rows: Vec<&'a CustomerRecord>,
    now: Timestamp,
    paging: Paging,
    commands: Vec<Command>,
}

/// How many API keys of a customer are valid.
fn valid_keys(record: &CustomerRecord, now: &Timestamp) -> usize {
    record
        .api_keys
        .iter()
        .filter(|key| key.is_valid_at(*now))
        .count()
}

pub(super) async fn list(State(page): State<Page>, Query(asked): Query<After>) -> Response {
    let book = page.data.directory.book();
    let after = asked.after.as_deref().unwrap_or_default();
    let later = book
        .records()
        .map(|record| &**record)
        .filter(|record| record.customer.code.as_str() > after);
    let (rows, last) = first_rows(later);
    html(&CustomersView {
        head: Head::new("Customers", "/customers"),
        rows,
        now: SystemClock.now(),
        paging: Paging::after(
            "/customers",
            &asked,
            last.map(|record| record.customer.code.as_str()),
        ),
        commands: vec![page.command(ADD_CUSTOMER, "")],
    })
}

#[derive(Template)]
#[template(path = "page/customer.html")]
struct CustomerView<'a> {
    head: Head,
    record: &'a CustomerRecord,
    keys: &'a [VerifyingKey],
    now: Timestamp,
    accounts: Vec<&'a (AccountId, RegisteredAccount)>,
    paging: Paging,
    commands: Vec<Command>,
}

pub(super) async fn show(
    State(page): State<Page>,
    Path(code): Path<String>,
    Query(asked): Query<After>,
) -> Result<Response, PageError> {
    let code: CustomerCode = code.parse().map_err(|_| PageError::NotFound)?;
    let book = page.data.directory.book();
    let record = book.get(&code).ok_or(PageError::NotFound)?;
    let own = format!("/customers/{}", encoded(code.as_str()));
    // In the order of the file.
    let begin = match &asked.after {
        Some(after) => record
            .accounts
            .iter()
            .position(|(id, _)| id.as_str() == after)
            .map_or(0, |place| place + 1),
        None => 0,
    };
    let (accounts, last) = first_rows(record.accounts.iter().skip(begin));
    Ok(html(&CustomerView {
        head: Head::new(format!("Customer {}", shown(code.as_str())), "/customers"),
        record,
        keys: &record.customer.keys.keys(),
        now: SystemClock.now(),
        accounts,
        paging: Paging::after(&own, &asked, last.map(|(id, _)| id.as_str())),
        commands: vec![page.command(ROTATE_KEYS, code.as_str())],
    }))
}
