//! The message: header, statements, supplementary data.

bankrail_camt::account_message! {
    /// A whole message: a group header and one or more statements.
    Document = "BankToCustomerStatementV06" in "BkToCstmrStmt" of crate::NAMESPACE {
        /// The statements, each on one account.
        statements: Statement = "Stmt",
    }
    /// A statement of one account.
    Statement = "AccountStatement6", a "statement" {
        pagination: "StmtPgntn",
        balances: {
            /// The balances, each as of the time that it states; a statement has at least one.
            balances: 1..* bankrail_camt::Balance = "Bal",
        }
        additional_information: "AddtlStmtInf",
    }
    /// ```
    /// use bankrail_camt053::{EntryReader, ReadOptions, StreamItem};
    /// # let file: &[u8] = br#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.06"><BkToCstmrStmt>
    /// # <GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>
    /// # <Stmt><Id>s</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>
    /// # <Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="AUD">5</Amt><CdtDbtInd>CRDT</CdtDbtInd>
    /// # <Dt><Dt>2021-07-29</Dt></Dt></Bal>
    /// # <Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>
    /// # </Stmt></BkToCstmrStmt></Document>"#;
    /// let mut amounts = Vec::new();
    /// for item in EntryReader::new(file, ReadOptions::default()) {
    ///     if let StreamItem::Entry(entry) = item? {
    ///         amounts.extend(entry.signed_amount());
    ///     }
    /// }
    /// assert_eq!(amounts.len(), 1);
    /// # Ok::<(), bankrail_camt053::ReadError>(())
    /// ```
    stream: EntryReader of StreamItem { StatementStart, StatementEnd }
}
