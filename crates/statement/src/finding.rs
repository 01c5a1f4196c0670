//! Deviations that are survived.

use std::fmt;

/// Something in a received answer that breaks a published rule, or contradicts what was asked, and was read all the
/// same. Published samples of live services have most of these (Default: "Statement exchange").
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyFinding {
    /// An optional member that is `null` instead of absent.
    #[error("expected {member:?} with a value or not at all, found null")]
    NullMember {
        /// The member.
        member: &'static str,
    },
    /// An optional member whose JSON type is wrong; it was taken for absent.
    #[error("expected {expected} as {member:?}, found {found}")]
    Type {
        /// The member.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// `moreTransactionsAvailable` is true without a cursor: the statement cannot be read to its end.
    #[error("expected a cursor because there are more transactions, found none")]
    MoreWithoutCursor,
    /// A cursor beside `moreTransactionsAvailable` false. It was ignored.
    #[error("expected no cursor because there are no more transactions, found one")]
    CursorWithoutMore,
    /// A cursor that is empty text. It was taken for absent.
    #[error("expected a cursor or none, found an empty one")]
    EmptyCursor,
    /// A cursor that is not standard base64. It is handed back as it is.
    #[error("expected a cursor in base64 with padding")]
    CursorNotBase64,
    /// `extract` is not what was asked for.
    #[error("expected the extract intraday, found {found}")]
    Extract {
        /// The text, cut and escaped.
        found: String,
    },
    /// `sortOrder` is none of the known ones.
    #[error("expected the sort order forward or backward, found {found}")]
    UnknownSortOrder {
        /// The text, cut and escaped.
        found: String,
    },
    /// `sortOrder` was asked for and is absent.
    #[error("expected the sort order that was asked for, found none")]
    SortOrderAbsent,
    /// `sortOrder` is not the one asked for.
    #[error("expected the sort order that was asked for, found the other")]
    SortOrderDiffers,
    /// `requestKey` is not in lower case.
    #[error("expected the request key in lower case")]
    RequestKeyCase,
    /// An error's `requestKey` is absent or no UUID.
    #[error("expected a request key with the error, found none that is readable")]
    RequestKeyUnreadable,
    /// An error's code is absent or not `EC` and digits.
    #[error("expected an error code of EC and digits, found {found}")]
    ErrorCode {
        /// The text, cut and escaped.
        found: String,
    },
    /// More transactions are said to exist, yet this page has none.
    #[error("expected entries because there are more transactions, found none")]
    MoreWithoutEntries,
    /// More entries than were asked for or than an answer may have.
    #[error("expected at most {limit} entries, found {found}")]
    TooManyEntries {
        /// The bound.
        limit: usize,
        /// The entries found.
        found: usize,
    },
    /// The entries' booking dates go against the order said or asked for.
    #[error("expected the entries in the order {}, found an entry out of order at position {at}", expected.as_str())]
    OutOfOrder {
        /// The order that was expected.
        expected: crate::SortOrder,
        /// The first entry out of order, counted from 1.
        at: usize,
    },
    /// The document spells the account in another way than the answer, or names it by its IBAN.
    #[error("expected the account as it was asked for in the document, found {found}")]
    PayloadAccount {
        /// The identifier, cut and escaped.
        found: String,
    },
    /// The document has no report or several.
    #[error("expected one report, found {found}")]
    ReportCount {
        /// The reports found.
        found: usize,
    },
}

/// Findings as one line of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'a>(pub(crate) &'a [ReplyFinding]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.0.iter().enumerate() {
            write!(out, "{}{finding}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
