//! The message: header, reports, supplementary data.

use bankrail_camt::__private::compare_summary;
use bankrail_camt::{
    Account, AccountInterest, Balance, CopyDuplicate, CounterpartyAccount, DateTime, DateTimePeriod, Entry,
    GroupHeader, Pagination, ReportingSource, Summary, SupplementaryData, Text, WholeNumber,
};
use bankrail_iso20022::__private::Watch;
use bankrail_iso20022::{message, record};

message! {
    /// A whole message: a group header and one or more reports.
    Document = "BankToCustomerAccountReportV06" {
        /// Identifies the message.
        group_header: 1..1 ~GroupHeader = "GrpHdr",
        /// The reports, each on one account.
        reports: 1..* Report = "Rpt",
        /// Data that sender and receiver agreed on beyond the message.
        supplementary_data: 0..* SupplementaryData = "SplmtryData",
    }
    namespace: crate::NAMESPACE,
    root: "BkToCstmrAcctRpt",
    depth: 16,
    header: group_header GroupHeader,
    groups: Report = "Rpt",
    units: Entry = "Ntry",
    /// Reads a document of any size entry by entry: for each report its start, its entries and its end, then the end of
    /// the message.
    ///
    /// - The parts before the first entry of a report come with its start. The mandatory parts (`Id`, `Acct`) must be
    ///   there; without them the first entry is an error that names them. Reading a whole document accepts them later,
    ///   too.
    /// - The parts after the entries, and the disagreements of the summary, come with the end.
    /// - Under [`Mode::Strict`](crate::Mode::Strict) the first finding of the schema ends the stream.
    ///
    /// ```no_run
    /// use bankrail_camt052::{EntryReader, StreamItem};
    /// use std::fs::File;
    /// use std::io::BufReader;
    ///
    /// for item in EntryReader::new(BufReader::new(File::open("report.xml")?)) {
    ///     if let StreamItem::Entry(entry) = item? {
    ///         println!("{:?}", entry.signed_amount());
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// It blocks while its source does. An async caller runs it on a thread of its own and receives the parts from a
    /// channel. The capacity of the channel bounds what is read ahead, and dropping the receiver ends the reading:
    ///
    /// ```
    /// use bankrail_camt052::{EntryReader, ReadError, StreamItem};
    /// use std::io::BufRead;
    /// use tokio::sync::mpsc;
    ///
    /// fn parts(source: impl BufRead + Send + 'static) -> mpsc::Receiver<Result<StreamItem, ReadError>> {
    ///     let (send, receive) = mpsc::channel(64);
    ///     tokio::task::spawn_blocking(move || {
    ///         for part in EntryReader::new(source) {
    ///             if send.blocking_send(part).is_err() {
    ///                 break;
    ///             }
    ///         }
    ///     });
    ///     receive
    /// }
    /// # let file: &[u8] = br#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt>
    /// # <GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>
    /// # <Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>
    /// # <Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>
    /// # </Rpt></BkToCstmrAcctRpt></Document>"#;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// let mut parts = parts(file);
    /// let mut entries = 0;
    /// while let Some(part) = parts.recv().await {
    ///     if let StreamItem::Entry(_) = part? {
    ///         entries += 1;
    ///     }
    /// }
    /// assert_eq!(entries, 1);
    /// # Ok::<(), ReadError>(())
    /// # }).unwrap();
    /// ```
    stream: EntryReader of StreamItem { ReportStart, Entry, ReportEnd },
}

record! {
    /// A report on one account.
    Report = "AccountReport19" {
        /// The servicer's identification of this report, up to 35 characters.
        id: 1..1 Text<35> = "Id",
        /// The page of a report that is sent in several.
        pagination: 0..1 Pagination = "RptPgntn",
        /// Counts the reports sent electronically for the account.
        electronic_sequence: 0..1 WholeNumber = "ElctrncSeqNb",
        /// Counts the reports that have legal standing, on paper or not.
        legal_sequence: 0..1 WholeNumber = "LglSeqNb",
        /// When the report was made, with the offset it was written with, if any.
        created_at: 1..1 ~DateTime = "CreDtTm",
        /// What the report covers, from and to.
        period: 0..1 DateTimePeriod = "FrToDt",
        /// Set when the report repeats or copies another.
        copy_duplicate: 0..1 CopyDuplicate = "CpyDplctInd",
        /// The system that the figures come from.
        source: 0..1 ReportingSource = "RptgSrc",
        /// The account of these balances and entries.
        account: 1..1 Account = "Acct",
        /// An account that belongs to it, such as the one that it is pooled in.
        related_account: 0..1 Box<CounterpartyAccount> = "RltdAcct",
        /// Interest that holds for the account as a whole; what was booked is an entry.
        interest: 0..* AccountInterest = "Intrst",
        /// As of the times that they state.
        balances: 0..* Balance = "Bal",
        /// Counts and sums over the entries, as the sender states them; reading compares.
        summary: 0..1 Box<Summary> = "TxsSummry",
        /// The booked and expected entries, in the order of the message.
        entries: 0..* Entry = "Ntry",
        /// Free text on the report, up to 500 characters.
        additional_information: 0..1 Text<500> = "AddtlRptInf",
    } then compare
}

/// Compares the summary of a report that has been read with its entries.
fn compare(report: &Report, by: &mut impl Watch) {
    compare_summary(report.summary.as_deref(), by);
}

bankrail_camt::__history! { Report }
