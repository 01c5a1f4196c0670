//! The summary of the entries.

use crate::model::balance::Availability;
use crate::model::bank_transaction_code::BankTransactionCode;
use crate::model::entry::Direction;
use crate::schema::record;
use crate::value::number::{NonNegativeDecimal, PlainDecimal};
use crate::value::text::Digits;

record! {
    /// Counts and sums over the entries.
    Summary = "TotalTransactions5" {
        all: 0..1 CountSumAndNet = "TtlNtries",
        credits: 0..1 CountAndSum = "TtlCdtNtries",
        debits: 0..1 CountAndSum = "TtlDbtNtries",
        by_bank_transaction_code: 0..* TotalsPerCode = "TtlNtriesPerBkTxCd",
    } then crate::beyond::summary
}

record! {
    /// The number of entries, their sum, and credits less debits.
    CountSumAndNet = "NumberAndSumOfTransactions4" {
        entries: 0..1 Digits<1, 15> = "NbOfNtries",
        sum: 0..1 PlainDecimal = "Sum",
        net: 0..1 NetAmount = "TtlNetNtry",
    }
}

record! {
    /// The number of entries and their sum.
    CountAndSum = "NumberAndSumOfTransactions1" {
        entries: 0..1 Digits<1, 15> = "NbOfNtries",
        sum: 0..1 PlainDecimal = "Sum",
    }
}

record! {
    /// The totals of the entries of one bank transaction code.
    TotalsPerCode = "TotalsPerBankTransactionCode4" {
        entries: 0..1 Digits<1, 15> = "NbOfNtries",
        sum: 0..1 PlainDecimal = "Sum",
        net: 0..1 NetAmount = "TtlNetNtry",
        forecast: 0..1 bool = "FcstInd",
        bank_transaction_code: 1..1 BankTransactionCode = "BkTxCd",
        availability: 0..* Availability = "Avlbty",
    }
}

record! {
    /// Credits less debits, as an amount and its direction.
    NetAmount = "AmountAndDirection35" {
        amount: 1..1 NonNegativeDecimal = "Amt",
        direction: 1..1 Direction = "CdtDbtInd",
    }
}
