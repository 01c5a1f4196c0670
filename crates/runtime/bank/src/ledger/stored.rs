//! The stored form of entries: the message's element `Ntry`, and a checksum over the columns that a
//! statement shows.
//!
//! The message's own form is stable over versions of this library, and other programs can read it.

use super::account::Account;
use bankrail_camt052::{Direction, WrittenEntry};
use bankrail_service::PageEntry;
use bankrail_statement::EntryChannel;
use bankrail_stores::{Cells, Columns as _, corrupt};
use bankrail_values::{Decimal, Money, StoreError, parse_decimal};

/// The maximum number of bytes of a stored entry, and of all entries of a page.
pub(super) const MAX_BYTES: usize = 4 << 20;

/// The columns of a row that a statement shows.
pub(super) struct Stored<'a> {
    pub(super) number: i64,
    pub(super) day: &'a str,
    pub(super) amount: &'a str,
    pub(super) channel: &'a str,
    pub(super) entry: &'a str,
    /// The checksum; `None` in a row of an earlier version.
    pub(super) checksum: Option<i64>,
}

impl<'a> Stored<'a> {
    pub(super) fn of(row: &'a dyn Cells) -> Result<Self, StoreError> {
        Ok(Self {
            number: row.number("number")?,
            day: row.str("day")?,
            amount: row.str("amount")?,
            channel: row.str("channel")?,
            entry: row.str("entry")?,
            checksum: row.integer("checksum")?,
        })
    }

    pub(super) fn right_checksum(&self) -> i64 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.number.to_be_bytes());
        for text in [self.day, self.amount, self.channel, self.entry] {
            hasher.update(text.as_bytes());
            // A byte that no text in UTF-8 has, so that no two rows hash the same bytes.
            hasher.update(&[0xff]);
        }
        hasher.finalize().into()
    }

    /// Returns the amount without its sign.
    pub(super) fn value(&self) -> Result<Decimal, StoreError> {
        parse_decimal(self.amount.trim_start_matches('-')).map_err(corrupt)
    }

    /// Returns the entry, and true if a checksum proves that it is unchanged. Rows of an earlier
    /// version have no checksum.
    ///
    /// # Errors
    /// [`StoreError`] for a row that was damaged.
    pub(super) fn entry(&self, account: &Account) -> Result<(PageEntry, bool), StoreError> {
        if self
            .checksum
            .is_some_and(|stored| stored != self.right_checksum())
        {
            return Err(corrupt(
                "expected an entry with its checksum, found another",
            ));
        }
        let direction = if self.amount.starts_with('-') {
            Direction::Debit
        } else {
            Direction::Credit
        };
        let amount = Money::new(self.value()?, account.currency);
        let entry = WrittenEntry::assume_written(self.entry.to_owned(), amount, direction);
        Ok((
            PageEntry::Written {
                entry,
                channel: channel(self.channel)?,
            },
            self.checksum.is_some(),
        ))
    }
}

/// Writes an amount with a minus sign for a debit, even for a zero.
pub(super) fn amount(entry: &WrittenEntry) -> String {
    let sign = if *entry.direction() == Direction::Debit {
        "-"
    } else {
        ""
    };
    format!("{sign}{}", entry.amount().amount())
}

pub(super) fn channel(name: &str) -> Result<EntryChannel, StoreError> {
    match name {
        "fast_payment" => Ok(EntryChannel::FastPayment),
        "ordinary" => Ok(EntryChannel::Ordinary),
        _ => Err(corrupt(
            "expected the name of a channel, found another text",
        )),
    }
}
