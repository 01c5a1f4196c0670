//! The customers and what is arranged with each.

use super::Page;
use super::command::{ADD_CUSTOMER, Command, ROTATE_KEYS};
use super::error::PageError;
use super::layout::{After, Head, Paging, Section, first_rows, html};
use super::text::{When, encoded, shown};
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use bankrail::bank::{CustomerRecord, LimitOverride};
use bankrail::client_assertion::CustomerCode;
use bankrail::statement::AccountKind;
use bankrail::values::{Clock as _, SystemClock, Timestamp};

struct CustomerRow {
    code: String,
    href: String,
    scopes: Vec<String>,
    keys: usize,
    api_keys: usize,
    limits: usize,
    accounts: usize,
    endpoints: usize,
}

impl CustomerRow {
    fn new(record: &CustomerRecord, now: Timestamp) -> Self {
        let code = record.customer.code.as_str();
        Self {
            code: shown(code),
            href: format!("/customers/{}", encoded(code)),
            scopes: record.customer.scopes.iter().map(|scope| shown(scope.as_str())).collect(),
            keys: record.customer.keys.keys().len(),
            api_keys: record.api_keys.iter().filter(|key| key.is_valid_at(now)).count(),
            limits: record.limits.len(),
            accounts: record.accounts.len(),
            endpoints: record.endpoints.len(),
        }
    }
}

#[derive(Template)]
#[template(path = "page/customers.html")]
struct CustomersView {
    head: Head,
    rows: Vec<CustomerRow>,
    paging: Paging,
    commands: Vec<Command>,
}

pub(super) async fn list(State(page): State<Page>, Query(asked): Query<After>) -> Response {
    let book = page.data.directory.book();
    let after = asked.after.as_deref().unwrap_or_default();
    let (listed, last) = first_rows(book.records().filter(|record| record.customer.code.as_str() > after));
    let now = SystemClock.now();
    html(&CustomersView {
        head: Head::new("Customers", Section::Customers),
        rows: listed.iter().map(|record| CustomerRow::new(record, now)).collect(),
        paging: Paging::after("/customers", &asked, last.map(|record| record.customer.code.as_str())),
        commands: vec![page.command(ADD_CUSTOMER, "")],
    })
}

/// A public key.
struct KeyRow {
    kid: String,
    bits: usize,
    thumbprint: String,
}

/// An API key, by the beginning of its hash.
struct ApiKeyRow {
    hash: String,
    valid: bool,
    from: Option<When>,
    until: Option<When>,
}

struct LimitRow {
    call_type: &'static str,
    windows: String,
    until: Option<When>,
}

impl LimitRow {
    fn new(limit: &LimitOverride) -> Self {
        let windows = limit.windows().iter().map(|window| {
            let length = match window.millis() {
                3_600_000 => "an hour".to_owned(),
                60_000 => "a minute".to_owned(),
                1_000 => "a second".to_owned(),
                millis => format!("{millis} ms"),
            };
            format!("{} {length}", window.limit())
        });
        let windows = windows.collect::<Vec<_>>().join(", ");
        Self {
            call_type: limit.call_type().as_str(),
            windows: if windows.is_empty() { "unlimited".to_owned() } else { windows },
            until: limit.ends().map(When::new),
        }
    }
}

struct EndpointFacts {
    name: String,
    href: String,
    url: String,
    /// The header of its API key.
    header: String,
    encryption: KeyRow,
}

struct AccountFacts {
    id: String,
    href: String,
    currency: String,
    name: String,
    virtual_accounts: bool,
}

#[derive(Template)]
#[template(path = "page/customer.html")]
struct CustomerView {
    head: Head,
    code: String,
    calls: String,
    scopes: Vec<String>,
    keys: Vec<KeyRow>,
    api_keys: Vec<ApiKeyRow>,
    limits: Vec<LimitRow>,
    endpoints: Vec<EndpointFacts>,
    all_accounts: usize,
    accounts: Vec<AccountFacts>,
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
    let now = SystemClock.now();
    let key = |kid: Option<&str>, bits, thumbprint| KeyRow {
        kid: kid.map_or_else(|| "none".to_owned(), shown),
        bits,
        thumbprint,
    };
    // In the order of the file.
    let begin = match &asked.after {
        Some(after) => record.accounts.iter().position(|(id, _)| id.as_str() == after).map_or(0, |place| place + 1),
        None => 0,
    };
    let (listed, last) = first_rows(record.accounts.iter().skip(begin));
    Ok(html(&CustomerView {
        head: Head::new(format!("Customer {}", shown(code.as_str())), Section::Customers),
        code: shown(code.as_str()),
        calls: format!("/calls?customer={}", encoded(code.as_str())),
        scopes: record.customer.scopes.iter().map(|scope| shown(scope.as_str())).collect(),
        keys: record
            .customer
            .keys
            .keys()
            .iter()
            .map(|of| key(of.kid(), of.public_key().bits(), of.thumbprint()))
            .collect(),
        api_keys: record
            .api_keys
            .iter()
            .map(|key| ApiKeyRow {
                hash: key.hash().to_hex().chars().take(8).collect(),
                valid: key.is_valid_at(now),
                from: key.valid_from().map(When::new),
                until: key.valid_until().map(When::new),
            })
            .collect(),
        limits: record.limits.iter().map(LimitRow::new).collect(),
        endpoints: record
            .endpoints
            .iter()
            .map(|endpoint| {
                let (name, encryption) = (endpoint.id().as_str(), endpoint.encryption_key());
                EndpointFacts {
                    name: shown(name),
                    href: format!("/outbox?endpoint={}", encoded(name)),
                    url: shown(endpoint.url().as_str()),
                    header: endpoint.api_key().map_or_else(|| "none".to_owned(), |(header, _)| shown(header)),
                    encryption: key(encryption.kid(), encryption.public_key().bits(), encryption.thumbprint()),
                }
            })
            .collect(),
        all_accounts: record.accounts.len(),
        accounts: listed
            .iter()
            .map(|(id, facts)| AccountFacts {
                id: id.to_string(),
                href: format!("/accounts/{id}"),
                currency: facts.currency.to_string(),
                name: facts.name.as_deref().map(shown).unwrap_or_default(),
                virtual_accounts: facts.kind == AccountKind::WithVirtualAccounts,
            })
            .collect(),
        paging: Paging::after(&own, &asked, last.map(|(id, _)| id.as_str())),
        commands: vec![page.command(ROTATE_KEYS, code.as_str())],
    }))
}
