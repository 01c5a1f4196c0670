//! The sandbox's bank: one customer and the test accounts.

use bankrail::bank::Booking;
use bankrail::client_assertion::token::names as scope;
use bankrail::jose::{KeySet, VerifyingKey};
use bankrail::service::{
    ApiKeyHash, Customer, Directory, Ledger, LedgerAnswer, LedgerEntry, LedgerPage, StatementQuery,
};
use bankrail::statement::{PagePosition, SortOrder};
use bankrail::values::{Date, Decimal, StoreError, StoreErrorKind, StoreFuture};
use bankrail_emulator::TestAccount;
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
        let customer = Arc::new(Customer::new(
            CUSTOMER.parse()?,
            KeySet::new([key])?,
            scopes,
        ));
        Ok(Self {
            api_key: ApiKeyHash::of(api_key.as_bytes()),
            customer,
        })
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
            let known = TestAccount::ALL
                .iter()
                .find(|account| account.id() == query.account);
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
    let mut bookings = account.bookings(query.day);
    if query.sort_order == SortOrder::Backward {
        bookings.reverse();
    }
    // A position names the last entry that was sent, so entries booked between two calls do not
    // move it.
    let from = match &query.position {
        None => 0,
        Some(position) => match bookings
            .iter()
            .position(|booking| key(booking) == position.as_bytes())
        {
            Some(sent) => sent + 1,
            None => return Ok(LedgerAnswer::UnknownPosition),
        },
    };
    let rest = bookings.get(from..).unwrap_or_default();
    let sent = rest
        .get(..usize::from(query.max_entries.get()))
        .unwrap_or(rest);
    let next = sent.last().filter(|_| sent.len() < rest.len());
    let mut page = LedgerPage::new(
        account.registered(),
        balance_of(account, query.day)?,
        query.day,
    );
    for booking in sent {
        page.entries.push(booking.to_entry()?.into());
    }
    page.next = next.and_then(|last| PagePosition::from_bytes(key(last)));
    Ok(page.into())
}

fn key(booking: &Booking) -> &[u8] {
    booking.idempotency_key().unwrap_or_default().as_bytes()
}

/// The entries of a day.
pub(crate) fn entries(
    account: &TestAccount,
    day: Date,
) -> Result<Vec<LedgerEntry>, Box<dyn Error>> {
    Ok(account
        .bookings(day)
        .iter()
        .map(Booking::to_entry)
        .collect::<Result<_, _>>()?)
}

/// The current balance: the opening balance and the entries of today.
pub(crate) fn balance_of(account: &TestAccount, today: Date) -> Result<Decimal, Box<dyn Error>> {
    let booked = entries(account, today)?;
    Ok(account.opening().amount()
        + booked
            .iter()
            .filter_map(|booked| booked.entry.signed_amount())
            .sum::<Decimal>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail::jose::{RsaSize, SigningKey};
    use bankrail::service::testing::{LedgerFixture, directory_suite, ledger_suite};

    #[tokio::test]
    async fn the_sandboxs_bank_is_a_good_ledger_and_directory() -> Result<(), Box<dyn Error>> {
        let bank = Bank::new(
            "a key",
            SigningKey::generate(RsaSize::Rsa2048)?.verifying_key(),
        )?;
        let day = Date::parse("2026-03-02")?;
        let several_pages = TestAccount::ALL
            .iter()
            .max_by_key(|account| account.bookings(day).len());
        let account = several_pages.ok_or("no accounts")?.id();
        let fixture =
            LedgerFixture::new(CUSTOMER.parse()?, account, day).stranger("OTHER".parse()?);
        ledger_suite(&bank, &fixture).await;
        directory_suite(&bank, &[(b"a key", CUSTOMER.parse()?)]).await;
        Ok(())
    }
}
