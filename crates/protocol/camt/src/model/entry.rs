//! Entries and batches.

use crate::*;

record! {
    /// An entry on the account.
    Entry = "ReportEntry8" {
        /// The reference of the entry, unique in the report, up to 35 characters.
        reference: 0..1 Text<35> = "NtryRef",
        /// The amount in the currency of the account, without a sign; see `direction`.
        amount: 1..1 Amount = "Amt",
        /// Credit when the balance grows, debit when it falls; for a reversal too.
        direction: 1..1 Direction = "CdtDbtInd",
        /// True when it reverses an earlier entry.
        reversal: 0..1 bool = "RvslInd" as "TrueFalseIndicator",
        /// Booked, pending, or for information only.
        status: 1..1 EntryStatus = "Sts",
        /// When it was, or will be, booked.
        booking_date: 0..1 DateOrDateTime = "BookgDt",
        /// The day from which it bears interest.
        value_date: 0..1 DateOrDateTime = "ValDt",
        /// The account servicer's reference, up to 35 characters; the one to quote to the bank.
        servicer_reference: 0..1 Text<35> = "AcctSvcrRef",
        /// When each part of the amount becomes available.
        availability: 0..* Availability = "Avlbty",
        /// The kind of transaction.
        bank_transaction_code: 1..1 BankTransactionCode = "BkTxCd",
        /// True when the bank takes no commission on it.
        commission_waived: 0..1 bool = "ComssnWvrInd" as "YesNoIndicator",
        /// The message that has more information.
        additional_information_message: 0..1 Box<MessageId> = "AddtlInfInd",
        /// The amounts before and after charges and exchange.
        amount_details: 0..1 Box<AmountDetails> = "AmtDtls",
        /// Charges that were taken, or are included.
        charges: 0..1 Box<Charges> = "Chrgs",
        /// The channel through which the order reached the bank.
        input_channel: 0..1 Box<InputChannel> = "TechInptChanl",
        /// Interest contained in the amount.
        interest: 0..1 Box<TransactionInterest> = "Intrst",
        /// The card and terminal that were used.
        card: 0..1 Box<CardEntry> = "CardTx",
        /// The transactions or batches behind it.
        details: 0..* EntryDetails = "NtryDtls",
        /// Narrative of the whole entry, up to 500 characters.
        additional_information: 0..1 Text<500> = "AddtlNtryInf",
    } => crate::rules::entry

    /// Details of an entry: a batch, its transactions, or both.
    EntryDetails = "EntryDetails7" {
        /// The order or file that was booked in one sum.
        batch: 0..1 Box<Batch> = "Btch",
        /// Each transaction; their amounts need not add up to that of the entry.
        transactions: 0..* Transaction = "TxDtls",
    } => crate::rules::entry_details

    /// The batch that an entry stands for.
    Batch = "BatchInformation2" {
        /// The identification of the message that the batch came in.
        message_id: 0..1 Text<35> = "MsgId",
        /// The identification of the part of that message.
        payment_information_id: 0..1 Text<35> = "PmtInfId",
        /// The number of transactions, in up to 15 digits.
        transactions: 0..1 Digits<1, 15> = "NbOfTxs",
        /// The sum of the transactions, without a sign.
        total: 0..1 Amount = "TtlAmt",
        /// Credit or debit, of the total.
        direction: 0..1 Direction = "CdtDbtInd",
    }
}

code_or_proprietary! {
    /// The channel through which a transaction came in.
    InputChannel = "TechnicalInputChannel1Choice" { Text<4> as "ExternalTechnicalInputChannel1Code", Text<35> }
}

codes! {
    /// Whether an amount is a credit or a debit.
    Direction = "CreditDebitCode" {
        Credit = "CRDT", Debit = "DBIT",
    }

    /// The status of an entry.
    EntryStatus = "EntryStatus2Code" {
        Booked = "BOOK", Pending = "PDNG", Information = "INFO",
    }
}
