//! The sandbox's bank: one customer and the test accounts.

use crate::accounts::{ACCOUNTS, TestAccount, TestEntry};
use bankrail::camt052::Direction;
use bankrail::client_assertion::token::names as scope;
use bankrail::jose::{KeySet, VerifyingKey};
use bankrail::service::{
    ApiKeyHash, Booking, Customer, Directory, Ledger, LedgerAnswer, LedgerEntry, LedgerPage, RegisteredAccount,
    StatementQuery,
};
use bankrail::statement::{EntryChannel, PagePosition, SortOrder};
use bankrail::values::{Currency, Date, Decimal, Money, StoreError, StoreErrorKind, StoreFuture, parse_decimal};
use std::error::Error;
use std::sync::Arc;

/// The code of the sandbox's only customer.
pub(crate) const CUSTOMER: &str = "SANDBOXCUSTOMER";

/// The directory and the ledger. The entries of today are the same every day.
#[derive(Debug)]
pub(crate) struct Bank {
    api_key: ApiKeyHash,
    customer: Arc<Customer>,
}

impl Bank {
    pub(crate) fn new(api_key: &str, key: VerifyingKey) -> Result<Self, Box<dyn Error>> {
        let scopes = format!("{} {}", scope::STATEMENT_READ, scope::MANDATE_READ).parse()?;
        let customer = Arc::new(Customer::new(CUSTOMER.parse()?, KeySet::new([key])?, scopes));
        Ok(Self { api_key: ApiKeyHash::of(api_key.as_bytes()), customer })
    }
}

impl Directory for Bank {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        Box::pin(async move { Ok((key == self.api_key).then(|| Arc::clone(&self.customer))) })
    }
}

impl Ledger for Bank {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(async move {
            let known = ACCOUNTS.iter().find(|account| account.id == query.account.as_str());
            let Some(account) = known.filter(|_| query.customer == self.customer.code) else {
                return Ok(LedgerAnswer::UnknownAccount);
            };
            page(account, query).map_err(|error| {
                // Only a mistake in this program's own table leads here.
                StoreError::new(StoreErrorKind::Corrupt, error.to_string())
            })
        })
    }
}

fn page(account: &TestAccount, query: &StatementQuery) -> Result<LedgerAnswer, Box<dyn Error>> {
    let currency = Currency::parse(account.currency)?;
    let mut facts = RegisteredAccount::new(currency);
    if account.has_virtual_accounts {
        facts = facts.with_virtual_accounts();
    }
    let mut entries: Vec<&TestEntry> = account.entries.iter().collect();
    if query.sort_order == SortOrder::Backward {
        entries.reverse();
    }
    // A position names the last entry that was sent, so entries booked between two calls do not move it.
    let from = match &query.position {
        None => 0,
        Some(position) => match entries.iter().position(|entry| entry.reference.as_bytes() == position.as_bytes()) {
            Some(sent) => sent + 1,
            None => return Ok(LedgerAnswer::UnknownPosition),
        },
    };
    let rest = entries.get(from..).unwrap_or_default();
    let sent = rest.get(..usize::from(query.max_entries.get())).unwrap_or(rest);
    let next = sent.last().filter(|_| sent.len() < rest.len());
    let mut page = LedgerPage::new(facts, account.balance()?, query.day);
    for entry in sent {
        page.entries.push(ledger_entry(entry, currency, query.day)?);
    }
    page.next = next.and_then(|last| PagePosition::from_bytes(last.reference.as_bytes()));
    Ok(page.into())
}

fn ledger_entry(entry: &TestEntry, currency: Currency, today: Date) -> Result<LedgerEntry, Box<dyn Error>> {
    let money = Money::new(parse_decimal(entry.amount)?, currency);
    let mut booking = Booking::new(entry.kind, money, today).reference(entry.reference).narrative(entry.narrative);
    if entry.is_fast() {
        booking = booking.end_to_end_id(format!("E2E-{}", entry.reference)).counterparty(entry.other_party);
    }
    if let Some((number, issuer)) = entry.virtual_account {
        booking = booking.virtual_account(number).virtual_account_issuer(issuer);
    }
    Ok(booking.to_entry()?)
}

impl TestAccount {
    /// The current balance: the opening balance and the entries of today.
    pub(crate) fn balance(&self) -> Result<Decimal, Box<dyn Error>> {
        let mut balance = parse_decimal(self.opening)?;
        for entry in self.entries {
            balance += entry.signed_amount()?;
        }
        Ok(balance)
    }
}

impl TestEntry {
    /// The amount, negative for a debit.
    pub(crate) fn signed_amount(&self) -> Result<Decimal, Box<dyn Error>> {
        let amount = parse_decimal(self.amount)?;
        Ok(if self.kind.direction() == Direction::Debit { -amount } else { amount })
    }

    /// Whether its narrative is hidden on request.
    pub(crate) fn is_fast(&self) -> bool {
        self.kind.channel() == EntryChannel::FastPayment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail::jose::{RsaSize, SigningKey};
    use bankrail::service::testing::{LedgerFixture, directory_suite, ledger_suite};

    #[tokio::test]
    async fn the_sandboxs_bank_is_a_good_ledger_and_directory() -> Result<(), Box<dyn Error>> {
        let bank = Bank::new("a key", SigningKey::generate(RsaSize::Rsa2048)?.verifying_key())?;
        let several_pages = ACCOUNTS.iter().max_by_key(|account| account.entries.len()).ok_or("no accounts")?;
        let fixture = LedgerFixture::new(CUSTOMER.parse()?, several_pages.id.parse()?, Date::parse("2026-03-02")?)
            .stranger("OTHER".parse()?);
        ledger_suite(&bank, &fixture).await;
        directory_suite(&bank, &[(b"a key", CUSTOMER.parse()?)]).await;
        Ok(())
    }
}
