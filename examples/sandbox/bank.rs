//! The sandbox's bank: one customer and the test accounts.

use crate::accounts::{ACCOUNTS, TestAccount, TestEntry};
use bankrail::camt052::{Entry, EntryBuilder};
use bankrail::client_assertion::token::names as scope;
use bankrail::jose::{KeySet, VerifyingKey};
use bankrail::service::{
    AccountFacts, ApiKeyHash, Customer, Directory, Ledger, LedgerEntry, LedgerPage, StatementQuery,
};
use bankrail::statement::{EntryChannel, Position, SortOrder};
use bankrail::values::{Clock, Currency, Date, Decimal, Money, StoreError, StoreErrorKind, StoreFuture};
use std::error::Error;
use std::sync::Arc;

/// The code of the sandbox's only customer.
pub(crate) const CUSTOMER: &str = "SANDBOXCUSTOMER";

/// The directory and the ledger. What was booked today is the same every day.
#[derive(Debug)]
pub(crate) struct Bank {
    api_key: ApiKeyHash,
    customer: Arc<Customer>,
    clock: Arc<dyn Clock>,
}

impl Bank {
    pub(crate) fn new(api_key: &str, key: VerifyingKey, clock: Arc<dyn Clock>) -> Result<Self, Box<dyn Error>> {
        let scopes = format!("{} {}", scope::STATEMENT_READ, scope::MANDATE_READ).parse()?;
        let customer = Arc::new(Customer::new(CUSTOMER.parse()?, KeySet::new([key])?, scopes));
        Ok(Self { api_key: ApiKeyHash::of(api_key.as_bytes()), customer, clock })
    }
}

impl Directory for Bank {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        Box::pin(async move { Ok((key == self.api_key).then(|| Arc::clone(&self.customer))) })
    }
}

impl Ledger for Bank {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, Option<LedgerPage>> {
        Box::pin(async move {
            let known = ACCOUNTS.iter().find(|account| account.id == query.account.as_str());
            let Some(account) = known.filter(|_| query.customer == self.customer.code) else { return Ok(None) };
            page(account, query, self.clock.now().date()).map(Some).map_err(|error| {
                // Only a slip in this program's own table comes here.
                StoreError::new(StoreErrorKind::Corrupt, error.to_string())
            })
        })
    }
}

fn page(account: &TestAccount, query: &StatementQuery, today: Date) -> Result<LedgerPage, Box<dyn Error>> {
    let currency = Currency::parse(account.currency)?;
    let mut facts = AccountFacts::new(currency);
    if account.has_virtual_accounts {
        facts = facts.with_virtual_accounts();
    }
    let from = query.position.as_ref().and_then(Position::as_number).unwrap_or(0);
    let most = u64::from(query.max_entries.get());
    let mut entries: Vec<&TestEntry> = account.entries.iter().collect();
    if query.sort_order == SortOrder::Backward {
        entries.reverse();
    }
    let page = entries
        .iter()
        .zip(0_u64..)
        .filter(|(_, number)| (from..from.saturating_add(most)).contains(number))
        .map(|(entry, _)| {
            let channel = if entry.fast { EntryChannel::FastPayment } else { EntryChannel::Ordinary };
            Ok(LedgerEntry::new(report_entry(entry, currency, today)?, channel))
        })
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let next = from.saturating_add(most);
    let page = LedgerPage::new(facts, account.balance()?, today).with_entries(page);
    Ok(if u64::try_from(entries.len())? > next { page.with_next(Position::from_number(next)) } else { page })
}

fn report_entry(entry: &TestEntry, currency: Currency, today: Date) -> Result<Entry, Box<dyn Error>> {
    let money = Money::new(entry.signed_amount()?, currency);
    let mut builder = EntryBuilder::new(money, today).servicer_reference(entry.reference).narrative(entry.narrative);
    if entry.fast {
        builder = builder.end_to_end_id(&format!("E2E-{}", entry.reference));
        builder = if entry.credit { builder.debtor(entry.other_party) } else { builder.creditor(entry.other_party) };
    }
    if let Some((number, issuer)) = entry.virtual_account {
        builder = builder.creditor_account(number, Some(issuer));
    }
    Ok(builder.build()?)
}

impl TestAccount {
    /// What the account holds now: the opening balance and today's entries.
    pub(crate) fn balance(&self) -> Result<Decimal, Box<dyn Error>> {
        let mut balance = bankrail::values::parse_decimal(self.opening)?;
        for entry in self.entries {
            balance += entry.signed_amount()?;
        }
        Ok(balance)
    }
}

impl TestEntry {
    /// The amount, negative for a debit.
    pub(crate) fn signed_amount(&self) -> Result<Decimal, Box<dyn Error>> {
        let amount = bankrail::values::parse_decimal(self.amount)?;
        Ok(if self.credit { amount } else { -amount })
    }
}
