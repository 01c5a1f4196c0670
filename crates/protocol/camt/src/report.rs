//! camt.052, the account report: a header, reports of accounts, supplementary data.

use crate::access::balances;
use crate::*;
use bankrail_iso20022::__private::Watch;
use bankrail_values::Decimal;

/// A whole message: a group header and one or more reports.
///
/// `BankToCustomerAccountReportV06` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element, Message)]
#[element(type = "BankToCustomerAccountReportV06")]
#[message(
    namespace = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.",
    oldest = 2,
    newest = 8,
    root = "BkToCstmrAcctRpt",
    depth = 16
)]
#[message(header = group_header, groups = reports, unit = Entry, unit_name = "Ntry")]
#[non_exhaustive]
pub struct Document {
    /// The version of the schema. Default: 06.
    #[element(version)]
    pub version: Version,
    /// The identification of the message. `GrpHdr`, mandatory in the schema; optional in tolerant
    /// reading.
    #[element("GrpHdr", soft)]
    pub group_header: Option<GroupHeader>,
    /// The reports, each on one account. `Rpt`.
    #[element("Rpt", min = 1)]
    pub reports: Vec<Report>,
    /// Data that sender and receiver agreed on beyond the message. `SplmtryData`.
    #[element("SplmtryData", since = 3)]
    pub supplementary_data: Vec<SupplementaryData>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A report on one account.
///
/// `AccountReport19` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "AccountReport19", rule = compare)]
#[non_exhaustive]
pub struct Report {
    /// The servicer's identification of this report, up to 35 characters. `Id`, mandatory in the
    /// schema; optional in tolerant reading.
    #[element("Id", soft)]
    pub id: Option<Text<35>>,
    /// The page of a report that is sent in several. `RptPgntn`.
    #[element("RptPgntn", since = 3)]
    pub pagination: Option<Pagination>,
    /// The number of the report among those sent electronically for the account. `ElctrncSeqNb`.
    #[element("ElctrncSeqNb")]
    pub electronic_sequence: Option<WholeNumber>,
    /// The numbers of reports that the report is about. `RptgSeq`, since version 07.
    #[element("RptgSeq", since = 7)]
    pub sequence_ranges: Option<Box<SequenceRanges>>,
    /// The number of the report among those with legal standing, on paper or not. `LglSeqNb`.
    #[element("LglSeqNb")]
    pub legal_sequence: Option<WholeNumber>,
    /// The time at which the report was made, with the offset that it was written with, if any.
    /// `CreDtTm`, mandatory in the schema; optional in tolerant reading.
    #[element("CreDtTm", soft, until = 6)]
    #[element("CreDtTm", since = 7)]
    pub created_at: Option<IsoDateTime>,
    /// The period that the report covers. `FrToDt`.
    #[element("FrToDt")]
    pub period: Option<DateTimePeriod>,
    /// The mark of a report that repeats or copies another. `CpyDplctInd`.
    #[element("CpyDplctInd")]
    pub copy_duplicate: Option<CopyDuplicate>,
    /// The system that the figures come from. `RptgSrc`.
    #[element("RptgSrc")]
    pub source: Option<ReportingSource>,
    /// The account of the report's entries. `Acct`.
    #[element("Acct")]
    pub account: Account,
    /// A related account, such as the one that the account is pooled in. `RltdAcct`.
    #[element("RltdAcct")]
    pub related_account: Option<Box<CounterpartyAccount>>,
    /// Interest on the account as a whole; booked interest is an entry. `Intrst`.
    #[element("Intrst")]
    pub interest: Vec<AccountInterest>,
    /// The balances, each with its time. `Bal`.
    #[element("Bal")]
    pub balances: Vec<Balance>,
    /// The counts and sums over the entries that the sender states; the reader reports differences.
    /// `TxsSummry`.
    #[element("TxsSummry")]
    pub summary: Option<Box<Summary>>,
    /// The entries, in the order of the message. `Ntry`.
    #[element("Ntry")]
    pub entries: Vec<Entry>,
    /// Free text on the report, up to 500 characters. `AddtlRptInf`.
    #[element("AddtlRptInf")]
    pub additional_information: Option<Text<500>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Compares the summary and the balances with the entries, after all entries have been read.
fn compare(report: &Report, by: &mut dyn Watch) {
    let page = report.pagination.as_ref();
    let summary = report.summary.as_deref();
    rules::compare_sums(summary, &report.balances, page, &report.extras, by);
}

impl Report {
    /// Returns one line per transaction, or per entry if it has no transactions.
    pub fn lines(&self) -> impl Iterator<Item = EntryLine<'_>> {
        let lines = |entry| Entry::lines_on(entry, Some(&self.account));
        self.entries.iter().flat_map(lines)
    }

    /// Returns the first balance of a kind.
    #[must_use]
    pub fn balance(&self, kind: &BalanceCode) -> Option<&Balance> {
        balances::balance(&self.balances, kind)
    }

    /// Returns the opening balance: the first `OPBD`, otherwise the first `PRCD`, the closing
    /// balance of the previous day. On a page after the first that has neither, the first `ITBD`,
    /// if another booked balance closes the page.
    #[must_use]
    pub fn opening_balance(&self) -> Option<&Balance> {
        balances::opening(&self.balances, self.pagination.as_ref())
    }

    /// Returns the closing balance: the last `CLBD`, otherwise the last `ITBD`, the booked balance
    /// so far.
    #[must_use]
    pub fn closing_balance(&self) -> Option<&Balance> {
        balances::closing(&self.balances)
    }

    /// Returns each entry, in the order of the document, with the booked balance after it: the
    /// opening balance plus the booked entries up to and including it; the balance is negative when
    /// the account is overdrawn.
    ///
    /// The balance is `None` if there is no opening balance, and from the first entry on that is
    /// booked in another currency or has an unknown direction. Entries that are not booked leave
    /// the balance unchanged.
    pub fn running_balances(&self) -> impl Iterator<Item = (&Entry, Option<Decimal>)> {
        balances::running(self.opening_balance(), &self.entries)
    }
}

/// A part of a document that `EntryReader` has read.
pub type StreamItem = bankrail_iso20022::StreamItem<Document>;
