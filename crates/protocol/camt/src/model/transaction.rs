//! Transactions behind entries.

use crate::*;

/// One transaction behind an entry.
///
/// `EntryTransaction8` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "EntryTransaction8")]
#[non_exhaustive]
pub struct Transaction {
    /// The references of the transaction. `Refs`.
    #[element("Refs")]
    pub references: Option<Box<References>>,
    /// The amount, without a sign; usually in the currency of the account. See `EntryLine::amount`.
    /// `Amt`, mandatory in the schema; optional in tolerant reading.
    #[element("Amt", soft, since = 3, until = 6)]
    #[element("Amt", since = 7)]
    pub amount: Option<Amount>,
    /// The direction as seen from the account: credit or debit. `CdtDbtInd`, mandatory in the
    /// schema; optional in tolerant reading.
    #[element("CdtDbtInd", soft, since = 3, until = 6)]
    #[element("CdtDbtInd", since = 7)]
    pub direction: Option<Direction>,
    /// The amounts before and after charges and exchange. `AmtDtls`.
    #[element("AmtDtls")]
    pub amount_details: Option<Box<AmountDetails>>,
    /// The times at which parts of the amount become available. `Avlbty`.
    #[element("Avlbty")]
    pub availability: Vec<Availability>,
    /// The kind of transaction, where the entry holds several. `BkTxCd`.
    #[element("BkTxCd")]
    pub bank_transaction_code: Option<Box<BankTransactionCode>>,
    /// The charges that were taken or are included. `Chrgs`.
    #[element("Chrgs", until = 3)]
    #[element("Chrgs", max = 1, since = 4)]
    pub charges: Vec<Charges>,
    /// Interest contained in the amount. `Intrst`.
    #[element("Intrst", until = 3)]
    #[element("Intrst", max = 1, since = 4)]
    pub interest: Vec<TransactionInterest>,
    /// The payer, the payee and their accounts. `RltdPties`.
    #[element("RltdPties")]
    pub parties: Option<Box<TransactionParties>>,
    /// The banks between the payer and the payee. `RltdAgts`.
    #[element("RltdAgts")]
    pub agents: Option<Box<TransactionAgents>>,
    /// The instrument of a local clearing system. `LclInstrm`, since version 07.
    #[element("LclInstrm", since = 7)]
    pub local_instrument: Option<Box<LocalInstrument>>,
    /// The purpose, as a code. `Purp`.
    #[element("Purp")]
    pub purpose: Option<Box<Purpose>>,
    /// The places where remittance advice can be found. `RltdRmtInf`, at most 10.
    #[element("RltdRmtInf", max = 10)]
    pub remittance_locations: Vec<RemittanceLocation>,
    /// The purpose of the payment, so that the creditor can match it. `RmtInf`.
    #[element("RmtInf")]
    pub remittance: Option<Remittance>,
    /// The dates of the steps of the transaction. `RltdDts`.
    #[element("RltdDts")]
    pub dates: Option<Box<TransactionDates>>,
    /// The price of the security. `RltdPric`.
    #[element("RltdPric")]
    pub price: Option<Box<TransactionPrice>>,
    /// The quantity of the security. `RltdQties`.
    #[element("RltdQties")]
    pub quantities: Vec<TransactionQuantity>,
    /// The security. `FinInstrmId`.
    #[element("FinInstrmId", since = 3)]
    pub instrument: Option<Box<Instrument>>,
    /// The security. `FinInstrmId`, until version 02.
    #[element("FinInstrmId", until = 2)]
    pub security: Option<Box<SecurityId>>,
    /// The tax paid with the transaction. `Tax`.
    #[element("Tax")]
    pub tax: Option<Box<TaxInformation>>,
    /// The reason for the transaction's return, and the party that returned it. `RtrInf`.
    #[element("RtrInf")]
    pub return_information: Option<Box<ReturnInformation>>,
    /// The corporate action that caused the transaction. `CorpActn`.
    #[element("CorpActn")]
    pub corporate_action: Option<Box<CorporateAction>>,
    /// The account in which the security is kept. `SfkpgAcct`.
    #[element("SfkpgAcct", since = 3)]
    pub safekeeping_account: Option<Box<SafekeepingAccount>>,
    /// The account that securities are kept in. `SfkpgAcct`, until version 02.
    #[element("SfkpgAcct", until = 2)]
    pub safekeeping_cash_account: Option<Box<CounterpartyAccount>>,
    /// The bank notes paid in. `CshDpst`.
    #[element("CshDpst", since = 3)]
    pub cash_deposits: Vec<CashDeposit>,
    /// The card and terminal that were used. `CardTx`.
    #[element("CardTx", since = 3)]
    pub card: Option<Box<CardTransaction>>,
    /// The narrative of this transaction, up to 500 characters. `AddtlTxInf`.
    #[element("AddtlTxInf")]
    pub additional_information: Option<Text<500>>,
    /// Data beyond the message, as sender and receiver agreed. `SplmtryData`.
    #[element("SplmtryData", since = 4)]
    pub supplementary_data: Vec<SupplementaryData>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// References that identify a transaction.
///
/// `TransactionReferences3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TransactionReferences3")]
#[non_exhaustive]
pub struct References {
    /// The identification of the message that ordered the transaction. `MsgId`.
    #[element("MsgId")]
    pub message_id: Option<Text<35>>,
    /// The account servicer's reference. `AcctSvcrRef`.
    #[element("AcctSvcrRef")]
    pub servicer_reference: Option<Text<35>>,
    /// The identification of the part of that message which ordered the transaction. `PmtInfId`.
    #[element("PmtInfId")]
    pub payment_information_id: Option<Text<35>>,
    /// The reference between one party and the next, which is not passed on. `InstrId`.
    #[element("InstrId")]
    pub instruction_id: Option<Text<35>>,
    /// The debtor's reference, which reaches the creditor unchanged. `EndToEndId`.
    #[element("EndToEndId")]
    pub end_to_end_id: Option<Text<35>>,
    /// The unique end-to-end transaction reference. `UETR`, since version 08.
    #[element("UETR", since = 8)]
    pub uetr: Option<UuidV4>,
    /// The reference that the first bank gave, which banks pass on unchanged. `TxId`.
    #[element("TxId")]
    pub transaction_id: Option<Text<35>>,
    /// The mandate that a direct debit rests on. `MndtId`.
    #[element("MndtId")]
    pub mandate_id: Option<Text<35>>,
    /// The number printed on the cheque. `ChqNb`.
    #[element("ChqNb")]
    pub cheque_number: Option<Text<35>>,
    /// The clearing system's reference. `ClrSysRef`.
    #[element("ClrSysRef")]
    pub clearing_reference: Option<Text<35>>,
    /// The account owner's reference. `AcctOwnrTxId`.
    #[element("AcctOwnrTxId", since = 3)]
    pub owner_transaction_id: Option<Text<35>>,
    /// The account servicer's reference for a transaction on securities. `AcctSvcrTxId`.
    #[element("AcctSvcrTxId", since = 3)]
    pub servicer_transaction_id: Option<Text<35>>,
    /// The settlement system's reference. `MktInfrstrctrTxId`.
    #[element("MktInfrstrctrTxId", since = 3)]
    pub market_infrastructure_id: Option<Text<35>>,
    /// The reference given when the transaction was processed. `PrcgId`.
    #[element("PrcgId", since = 3)]
    pub processing_id: Option<Text<35>>,
    /// References of other kinds. `Prtry`.
    #[element("Prtry", max = 1, until = 2)]
    #[element("Prtry", since = 3)]
    pub proprietary: Vec<ProprietaryReference>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A reference of a kind that the schema does not have.
///
/// `ProprietaryReference1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ProprietaryReference1")]
#[non_exhaustive]
pub struct ProprietaryReference {
    /// The kind of reference. `Tp`.
    #[element("Tp")]
    pub kind: Text<35>,
    /// The reference, up to 35 characters. `Ref`.
    #[element("Ref")]
    pub reference: Text<35>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The dates of a transaction.
///
/// `TransactionDates2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TransactionDates2")]
#[non_exhaustive]
pub struct TransactionDates {
    /// The time at which the bank accepted the order. `AccptncDtTm`.
    #[element("AccptncDtTm")]
    pub accepted_at: Option<IsoDateTime>,
    /// The agreed settlement date. `TradActvtyCtrctlSttlmDt`.
    #[element("TradActvtyCtrctlSttlmDt")]
    pub contractual_settlement: Option<IsoDate>,
    /// The trade date. `TradDt`.
    #[element("TradDt")]
    pub traded: Option<IsoDate>,
    /// The date at which the banks settle with each other. `IntrBkSttlmDt`.
    #[element("IntrBkSttlmDt")]
    pub interbank_settlement: Option<IsoDate>,
    /// The first day of the period that is paid for. `StartDt`.
    #[element("StartDt")]
    pub start: Option<IsoDate>,
    /// The last day of the period that is paid for. `EndDt`.
    #[element("EndDt")]
    pub end: Option<IsoDate>,
    /// The time at which the transaction took place. `TxDtTm`.
    #[element("TxDtTm")]
    pub transaction_at: Option<IsoDateTime>,
    /// Dates of other kinds. `Prtry`.
    #[element("Prtry")]
    pub proprietary: Vec<ProprietaryDate>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A date of a kind that the schema does not have.
///
/// `ProprietaryDate2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ProprietaryDate2")]
#[non_exhaustive]
pub struct ProprietaryDate {
    /// The kind of date. `Tp`.
    #[element("Tp")]
    pub kind: Text<35>,
    /// A date, or a date and time. `Dt`.
    #[element("Dt")]
    pub date: DateOrDateTime,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The reason for the return of a transaction, and who returned it.
///
/// `PaymentReturnReason2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PaymentReturnReason2")]
#[non_exhaustive]
pub struct ReturnInformation {
    /// The bank transaction code of the returned transaction. `OrgnlBkTxCd`.
    #[element("OrgnlBkTxCd")]
    pub original_bank_transaction_code: Option<BankTransactionCode>,
    /// The party that returned the transaction. `Orgtr`.
    #[element("Orgtr")]
    pub originator: Option<Box<Party>>,
    /// The reason, as a code. `Rsn`.
    #[element("Rsn")]
    pub reason: Option<ReturnReason>,
    /// The reason in words, up to 105 characters each. `AddtlInf`.
    #[element("AddtlInf")]
    pub additional_information: Vec<Text<105>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The corporate action behind a transaction.
///
/// `CorporateAction9` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CorporateAction9")]
#[non_exhaustive]
pub struct CorporateAction {
    /// The kind of event. `EvtTp`.
    #[element("EvtTp", soft, since = 3)]
    pub event_kind: Option<Text<35>>,
    /// The servicer's identification of the event. `EvtId`.
    #[element("EvtId", soft, since = 3)]
    pub event_id: Option<Text<35>>,
    /// The code of the event. `Cd`, until version 02.
    #[element("Cd", until = 2)]
    pub code: Option<Text<35>>,
    /// The number of the event. `Nb`, until version 02.
    #[element("Nb", until = 2)]
    pub number: Option<Text<35>>,
    /// The sender's proprietary name of the event. `Prtry`, until version 02.
    #[element("Prtry", until = 2)]
    pub proprietary: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Notes deposited, of one denomination.
///
/// `CashDeposit1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CashDeposit1")]
#[non_exhaustive]
pub struct CashDeposit {
    /// The value of one note. `NoteDnmtn`.
    #[element("NoteDnmtn")]
    pub denomination: Amount,
    /// The number of notes, in up to 15 digits. `NbOfNotes`.
    #[element("NbOfNotes")]
    pub notes: Digits<1, 15>,
    /// The value of all the notes. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The reason for a return.
///
/// `ReturnReason5Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "ReturnReason5Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum ReturnReason {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(Text<4>),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The purpose of a payment.
///
/// `Purpose2Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "Purpose2Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum Purpose {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(Text<4>),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The instrument of a local clearing system.
///
/// `LocalInstrument2Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "LocalInstrument2Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum LocalInstrument {
    /// A code of the external list. `Cd`.
    #[element("Cd")]
    Code(Text<35>),
    /// A code that the sender and the receiver agreed on. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// An unknown alternative; the extras of the parent hold its content.
    #[element(unknown)]
    Unknown,
}
