//! The message: header, reports, supplementary data.

bankrail_camt::account_message! {
    /// A whole message: a group header and one or more reports.
    Document = "BankToCustomerAccountReportV06" in "BkToCstmrAcctRpt" of crate::NAMESPACE {
        /// The reports, each on one account.
        reports: Report = "Rpt",
    }
    /// A report on one account.
    Report = "AccountReport19", a "report" {
        pagination: "RptPgntn",
        balances: {
            /// The balances, each as of the time that it states.
            balances: 0..* bankrail_camt::Balance = "Bal",
        }
        additional_information: "AddtlRptInf",
    }
    /// ```no_run
    /// use bankrail_camt052::{EntryReader, ReadOptions, StreamItem};
    /// use std::fs::File;
    /// use std::io::BufReader;
    ///
    /// for item in EntryReader::new(BufReader::new(File::open("report.xml")?), ReadOptions::default()) {
    ///     if let StreamItem::Entry(entry) = item? {
    ///         println!("{:?}", entry.signed_money());
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// It blocks while its source does. An async caller runs it on a thread of its own and receives
    /// the parts from a channel. The capacity of the channel bounds what is read ahead, and
    /// dropping the receiver ends the reading:
    ///
    /// ```
    /// use bankrail_camt052::{EntryReader, ReadError, ReadOptions, StreamItem};
    /// use std::io::BufRead;
    /// use tokio::sync::mpsc;
    ///
    /// fn parts(source: impl BufRead + Send + 'static) -> mpsc::Receiver<Result<StreamItem, ReadError>> {
    ///     let (send, receive) = mpsc::channel(64);
    ///     tokio::task::spawn_blocking(move || {
    ///         for part in EntryReader::new(source, ReadOptions::default()) {
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
    stream: EntryReader of StreamItem { ReportStart, ReportEnd }
}
