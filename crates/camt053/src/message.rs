//! The message: header, statements, supplementary data.

use bankrail_camt::__private::compare_summary;
use bankrail_camt::{
    Account, AccountInterest, Balance, CopyDuplicate, CounterpartyAccount, DateTime, DateTimePeriod, Entry,
    GroupHeader, Pagination, ReportingSource, Summary, SupplementaryData, Text, WholeNumber,
};
use bankrail_iso20022::__private::Watch;
use bankrail_iso20022::{message, record};

message! {
    /// A whole message: a group header and one or more statements.
    Document = "BankToCustomerStatementV06" {
        /// Identifies the message.
        group_header: 1..1 ~GroupHeader = "GrpHdr",
        /// The statements, each on one account.
        statements: 1..* Statement = "Stmt",
        /// Data that sender and receiver agreed on beyond the message.
        supplementary_data: 0..* SupplementaryData = "SplmtryData",
    }
    namespace: crate::NAMESPACE,
    root: "BkToCstmrStmt",
    depth: 16,
    header: group_header GroupHeader,
    groups: Statement = "Stmt",
    units: Entry = "Ntry",
    /// Reads a document of any size entry by entry: for each statement its start, its entries and its end, then the end
    /// of the message.
    ///
    /// - The parts before the first entry of a statement come with its start. The mandatory parts (`Id`, `Acct`, `Bal`)
    ///   must be there; without them the first entry is an error that names them.
    /// - The parts after the entries, and the disagreements of the summary, come with the end.
    /// - Under [`Mode::Strict`](crate::Mode::Strict) the first finding of the schema ends the stream.
    ///
    /// ```
    /// use bankrail_camt053::{EntryReader, StreamItem};
    /// # let file: &[u8] = br#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.06"><BkToCstmrStmt>
    /// # <GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>
    /// # <Stmt><Id>s</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>
    /// # <Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="AUD">5</Amt><CdtDbtInd>CRDT</CdtDbtInd>
    /// # <Dt><Dt>2021-07-29</Dt></Dt></Bal>
    /// # <Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>
    /// # </Stmt></BkToCstmrStmt></Document>"#;
    /// let mut amounts = Vec::new();
    /// for item in EntryReader::new(file) {
    ///     if let StreamItem::Entry(entry) = item? {
    ///         amounts.extend(entry.signed_amount());
    ///     }
    /// }
    /// assert_eq!(amounts.len(), 1);
    /// # Ok::<(), bankrail_camt053::ReadError>(())
    /// ```
    stream: EntryReader of StreamItem { StatementStart, Entry, StatementEnd },
}

record! {
    /// A statement of one account.
    Statement = "AccountStatement6" {
        /// The servicer's identification of this statement, up to 35 characters.
        id: 1..1 Text<35> = "Id",
        /// The page of a statement that is sent in several.
        pagination: 0..1 Pagination = "StmtPgntn",
        /// Counts the statements sent electronically for the account.
        electronic_sequence: 0..1 WholeNumber = "ElctrncSeqNb",
        /// Counts the statements that have legal standing, on paper or not.
        legal_sequence: 0..1 WholeNumber = "LglSeqNb",
        /// When the statement was made, with the offset it was written with, if any.
        created_at: 1..1 ~DateTime = "CreDtTm",
        /// What the statement covers, from and to.
        period: 0..1 DateTimePeriod = "FrToDt",
        /// Set when the statement repeats or copies another.
        copy_duplicate: 0..1 CopyDuplicate = "CpyDplctInd",
        /// The system that the figures come from.
        source: 0..1 ReportingSource = "RptgSrc",
        /// The account of these balances and entries.
        account: 1..1 Account = "Acct",
        /// An account that belongs to it, such as the one that it is pooled in.
        related_account: 0..1 Box<CounterpartyAccount> = "RltdAcct",
        /// Interest that holds for the account as a whole; what was booked is an entry.
        interest: 0..* AccountInterest = "Intrst",
        /// As of the times that they state; a statement has at least one.
        balances: 1..* Balance = "Bal",
        /// Counts and sums over the entries, as the sender states them; reading compares.
        summary: 0..1 Box<Summary> = "TxsSummry",
        /// The booked entries, in the order of the message.
        entries: 0..* Entry = "Ntry",
        /// Free text on the statement, up to 500 characters.
        additional_information: 0..1 Text<500> = "AddtlStmtInf",
    } then compare
}

/// Compares the summary of a statement that has been read with its entries.
fn compare(statement: &Statement, by: &mut impl Watch) {
    compare_summary(statement.summary.as_deref(), by);
}

bankrail_camt::__history! { Statement }
