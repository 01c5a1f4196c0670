//! Entries and batches.

use crate::model::amount::AmountDetails;
use crate::model::balance::Availability;
use crate::model::bank_transaction_code::BankTransactionCode;
use crate::model::card::CardEntry;
use crate::model::charges::Charges;
use crate::model::header::MessageId;
use crate::model::interest::TransactionInterest;
use crate::model::period::DateOrDateTime;
use crate::model::transaction::Transaction;
use bankrail_iso20022::{Amount, Digits, Text, choice, codes, record};

record! {
    /// An entry on the account.
    Entry = "ReportEntry8" {
        /// Tells the entry apart within the report; up to 35 characters.
        reference: 0..1 Text<35> = "NtryRef",
        /// In the currency of the account, without a sign; `direction` says which it is.
        amount: 1..1 Amount = "Amt",
        /// Credit when the balance grows, debit when it falls; for a reversal too.
        direction: 1..1 Direction = "CdtDbtInd",
        /// Whether it takes back an earlier entry.
        reversal: 0..1 bool = "RvslInd" as "TrueFalseIndicator",
        /// Booked, pending, or for information only.
        status: 1..1 EntryStatus = "Sts",
        /// When it was, or will be, put on the books.
        booking_date: 0..1 DateOrDateTime = "BookgDt",
        /// From when it bears interest.
        value_date: 0..1 DateOrDateTime = "ValDt",
        /// The servicer's own reference, up to 35 characters; what to quote to the bank.
        servicer_reference: 0..1 Text<35> = "AcctSvcrRef",
        /// When how much of it can be drawn on.
        availability: 0..* Availability = "Avlbty",
        /// The kind of transaction.
        bank_transaction_code: 1..1 BankTransactionCode = "BkTxCd",
        /// Whether the bank takes no commission on it.
        commission_waived: 0..1 bool = "ComssnWvrInd" as "YesNoIndicator",
        /// Another message that tells more.
        additional_information_message: 0..1 Box<MessageId> = "AddtlInfInd",
        /// Amounts in other currencies on the way to this one.
        amount_details: 0..1 Box<AmountDetails> = "AmtDtls",
        /// Taken or counted in with the entry.
        charges: 0..1 Box<Charges> = "Chrgs",
        /// How the order reached the bank.
        input_channel: 0..1 Box<InputChannel> = "TechInptChanl",
        /// Contained in the amount.
        interest: 0..1 Box<TransactionInterest> = "Intrst",
        /// The card and terminal that it came from.
        card: 0..1 Box<CardEntry> = "CardTx",
        /// The transactions or batches behind it.
        details: 0..* EntryDetails = "NtryDtls",
        /// Narrative of the whole entry, up to 500 characters.
        additional_information: 0..1 Text<500> = "AddtlNtryInf",
    } then crate::rules::entry
}

record! {
    /// Details of an entry: a batch, its transactions, or both.
    EntryDetails = "EntryDetails7" {
        /// The order or file that was booked in one sum.
        batch: 0..1 Box<Batch> = "Btch",
        /// Each transaction; their amounts need not add up to that of the entry.
        transactions: 0..* Transaction = "TxDtls",
    } then crate::rules::entry_details
}

record! {
    /// The batch that an entry stands for.
    Batch = "BatchInformation2" {
        /// Of the message that the batch came in.
        message_id: 0..1 Text<35> = "MsgId",
        /// Of the part of that message.
        payment_information_id: 0..1 Text<35> = "PmtInfId",
        /// How many, in up to 15 digits.
        transactions: 0..1 Digits<1, 15> = "NbOfTxs",
        /// The sum of the transactions, without a sign.
        total: 0..1 Amount = "TtlAmt",
        /// Of the total.
        direction: 0..1 Direction = "CdtDbtInd",
    }
}

choice! {
    /// The channel through which a transaction came in.
    InputChannel = "TechnicalInputChannel1Choice" {
        Code(Text<4>) = "Cd" as "ExternalTechnicalInputChannel1Code",
        Proprietary(Text<35>) = "Prtry",
    }
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
