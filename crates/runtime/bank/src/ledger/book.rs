//! The booking of entries.

use super::account::{self, Account};
use super::error::BookError;
use super::stored::{self, Stored};
use crate::booking::{Booking, BookingMember, check_text};
use crate::sql::{self, Sql};
use bankrail_camt052::{
    Amount, BuildError, DateOrDateTime, Entry, EntryStatus, NumberError, WrittenEntry,
};
use bankrail_service::{LedgerEntry, ReportDay};
use bankrail_statement::{AccountId, EntryChannel};
use bankrail_stores::corrupt;
use bankrail_values::{Date, Decimal, Money, StoreError};

const KNOWN: &str = "SELECT number, day, amount, channel, entry, checksum FROM bankrail_account_entry WHERE account = $1 AND key = $2";

const INSERT: &str = "INSERT INTO bankrail_account_entry (account, number, day, amount, channel, key, entry, checksum)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const CHANGE: &str = "UPDATE bankrail_account SET balance = $2, last_entry = $3 WHERE id = $1";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[KNOWN, INSERT, CHANGE];

/// The answer to a booking: the number of the entry in its account, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Booked {
    /// The entry was booked.
    New(u64),
    /// The account had the same entry under the same key, and nothing was changed.
    Known(u64),
}

/// Books an entry, within the caller's transaction. If the day of the reports is given, the booking
/// day of a new entry is checked against it.
pub(super) async fn book(
    connection: &impl Sql,
    account: &AccountId,
    entry: &LedgerEntry,
    key: Option<&str>,
    report_day: Option<&ReportDay>,
) -> Result<Booked, BookError> {
    // Locked first: balance and number below must be those of the last booking.
    let account = &account::lock(connection, account)
        .await?
        .ok_or(BookError::UnknownAccount)?;
    let (day, change) = facts(account, &entry.entry)?;
    // With the entries of that day the keys were deleted, which would show a repeated booking.
    if account.has_forgotten(day) {
        return Err(BookError::Forgotten);
    }
    if let Some(key) = key {
        check_text(BookingMember::Key, key, Booking::MAX_KEY)?;
        if let Some((number, known)) = known(connection, account, key).await? {
            return if known == *entry {
                Ok(Booked::Known(number))
            } else {
                Err(BookError::Conflict)
            };
        }
    }
    // After the key, so that a booking that is repeated on a later day is known.
    if let Some(report_day) = report_day {
        report_day.check(day)?;
    }
    let balance = account
        .balance
        .checked_add(change)
        .ok_or(BookError::Balance)?;
    let number = account
        .last_entry
        .checked_add(1)
        .ok_or(BookError::Balance)?;
    // Refused now: a balance that no statement can carry would hide all entries.
    carries(Money::new(balance, account.currency))?;
    let written = WrittenEntry::new(&entry.entry).map_err(BookError::Entry)?;
    if written.xml().len() > stored::MAX_BYTES {
        return Err(BookError::TooLarge {
            most: stored::MAX_BYTES,
        });
    }
    let (day, amount, channel) = (
        day.to_string(),
        stored::amount(&written),
        channel_name(entry.channel)?,
    );
    let row = Stored {
        number,
        day: &day,
        amount: &amount,
        channel,
        entry: written.xml(),
        checksum: None,
    };
    let values = &[
        account.row.into(),
        number.into(),
        day.as_str().into(),
        amount.as_str().into(),
        channel.into(),
        key.into(),
        written.xml().into(),
        row.right_checksum().into(),
    ];
    let balance = balance.to_string();
    let changed = &[account.row.into(), balance.as_str().into(), number.into()];
    // The two queries are sent at once, so that a caller who drops the booking and commits has both
    // changes or none.
    tokio::try_join!(biased; connection.run(INSERT, values), connection.run(CHANGE, changed))?;
    Ok(Booked::New(u64::try_from(number).map_err(corrupt)?))
}

/// Returns an error for a balance that no statement can carry.
fn carries(balance: Money) -> Result<(), BookError> {
    let balance = balance.rescale_to_minor_units().unwrap_or(balance);
    let fits: Result<Amount, NumberError> = Amount::new(balance.amount().abs(), balance.currency());
    fits.map(drop)
        .map_err(|error| BookError::Entry(BuildError::Amount(error)))
}

/// Returns the booking day, and the amount with its sign.
fn facts(account: &Account, entry: &Entry) -> Result<(Date, Decimal), BookError> {
    let found = entry.amount.currency();
    if found.is_none_or(|found| found.as_str() != account.currency.as_str()) {
        let found = found.map_or_else(|| "none".to_owned(), ToString::to_string);
        return Err(BookError::Currency {
            expected: account.currency,
            found,
        });
    }
    if entry.status != EntryStatus::BOOKED {
        return Err(BookError::Status);
    }
    let amount = entry.signed_amount().ok_or(BookError::Direction)?;
    Ok((booking_day(entry).ok_or(BookError::BookingDay)?, amount))
}

/// Returns the written calendar day; an offset does not shift it.
fn booking_day(entry: &Entry) -> Option<Date> {
    let day = match entry.booking_date.as_ref()? {
        DateOrDateTime::Date(date) => date.to_time(),
        DateOrDateTime::DateTime(at) => at.date().to_time(),
        _ => None,
    };
    Date::from_time(day?)
}

/// Returns the entry that the account has under a key, with its number.
async fn known(
    connection: &impl Sql,
    account: &Account,
    key: &str,
) -> Result<Option<(u64, LedgerEntry)>, StoreError> {
    sql::row(
        connection,
        KNOWN,
        &[account.row.into(), key.into()],
        |row| {
            let stored = Stored::of(row)?;
            let (entry, _) = stored.entry(account)?;
            Ok((
                u64::try_from(stored.number).map_err(corrupt)?,
                entry.read()?,
            ))
        },
    )
    .await
}

fn channel_name(channel: EntryChannel) -> Result<&'static str, BookError> {
    match channel {
        EntryChannel::FastPayment => Ok("fast_payment"),
        EntryChannel::Ordinary => Ok("ordinary"),
        // Stored as another channel, its narrative might be shown to a customer without the right.
        _ => Err(BookError::Unfaithful),
    }
}
