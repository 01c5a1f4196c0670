//! camt.054, the notification of debits and credits: a header, notifications of accounts,
//! supplementary data.

use crate::*;
use bankrail_iso20022::__private::Watch;

/// A whole message: a group header and one or more notifications.
///
/// `BankToCustomerDebitCreditNotificationV06` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element, Message)]
#[element(type = "BankToCustomerDebitCreditNotificationV06")]
#[message(
    namespace = "urn:iso:std:iso:20022:tech:xsd:camt.054.001.",
    oldest = 2,
    newest = 8,
    root = "BkToCstmrDbtCdtNtfctn",
    depth = 16
)]
#[message(header = group_header, groups = notifications, unit = Entry, unit_name = "Ntry")]
#[non_exhaustive]
pub struct Document {
    /// The version of the schema. Default: 06.
    #[element(version)]
    pub version: Version,
    /// The identification of the message. `GrpHdr`, mandatory in the schema; optional in tolerant
    /// reading.
    #[element("GrpHdr", soft)]
    pub group_header: Option<GroupHeader>,
    /// The notifications, each on one account. `Ntfctn`.
    #[element("Ntfctn", min = 1)]
    pub notifications: Vec<Notification>,
    /// Data that sender and receiver agreed on beyond the message. `SplmtryData`.
    #[element("SplmtryData", since = 3)]
    pub supplementary_data: Vec<SupplementaryData>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A notification of one account.
///
/// `AccountNotification12` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "AccountNotification12", rule = compare)]
#[non_exhaustive]
pub struct Notification {
    /// The servicer's identification of this notification, up to 35 characters. `Id`, mandatory in
    /// the schema; optional in tolerant reading.
    #[element("Id", soft)]
    pub id: Option<Text<35>>,
    /// The page of a notification that is sent in several. `NtfctnPgntn`.
    #[element("NtfctnPgntn", since = 3)]
    pub pagination: Option<Pagination>,
    /// The number of the notification among those sent electronically for the account.
    /// `ElctrncSeqNb`.
    #[element("ElctrncSeqNb")]
    pub electronic_sequence: Option<WholeNumber>,
    /// The numbers of notifications that the notification is about. `RptgSeq`, since version 07.
    #[element("RptgSeq", since = 7)]
    pub sequence_ranges: Option<Box<SequenceRanges>>,
    /// The number of the notification among those with legal standing, on paper or not. `LglSeqNb`.
    #[element("LglSeqNb")]
    pub legal_sequence: Option<WholeNumber>,
    /// The time at which the notification was made, with the offset that it was written with, if
    /// any. `CreDtTm`, mandatory in the schema; optional in tolerant reading.
    #[element("CreDtTm", soft, until = 6)]
    #[element("CreDtTm", since = 7)]
    pub created_at: Option<IsoDateTime>,
    /// The period that the notification covers. `FrToDt`.
    #[element("FrToDt")]
    pub period: Option<DateTimePeriod>,
    /// The mark of a notification that repeats or copies another. `CpyDplctInd`.
    #[element("CpyDplctInd")]
    pub copy_duplicate: Option<CopyDuplicate>,
    /// The system that the figures come from. `RptgSrc`.
    #[element("RptgSrc")]
    pub source: Option<ReportingSource>,
    /// The account of the notification's entries. `Acct`.
    #[element("Acct")]
    pub account: Account,
    /// A related account, such as the one that the account is pooled in. `RltdAcct`.
    #[element("RltdAcct")]
    pub related_account: Option<Box<CounterpartyAccount>>,
    /// Interest on the account as a whole; booked interest is an entry. `Intrst`.
    #[element("Intrst", until = 4, as_of = 2)]
    #[element("Intrst", since = 5)]
    pub interest: Vec<AccountInterest>,
    /// The counts and sums over the entries that the sender states; the reader reports differences.
    /// `TxsSummry`.
    #[element("TxsSummry")]
    pub summary: Option<Box<Summary>>,
    /// The entries, in the order of the message. `Ntry`.
    #[element("Ntry")]
    pub entries: Vec<Entry>,
    /// Free text on the notification, up to 500 characters. `AddtlNtfctnInf`.
    #[element("AddtlNtfctnInf")]
    pub additional_information: Option<Text<500>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Compares the summary with the entries, after all entries have been read.
fn compare(notification: &Notification, by: &mut dyn Watch) {
    let page = notification.pagination.as_ref();
    let summary = notification.summary.as_deref();
    rules::compare_sums(summary, &[], page, &notification.extras, by);
}

impl Notification {
    /// Returns one line per transaction, or per entry if it has no transactions.
    pub fn lines(&self) -> impl Iterator<Item = EntryLine<'_>> {
        let lines = |entry| Entry::lines_on(entry, Some(&self.account));
        self.entries.iter().flat_map(lines)
    }
}

/// A part of a document that `EntryReader` has read.
pub type StreamItem = bankrail_iso20022::StreamItem<Document>;
