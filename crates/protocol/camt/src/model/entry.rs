//! Entries and batches.

use crate::*;

/// An entry on the account.
///
/// `ReportEntry8` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ReportEntry8", rule = rules::entry)]
#[non_exhaustive]
pub struct Entry {
    /// The reference of the entry, unique in the report, up to 35 characters. `NtryRef`.
    #[element("NtryRef")]
    pub reference: Option<Text<35>>,
    /// The amount in the currency of the account, without a sign; see `direction`. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The direction: credit when the balance grows, debit when it falls, also for a reversal.
    /// `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Direction,
    /// True when the entry reverses an earlier one. `RvslInd`.
    #[element("RvslInd")]
    pub reversal: Option<bool>,
    /// The status: booked, pending, or for information only. `Sts`.
    #[element("Sts")]
    pub status: EntryStatus,
    /// The time at which the entry was or will be booked. `BookgDt`.
    #[element("BookgDt")]
    pub booking_date: Option<DateOrDateTime>,
    /// The day from which the amount bears interest. `ValDt`.
    #[element("ValDt")]
    pub value_date: Option<DateOrDateTime>,
    /// The account servicer's reference, up to 35 characters; quote this one to the bank.
    /// `AcctSvcrRef`.
    #[element("AcctSvcrRef")]
    pub servicer_reference: Option<Text<35>>,
    /// The times at which parts of the amount become available. `Avlbty`.
    #[element("Avlbty")]
    pub availability: Vec<Availability>,
    /// The kind of transaction. `BkTxCd`, mandatory in the schema; optional in tolerant reading.
    #[element("BkTxCd", soft)]
    pub bank_transaction_code: Option<BankTransactionCode>,
    /// True when the bank takes no commission on the entry. `ComssnWvrInd`.
    #[element("ComssnWvrInd")]
    pub commission_waived: Option<bool>,
    /// The message that has more information. `AddtlInfInd`.
    #[element("AddtlInfInd")]
    pub additional_information_message: Option<Box<MessageId>>,
    /// The amounts before and after charges and exchange. `AmtDtls`.
    #[element("AmtDtls")]
    pub amount_details: Option<Box<AmountDetails>>,
    /// Charges that were taken, or are included. `Chrgs`.
    #[element("Chrgs", until = 3)]
    #[element("Chrgs", max = 1, since = 4)]
    pub charges: Vec<Charges>,
    /// The channel through which the order reached the bank. `TechInptChanl`.
    #[element("TechInptChanl")]
    pub input_channel: Option<Box<InputChannel>>,
    /// Interest contained in the amount. `Intrst`.
    #[element("Intrst", until = 3)]
    #[element("Intrst", max = 1, since = 4)]
    pub interest: Vec<TransactionInterest>,
    /// The card and terminal that were used. `CardTx`.
    #[element("CardTx", since = 3)]
    pub card: Option<Box<CardEntry>>,
    /// The transactions or batches behind the entry. `NtryDtls`.
    #[element("NtryDtls")]
    pub details: Vec<EntryDetails>,
    /// Narrative of the whole entry, up to 500 characters. `AddtlNtryInf`.
    #[element("AddtlNtryInf")]
    pub additional_information: Option<Text<500>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Details of an entry: a batch, its transactions, or both.
///
/// `EntryDetails7` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "EntryDetails7", rule = rules::entry_details)]
#[non_exhaustive]
pub struct EntryDetails {
    /// The order or file that was booked in one sum. `Btch`.
    #[element("Btch")]
    pub batch: Option<Box<Batch>>,
    /// The transactions, whose amounts need not add up to that of the entry. `TxDtls`.
    #[element("TxDtls")]
    pub transactions: Vec<Transaction>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The batch that an entry stands for.
///
/// `BatchInformation2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "BatchInformation2")]
#[non_exhaustive]
pub struct Batch {
    /// The identification of the message that the batch came in. `MsgId`.
    #[element("MsgId")]
    pub message_id: Option<Text<35>>,
    /// The identification of the batch within that message. `PmtInfId`.
    #[element("PmtInfId")]
    pub payment_information_id: Option<Text<35>>,
    /// The number of transactions, in up to 15 digits. `NbOfTxs`.
    #[element("NbOfTxs")]
    pub transactions: Option<Digits<1, 15>>,
    /// The sum of the transactions, without a sign. `TtlAmt`.
    #[element("TtlAmt")]
    pub total: Option<Amount>,
    /// The direction of the total: credit or debit. `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Option<Direction>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The channel through which a transaction came in.
///
/// `TechnicalInputChannel1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "TechnicalInputChannel1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum InputChannel {
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

/// The direction of an amount: credit or debit.
///
/// `CreditDebitCode` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "CreditDebitCode")]
#[non_exhaustive]
pub enum Direction {
    /// The code `CRDT`.
    #[code("CRDT")]
    Credit,
    /// The code `DBIT`.
    #[code("DBIT")]
    Debit,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The status of an entry: a code until version 06, later a code or a proprietary text.
///
/// `EntryStatus1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(
    type = "EntryStatus1Choice",
    code_or_proprietary,
    bare_until = 6,
    demanded
)]
#[non_exhaustive]
pub enum EntryStatus {
    /// A code of the list. `Cd`, and until version 06 the element itself.
    #[element("Cd")]
    Code(EntryStatusCode),
    /// A code that the sender and the receiver agreed on. `Prtry`, since version 07.
    #[element("Prtry")]
    Proprietary(Box<Text<35>>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

impl EntryStatus {
    /// The entry is booked.
    pub const BOOKED: Self = Self::Code(EntryStatusCode::Booked);
    /// The entry is expected, and not booked yet.
    pub const PENDING: Self = Self::Code(EntryStatusCode::Pending);
    /// The entry is for information only.
    pub const INFORMATION: Self = Self::Code(EntryStatusCode::Information);
}

/// The code of the status of an entry.
///
/// `EntryStatus2Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "EntryStatus2Code", open_since = 7)]
#[non_exhaustive]
pub enum EntryStatusCode {
    /// The code `BOOK`.
    #[code("BOOK")]
    Booked,
    /// The code `PDNG`.
    #[code("PDNG")]
    Pending,
    /// The code `INFO`.
    #[code("INFO")]
    Information,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}
