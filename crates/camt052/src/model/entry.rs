//! Entries and batches.

use crate::model::amount::AmountDetails;
use crate::model::balance::Availability;
use crate::model::bank_transaction_code::BankTransactionCode;
use crate::model::card::CardEntry;
use crate::model::charges::Charges;
use crate::model::interest::TransactionInterest;
use crate::model::message::MessageId;
use crate::model::period::DateOrDateTime;
use crate::model::transaction::Transaction;
use crate::schema::{choice, codes, record};
use crate::value::amount::Amount;
use crate::value::text::{Digits, Text};

record! {
    /// An entry on the account.
    Entry = "ReportEntry8" {
        reference: 0..1 Text<35> = "NtryRef",
        amount: 1..1 Amount = "Amt",
        direction: 1..1 Direction = "CdtDbtInd",
        reversal: 0..1 bool = "RvslInd",
        status: 1..1 EntryStatus = "Sts",
        booking_date: 0..1 DateOrDateTime = "BookgDt",
        value_date: 0..1 DateOrDateTime = "ValDt",
        servicer_reference: 0..1 Text<35> = "AcctSvcrRef",
        availability: 0..* Availability = "Avlbty",
        bank_transaction_code: 1..1 BankTransactionCode = "BkTxCd",
        commission_waived: 0..1 bool = "ComssnWvrInd",
        additional_information_message: 0..1 Box<MessageId> = "AddtlInfInd",
        amount_details: 0..1 Box<AmountDetails> = "AmtDtls",
        charges: 0..1 Box<Charges> = "Chrgs",
        input_channel: 0..1 Box<InputChannel> = "TechInptChanl",
        interest: 0..1 Box<TransactionInterest> = "Intrst",
        card: 0..1 Box<CardEntry> = "CardTx",
        details: 0..* EntryDetails = "NtryDtls",
        additional_information: 0..1 Text<500> = "AddtlNtryInf",
    } then crate::beyond::entry
}

record! {
    /// Details of an entry: a batch, its transactions, or both.
    EntryDetails = "EntryDetails7" {
        batch: 0..1 Box<Batch> = "Btch",
        transactions: 0..* Transaction = "TxDtls",
    } then crate::beyond::entry_details
}

record! {
    /// The batch that an entry stands for.
    Batch = "BatchInformation2" {
        message_id: 0..1 Text<35> = "MsgId",
        payment_information_id: 0..1 Text<35> = "PmtInfId",
        transactions: 0..1 Digits<1, 15> = "NbOfTxs",
        total: 0..1 Amount = "TtlAmt",
        direction: 0..1 Direction = "CdtDbtInd",
    }
}

choice! {
    /// The channel through which a transaction came in.
    InputChannel = "TechnicalInputChannel1Choice" {
        Code(Text<4>) = "Cd",
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
