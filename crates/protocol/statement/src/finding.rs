//! Deviations that a client tolerates.

/// A deviation in a received answer that was tolerated: it breaks a published rule or contradicts
/// the request. Published samples of live services have most of these (Default: "Statement
/// exchange").
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyFinding {
    /// An optional member is `null` instead of absent.
    #[error("expected {member:?} to have a value or be absent, found null")]
    NullMember {
        /// The member.
        member: &'static str,
    },
    /// The JSON type of an optional member is wrong. The member was treated as absent.
    #[error("expected {expected} as {member:?}, found {found}")]
    Type {
        /// The member.
        member: &'static str,
        /// The expected value.
        expected: &'static str,
        /// The value found.
        found: &'static str,
    },
    /// `moreTransactionsAvailable` is true without a cursor: the statement cannot be read to its
    /// end.
    #[error("expected a cursor because there are more transactions, found none")]
    MoreWithoutCursor,
    /// There is a cursor although `moreTransactionsAvailable` is false. The cursor was ignored.
    #[error("expected no cursor because there are no more transactions, found one")]
    CursorWithoutMore,
    /// The cursor is the empty text. It was treated as absent.
    #[error("expected a cursor or none, found an empty one")]
    EmptyCursor,
    /// The cursor is not standard base64 with padding. It is sent back unchanged.
    #[error("expected a cursor in base64 with padding")]
    CursorNotBase64,
    /// `extract` is not `intraday`.
    #[error("expected the extract intraday, found {found}")]
    Extract {
        /// The text, cut and escaped.
        found: String,
    },
    /// `sortOrder` is neither `forward` nor `backward`.
    #[error("expected the sort order forward or backward, found {found}")]
    UnknownSortOrder {
        /// The text, cut and escaped.
        found: String,
    },
    /// `sortOrder` was in the request and is absent.
    #[error("expected the sort order that was asked for, found none")]
    SortOrderAbsent,
    /// `sortOrder` is not the one in the request.
    #[error("expected the sort order that was asked for, found the other")]
    SortOrderDiffers,
    /// `requestKey` is not in lower case.
    #[error("expected the request key in lower case")]
    RequestKeyCase,
    /// An error's `requestKey` is absent or not a UUID.
    #[error("expected a readable request key with the error, found none")]
    RequestKeyUnreadable,
    /// An error's code is absent or not `EC` and digits.
    #[error("expected an error code of EC and digits, found {found}")]
    ErrorCode {
        /// The text, cut and escaped.
        found: String,
    },
    /// `moreTransactionsAvailable` is true, but this page has no entries.
    #[error("expected entries because there are more transactions, found none")]
    MoreWithoutEntries,
    /// The page has more entries than requested, or than an answer may have.
    #[error("expected at most {limit} entries, found {found}")]
    TooManyEntries {
        /// The bound.
        limit: usize,
        /// The number of entries found.
        found: usize,
    },
    /// The booking dates contradict `sortOrder`, or the order of the request if `sortOrder` is
    /// absent.
    #[error("expected the entries in the order {}, found an entry out of order at position {at}", expected.as_str())]
    OutOfOrder {
        /// The order that was expected.
        expected: crate::SortOrder,
        /// The first entry out of order, counted from 1.
        at: usize,
    },
    /// The document spells the account identifier in a different way from the answer, or names the
    /// account by its IBAN.
    #[error("document: expected the account as spelled in the answer, found {found}")]
    PayloadAccount {
        /// The identifier, cut and escaped.
        found: String,
    },
    /// The payload has half of a surrogate pair, which stands for no character and is read as
    /// U+FFFD. If the bank later corrects the text of an entry without a reference, it becomes
    /// another entry, because its content identifies it.
    #[error("payload: expected characters, found half of a surrogate pair, read as U+FFFD")]
    LoneSurrogate,
    /// The document does not have exactly one report.
    #[error("expected one report, found {found}")]
    ReportCount {
        /// The number of reports found.
        found: usize,
    },
}
