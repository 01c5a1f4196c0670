//! The accounts of the ledger, and what was booked on each.

use super::command::{BOOK, Command};
use super::error::PageError;
use super::layout::{After, Head, Paging, ROWS, Section, first_rows, html};
use super::text::{encoded, shown};
use super::{Page, Shared};
use crate::statement::row::Row;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use bankrail::bank::LedgerAccount;
use bankrail::service::{Ledger as _, LedgerAnswer, LedgerEntry, RegisteredAccount, StatementQuery};
use bankrail::statement::{AccountId, AccountKind, MaxEntries, PagePosition, SortOrder};
use bankrail::values::Date;
use serde::Deserialize;
use std::collections::HashMap;

/// A customer who may ask for an account's statements.
#[derive(Clone)]
struct Holder {
    code: String,
    href: String,
}

/// The customers of some accounts, and what statements say about these.
#[derive(Default)]
struct Registered {
    of: HashMap<AccountId, (RegisteredAccount, Vec<Holder>)>,
}

impl Registered {
    fn read<'a>(shared: &Shared, accounts: impl IntoIterator<Item = &'a AccountId>) -> Self {
        let mut wanted: HashMap<&AccountId, (Option<RegisteredAccount>, Vec<Holder>)> =
            accounts.into_iter().map(|id| (id, (None, Vec::new()))).collect();
        for record in shared.data.directory.book().records() {
            for (id, facts) in &record.accounts {
                if let Some((found, holders)) = wanted.get_mut(id) {
                    let code = record.customer.code.as_str();
                    found.get_or_insert_with(|| facts.clone());
                    holders.push(Holder { code: shown(code), href: format!("/customers/{}", encoded(code)) });
                }
            }
        }
        let of = wanted.into_iter().filter_map(|(id, (facts, holders))| Some((id.clone(), (facts?, holders))));
        Self { of: of.collect() }
    }
}

struct AccountRow {
    id: String,
    href: String,
    name: String,
    virtual_accounts: bool,
    balance: String,
    currency: String,
    entries: u64,
    holders: Vec<Holder>,
}

impl AccountRow {
    fn new(account: &LedgerAccount, registered: &Registered) -> Self {
        let found = registered.of.get(&account.id);
        let facts = found.map(|(facts, _)| facts);
        let balance = account.balance.rescale_to_minor_units().unwrap_or(account.balance);
        Self {
            id: account.id.to_string(),
            href: format!("/accounts/{}", account.id),
            name: facts.and_then(|facts| facts.name.as_deref()).map(shown).unwrap_or_default(),
            virtual_accounts: facts.is_some_and(|facts| facts.kind == AccountKind::WithVirtualAccounts),
            balance: balance.amount().to_string(),
            currency: balance.currency().to_string(),
            entries: account.entries,
            holders: found.map(|(_, holders)| holders.clone()).unwrap_or_default(),
        }
    }
}

#[derive(Template)]
#[template(path = "page/accounts.html")]
struct AccountsView {
    head: Head,
    rows: Vec<AccountRow>,
    paging: Paging,
}

pub(super) async fn list(State(page): State<Page>, Query(asked): Query<After>) -> Result<Response, PageError> {
    let after = asked.after.as_deref().map(AccountId::parse).transpose().map_err(|_| PageError::NotFound)?;
    let most = u32::try_from(ROWS).unwrap_or(u32::MAX);
    let (accounts, last) = first_rows(page.data.ledger.accounts(after.as_ref(), most + 1).await?);
    let registered = Registered::read(&page, accounts.iter().map(|account| &account.id));
    Ok(html(&AccountsView {
        head: Head::new("Accounts", Section::Accounts),
        rows: accounts.iter().map(|account| AccountRow::new(account, &registered)).collect(),
        paging: Paging::after("/accounts", &asked, last.as_ref().map(|account| account.id.as_str())),
    }))
}

#[derive(Deserialize)]
pub(super) struct Place {
    /// The day of the entries.
    day: Option<String>,
    /// The number of the entry below which the page begins.
    below: Option<u64>,
}

struct EntryRow {
    amount: String,
    debit: bool,
    currency: String,
    code: String,
    counterparty: String,
    narrative: String,
    references: Vec<(String, String)>,
}

impl EntryRow {
    fn new(entry: &LedgerEntry) -> Self {
        let row = Row::of(&entry.entry);
        Self {
            debit: row.amount.starts_with('-'),
            amount: row.amount,
            currency: shown(&row.currency),
            code: shown(&row.code),
            counterparty: shown(&row.counterparty),
            narrative: shown(&row.narrative),
            references: row.references.iter().map(|(kind, text)| (shown(kind), shown(text))).collect(),
        }
    }
}

/// The entries of one day, the newest first.
struct Day {
    day: String,
    entries: Vec<EntryRow>,
    /// To the day's later entries, if this is not its first page.
    later: Option<String>,
    /// To the day's earlier entries, if there are any.
    earlier: Option<String>,
    /// To the last day before, if there is one.
    before: Option<(String, String)>,
}

#[derive(Template)]
#[template(path = "page/account.html")]
struct AccountView {
    head: Head,
    account: AccountRow,
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
    let registered = Registered::read(&page, [&id]);
    let last = ledger.last_day(&id, None).await?;
    let asked = place.day.as_deref().map(Date::parse).transpose().map_err(|_| PageError::NotFound)?;
    let day = match asked.or(last) {
        Some(day) => entries(&page, &id, day, place.below).await?,
        None => None,
    };
    Ok(html(&AccountView {
        head: Head::new(format!("Account {id}"), Section::Accounts),
        account: AccountRow::new(&account, &registered),
        commands: vec![page.command(BOOK, id.as_str())],
        is_last_day: asked.is_none_or(|day| Some(day) == last),
        day,
    }))
}

/// The entries of a day. The ledger gives them to customers, so that they are asked for as one of the account's;
/// `None` without any.
async fn entries(shared: &Shared, id: &AccountId, day: Date, below: Option<u64>) -> Result<Option<Day>, PageError> {
    let ledger = &shared.data.ledger;
    let book = shared.data.directory.book();
    let holder = book.records().find(|record| record.accounts.iter().any(|(own, _)| own == id));
    let Some(holder) = holder else { return Ok(None) };
    let mut query = StatementQuery::new(holder.customer.code.clone(), id.clone(), day);
    query.sort_order = SortOrder::Backward;
    query.position = below.map(PagePosition::from_number);
    query.max_entries = u16::try_from(ROWS).ok().and_then(MaxEntries::new).unwrap_or(MaxEntries::MAX);
    let found = match ledger.statement(&query).await? {
        LedgerAnswer::Page(found) => found,
        LedgerAnswer::UnknownPosition => return Err(PageError::NotFound),
        // The ledger has not heard of the registration yet.
        _ => return Ok(None),
    };
    let own = format!("/accounts/{id}?day={day}");
    let before = ledger.last_day(id, Some(day)).await?;
    let next = found.next.clone();
    Ok(Some(Day {
        day: day.to_string(),
        entries: found.read_entries()?.iter().map(EntryRow::new).collect(),
        earlier: next.and_then(|next| next.as_number()).map(|number| format!("{own}&below={number}")),
        later: below.map(|_| own),
        before: before.map(|day| (format!("/accounts/{id}?day={day}"), day.to_string())),
    }))
}
