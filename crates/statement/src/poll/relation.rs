//! What an entry is to those before it, and what else is said about an account.

use bankrail_values::{Date, Decimal, Timestamp};

/// What an entry that is handed over is to those that were handed over before.
///
/// Of pending entries a bank often changes the reference when it books them, and some correct a booked entry under its
/// reference. What is said here as certain rests on a statement that no longer lists the earlier entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryRelation {
    /// It was not there before.
    New {
        /// Entries that it may replace, at most eight: the statement seems not to list them any more, and they have its
        /// reference, or its payment or amount. A full walk decides: one that is gone is then
        /// [`AccountNotice::Vanished`].
        may_replace: Vec<[u8; 32]>,
    },
    /// It stands for the entry of this [id](crate::SeenEntry::id), which no longer counts: a pending entry was booked,
    /// or the bank has changed the amount, the currency or the day under one reference.
    Replaces([u8; 32]),
    /// It had vanished and is there again, under its id.
    Returned,
    /// It is known, and the bank has changed parties or text under its reference. The amount is the same.
    TextChanged,
}

/// Something about an account that no single entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccountNotice {
    /// Two full walks in a row through the statement of the day on which an entry was listed did not list it: it no
    /// longer counts. If it comes back, it is [`EntryRelation::Returned`].
    Vanished {
        /// Its [id](crate::SeenEntry::id).
        id: [u8; 32],
        /// Whether it was booked.
        booked: bool,
    },
    /// The booked balances and the booked entries of two full walks in a row do not add up: entries are missing, or
    /// are another account's. Said once for each difference.
    BalanceGap {
        /// The balance at the end, less the one at the beginning and the entries between them. If the statement has no
        /// opening balance, that of the day's first full walk is computed from its entries.
        difference: Decimal,
    },
    /// A day is over, and its statement was walked to its end for the last time so long before
    /// ([`PollOptions::unseen`](crate::PollOptions::unseen)) that entries may have come which no statement lists any
    /// more: an intraday statement cannot be asked for after its day.
    DayIncomplete {
        /// The day.
        day: Date,
        /// Up to when its entries are known.
        seen_until: Timestamp,
        /// The next day of which a statement was seen. What is between the two was not seen at all.
        next: Date,
    },
    /// The currency of the account, as the report states it, is another one than before.
    CurrencyChanged {
        /// The code before.
        from: String,
        /// The code now.
        to: String,
    },
    /// The kind of the account (`Acct/Tp`), as the report states it, is another one than before.
    KindChanged {
        /// The code or name before.
        from: String,
        /// The code or name now.
        to: String,
    },
}

impl AccountNotice {
    /// The kind of notice as one word, for logs and metrics.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Vanished { .. } => "vanished",
            Self::BalanceGap { .. } => "balance_gap",
            Self::DayIncomplete { .. } => "day_incomplete",
            Self::CurrencyChanged { .. } => "currency_changed",
            Self::KindChanged { .. } => "kind_changed",
        }
    }
}
