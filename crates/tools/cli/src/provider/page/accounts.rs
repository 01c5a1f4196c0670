//! The accounts of the ledger, and what was booked on each.

use super::command::{BOOK, Command};
use super::error::PageError;
use super::layout::{After, Head, Paging, ROWS, first_rows, html};
use super::text::filters;
use super::{Page, Shared};
use crate::statement::row::Row;
use crate::text::grouped;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use bankrail::bank::LedgerAccount;
use bankrail::client_assertion::CustomerCode;
use bankrail::service::{Ledger as _, LedgerAnswer, RegisteredAccount, StatementQuery};
use bankrail::statement::{AccountId, AccountKind, MaxEntries, PagePosition, SortOrder};
use bankrail::values::Date;
use serde::Deserialize;

/// An account: what the ledger knows of it, what statements say, and the customers who may ask for
/// them.
struct AccountRow {
    account: LedgerAccount,
    registered: Option<RegisteredAccount>,
    holders: Vec<CustomerCode>,
}

impl AccountRow {
    /// The rows of accounts that are in the order of their identifiers.
    fn all(shared: &Shared, accounts: Vec<LedgerAccount>) -> Vec<Self> {
        let row = |account| Self {
            account,
            registered: None,
            holders: Vec::new(),
        };
        let mut rows: Vec<Self> = accounts.into_iter().map(row).collect();
        for record in shared.data.directory.book().records() {
            for (id, facts) in &record.accounts {
                let place = rows.binary_search_by(|row| row.account.id.cmp(id));
                if let Some(row) = place.ok().and_then(|place| rows.get_mut(place)) {
                    row.registered.get_or_insert_with(|| facts.clone());
                    row.holders.push(record.customer.code.clone());
                }
            }
        }
        rows
    }

    fn name(&self) -> &str {
        self.registered
            .as_ref()
            .and_then(|facts| facts.name.as_deref())
            .unwrap_or_default()
    }

    fn has_virtual_accounts(&self) -> bool {
        self.registered
            .as_ref()
            .is_some_and(|facts| facts.kind == AccountKind::WithVirtualAccounts)
    }

    fn balance(&self) -> String {
        grouped(
            &self
                .account
                .balance
                .rescale_to_minor_units()
                .unwrap_or(self.account.balance)
                .amount()
                .to_string(),
        )
    }
}

#[derive(Template)]
#[template(path = "page/accounts.html")]
struct AccountsView {
    head: Head,
    rows: Vec<AccountRow>,
    paging: Paging,
}

pub(super) async fn list(
    State(page): State<Page>,
    Query(asked): Query<After>,
) -> Result<Response, PageError> {
    let after = asked
        .after
        .as_deref()
        .map(AccountId::parse)
        .transpose()
        .map_err(|_| PageError::NotFound)?;
    let most = u32::try_from(ROWS).unwrap_or(u32::MAX);
    let (accounts, last) = first_rows(page.data.ledger.accounts(after.as_ref(), most + 1).await?);
    Ok(html(&AccountsView {
        head: Head::new("Accounts", "/accounts"),
        paging: Paging::after(
            "/accounts",
            &asked,
            last.as_ref().map(|account| account.id.as_str()),
        ),
        rows: AccountRow::all(&page, accounts),
    }))
}

#[derive(Deserialize)]
pub(super) struct Place {
    /// The day of the entries.
    day: Option<String>,
    /// The number of the entry below which the page begins.
    below: Option<u64>,
}

/// The entries of one day, the newest first.
struct Day {
    day: Date,
    entries: Vec<Row>,
    /// True if this is not the day's first page.
    is_later_page: bool,
    /// The number of the entry below which the next page begins, if there is one.
    next: Option<u64>,
    /// The last day before, if there is one.
    before: Option<Date>,
}

#[derive(Template)]
#[template(path = "page/account.html")]
struct AccountView {
    head: Head,
    row: AccountRow,
    day: Option<Day>,
    is_last_day: bool,
    commands: Vec<Command>,
}

pub(super) async fn show(
    State(page): State<Page>,
    Path(id): Path<String>,
    Query(place): Query<Place>,
) -> Result<Response, PageError> {
    let id: AccountId = id.parse().map_err(|_| PageError::NotFound)?;
    let ledger = &page.data.ledger;
    let account = ledger.account(&id).await?.ok_or(PageError::NotFound)?;
    let row = AccountRow::all(&page, vec![account])
        .pop()
        .ok_or(PageError::NotFound)?;
    let last = ledger.last_day(&id, None).await?;
    let asked = place
        .day
        .as_deref()
        .map(Date::parse)
        .transpose()
        .map_err(|_| PageError::NotFound)?;
    let day = match asked.or(last) {
        Some(day) => entries(&page, &id, day, place.below).await?,
        None => None,
    };
    Ok(html(&AccountView {
        head: Head::new(format!("Account {id}"), "/accounts"),
        row,
        commands: vec![page.command(BOOK, id.as_str())],
        is_last_day: asked.is_none_or(|day| Some(day) == last),
        day,
    }))
}

/// The entries of a day. The ledger gives them to customers, so that they are asked for as one of
/// the account's; `None` without any.
async fn entries(
    shared: &Shared,
    id: &AccountId,
    day: Date,
    below: Option<u64>,
) -> Result<Option<Day>, PageError> {
    let ledger = &shared.data.ledger;
    let book = shared.data.directory.book();
    let holder = book
        .records()
        .find(|record| record.accounts.iter().any(|(own, _)| own == id));
    let Some(holder) = holder else {
        return Ok(None);
    };
    let mut query = StatementQuery::new(holder.customer.code.clone(), id.clone(), day);
    query.sort_order = SortOrder::Backward;
    query.position = below.map(PagePosition::from_number);
    query.max_entries = u16::try_from(ROWS)
        .ok()
        .and_then(MaxEntries::new)
        .unwrap_or(MaxEntries::MAX);
    let found = match ledger.statement(&query).await? {
        LedgerAnswer::Page(found) => found,
        LedgerAnswer::UnknownPosition => return Err(PageError::NotFound),
        // The ledger has not heard of the registration yet.
        _ => return Ok(None),
    };
    Ok(Some(Day {
        day,
        is_later_page: below.is_some(),
        next: found.next.as_ref().and_then(PagePosition::as_number),
        entries: found
            .read_entries()?
            .iter()
            .map(|entry| Row::of(&entry.entry))
            .collect(),
        before: ledger.last_day(id, Some(day)).await?,
    }))
}
