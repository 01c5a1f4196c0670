//! The relations of an entry to earlier ones, and the notices about an account.

use crate::SeenEntryId;
use bankrail_values::{Date, Decimal, Timestamp};

/// The relation of an entry that is handed over to those that were handed over before.
///
/// A bank often changes the reference of a pending entry when it books it, and some banks correct a
/// booked entry under its reference. Others list an entry without a reference first, and its value
/// date, its text, its transactions or its reference later. A certain relation needs a statement
/// that no longer lists the earlier entry; if it has several pages, two walks through them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryRelation {
    /// The entry was not listed before.
    New {
        /// Entries that this one may replace, at most eight: the statement seems not to list them
        /// any more, and they have its reference, payment or amount. Two full walks decide: an
        /// entry that is gone is then [`AccountNotice::Vanished`]. A past day has no further walks,
        /// so a person decides.
        may_replace: Vec<SeenEntryId>,
    },
    /// The entry replaces the one with this [id](crate::SeenEntry::id), which no longer counts: a
    /// pending entry was booked, or the bank has changed the amount, the currency or the day under
    /// one reference, or it has completed an entry without a reference. A completed form has the
    /// earlier one's amount, direction, status and day, and all parts that both have are equal.
    Replaces(SeenEntryId),
    /// The entry was replaced, or had vanished while it was pending, and is listed again under its
    /// id.
    Returned {
        /// The [id](crate::SeenEntry::id) of the entry that this one replaces now, for example
        /// because the bank has undone a change.
        replaces: Option<SeenEntryId>,
    },
    /// The entry is known, and the bank has changed its parties or text under its reference. The
    /// amount is the same.
    TextChanged,
}

/// A notice about an account that concerns no single entry of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccountNotice {
    /// Two full walks in a row did not list an entry that was handed over: a booked one through the
    /// statement of the entry's day, one that is not booked through any. The bank may have
    /// cancelled it, or left it out by mistake, so a person decides on a booked entry. Entries
    /// beyond the last 2,000 of a day are not watched.
    Vanished {
        /// The [id](crate::SeenEntry::id).
        id: SeenEntryId,
        /// True if the entry was booked.
        booked: bool,
    },
    /// All booked entries of the day have vanished at once. The cause is a mistake of the bank, or
    /// a statement that begins again at another time than the reports' day.
    AllVanished {
        /// The number of entries.
        count: usize,
    },
    /// A booked entry that had vanished is listed again.
    Reappeared {
        /// The [id](crate::SeenEntry::id).
        id: SeenEntryId,
    },
    /// The booked balances and the booked entries of two full walks in a row do not add up: entries
    /// are missing, or belong to another account. There is one notice for each difference. A
    /// statement without booked balances, such as one with the specification's `ITAV` only, shows
    /// none: an available balance moves with pending entries.
    BalanceGap {
        /// The balance at the end, less the one at the beginning and the entries between them. If
        /// the statement has no opening balance, that of the day's first full walk is computed from
        /// its entries.
        difference: Decimal,
    },
    /// A day is over, and the last complete walk of its statement was longer before its end than
    /// [`PollOptions::unseen`](crate::PollOptions::unseen). Entries may be missing, because an
    /// intraday statement cannot be requested after its day. There is no notice if the reports
    /// state no offset, or if the last cursor still led to entries of that day after its end.
    DayIncomplete {
        /// The day.
        day: Date,
        /// The time up to which the day's entries are known.
        seen_until: Timestamp,
        /// The next day with a received statement. There was none of the days in between.
        next: Date,
    },
    /// The currency of the account, as the report states it, is different from before.
    CurrencyChanged {
        /// The code before.
        from: String,
        /// The code now.
        to: String,
    },
    /// The kind of the account (`Acct/Tp`), as the report states it, is different from before.
    KindChanged {
        /// The code or name before.
        from: String,
        /// The code or name now.
        to: String,
    },
    /// An entry cannot be booked, because it has no usable amount, direction or currency. The other
    /// entries of the page are handed over.
    Unbookable {
        /// The [id](crate::SeenEntry::id).
        id: SeenEntryId,
    },
    /// A new entry is in a currency other than its account's.
    ForeignCurrency {
        /// The [id](crate::SeenEntry::id).
        id: SeenEntryId,
    },
    /// The document names its account in a different way from the request, such as by an IBAN, so
    /// that the document does not prove that it is about the same account.
    OtherAccount,
    /// A report was made on a day more than a week before or after the call.
    DatedFarOff {
        /// The day.
        day: Date,
    },
    /// An entry cannot be read, for example because it has no amount. The other entries of the page
    /// are handed over, and so is this one once it can be read. There is one notice for each such
    /// entry. Until a walk can read every entry, no entry counts as vanished and no balance gap is
    /// found, because the unreadable entry may be the missing one. So an account that lists such an
    /// entry every day has neither notice: report the entry to the bank.
    Unreadable {
        /// The element that cannot be read, and its place in the document.
        place: String,
    },
}

impl EntryRelation {
    /// Returns the relation as one word, for logs and metrics.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::New { may_replace } if may_replace.is_empty() => "new",
            Self::New { .. } => "may_replace",
            Self::Replaces(_) => "replaced",
            Self::Returned { .. } => "returned",
            Self::TextChanged => "text_changed",
        }
    }
}

impl AccountNotice {
    /// All values of [`AccountNotice::kind`].
    pub const KINDS: [&str; 12] = [
        "vanished",
        "all_vanished",
        "reappeared",
        "balance_gap",
        "day_incomplete",
        "currency_changed",
        "kind_changed",
        "unbookable",
        "foreign_currency",
        "other_account",
        "dated_far_off",
        "unreadable",
    ];

    /// Returns the kind of notice as one word, for logs and metrics.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Vanished { .. } => "vanished",
            Self::AllVanished { .. } => "all_vanished",
            Self::Reappeared { .. } => "reappeared",
            Self::BalanceGap { .. } => "balance_gap",
            Self::DayIncomplete { .. } => "day_incomplete",
            Self::CurrencyChanged { .. } => "currency_changed",
            Self::KindChanged { .. } => "kind_changed",
            Self::Unbookable { .. } => "unbookable",
            Self::ForeignCurrency { .. } => "foreign_currency",
            Self::OtherAccount => "other_account",
            Self::DatedFarOff { .. } => "dated_far_off",
            Self::Unreadable { .. } => "unreadable",
        }
    }
}
