//! The test accounts of the specification.

mod table;

use bankrail_bank::{Booking, BookingKind};
use bankrail_service::RegisteredAccount;
use bankrail_statement::{AccountId, AccountKind};
use bankrail_values::{Currency, Date, Money, parse_decimal};

/// A test account with its daily bookings (Specification: "Request statement", test data): there is
/// one in each of eight currencies, and there are two with virtual accounts. All names and numbers
/// are made up.
///
/// - [`FakeBank::open_test_accounts`](crate::FakeBank::open_test_accounts) gives them to the first
///   customer of a fake bank. Another provider registers [`TestAccount::registered`], opens each
///   account with [`TestAccount::opening`], and books [`TestAccount::bookings`] once a day.
/// - [`TestAccount::UNKNOWN`] is never registered, nor is any of the reserved numbers
///   ([`AccountId::is_reserved_for_negative_testing`]).
///
/// ```
/// use bankrail_emulator::TestAccount;
/// use bankrail_values::Date;
/// let currencies = TestAccount::ALL.iter().map(|account| account.opening().currency().to_string());
/// assert_eq!(currencies.collect::<Vec<_>>()[..8], ["AUD", "USD", "SBD", "HKD", "SGD", "INR", "PGK", "VND"]);
/// let booked = TestAccount::ALL[0].bookings(Date::parse("2026-03-02")?);
/// assert_eq!(booked[0].idempotency_key(), Some("FP0001-20260302"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestAccount {
    id: &'static str,
    currency: Currency,
    shows: &'static str,
    opening: &'static str,
    kind: AccountKind,
    entries: &'static [DailyBooking],
}

/// A booking that is made on an account every day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DailyBooking {
    kind: BookingKind,
    amount: &'static str,
    counterparty: Option<&'static str>,
    reference: &'static str,
    narrative: &'static str,
    virtual_account: Option<&'static str>,
}

/// The branch that issued the virtual accounts.
const ISSUER: &str = "999042";

impl TestAccount {
    /// All test accounts: in AUD, USD, SBD, HKD, SGD, INR, PGK and VND, and then the two with
    /// virtual accounts.
    pub const ALL: &'static [Self] = &table::ACCOUNTS;

    /// The identifier of an account that does not exist: fifteen zeros (Specification: "Request
    /// statement", test data).
    pub const UNKNOWN: &'static str = "000000000000000";

    /// Returns the identifier.
    #[must_use]
    pub fn id(&self) -> AccountId {
        AccountId::parse(self.id).expect("the table has identifiers of accounts")
    }

    /// Returns the purpose of the account, for people: its currency, or its special feature.
    #[must_use]
    pub fn shows(&self) -> &'static str {
        self.shows
    }

    /// Returns the account in the form in which it is registered for statements.
    #[must_use]
    pub fn registered(&self) -> RegisteredAccount {
        let account = RegisteredAccount::new(self.currency);
        if self.kind == AccountKind::WithVirtualAccounts {
            account.with_virtual_accounts()
        } else {
            account
        }
    }

    /// Returns the balance before the first booking.
    #[must_use]
    pub fn opening(&self) -> Money {
        self.money(self.opening)
    }

    /// Returns the bookings of a day, which are the same every day except that the references end
    /// with the day. A ledger books each reference once.
    #[must_use]
    pub fn bookings(&self, day: Date) -> Vec<Booking> {
        let digits = day.to_string().replace('-', "");
        self.entries
            .iter()
            .map(|line| self.booking(line, day, &digits))
            .collect()
    }

    fn booking(&self, line: &DailyBooking, day: Date, digits: &str) -> Booking {
        let reference = format!("{}-{digits}", line.reference);
        let mut booking =
            Booking::new(line.kind, self.money(line.amount), day).narrative(line.narrative);
        if let Some(name) = line.counterparty {
            booking = booking
                .counterparty(name)
                .end_to_end_id(format!("E2E-{reference}"));
        }
        if let Some(number) = line.virtual_account {
            booking = booking
                .virtual_account(number)
                .virtual_account_issuer(ISSUER);
        }
        booking.reference(reference)
    }

    fn money(&self, amount: &str) -> Money {
        Money::new(
            parse_decimal(amount).expect("the table has amounts"),
            self.currency,
        )
    }
}
