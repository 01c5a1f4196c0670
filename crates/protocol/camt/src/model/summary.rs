//! The summary of the entries.

use crate::*;

record! {
    /// Counts and sums over the entries.
    Summary = "TotalTransactions5" {
        /// Count, sum and net of all entries.
        all: 0..1 CountSumAndNet = "TtlNtries",
        /// Count and sum of the credit entries.
        credits: 0..1 CountAndSum = "TtlCdtNtries",
        /// Count and sum of the debit entries.
        debits: 0..1 CountAndSum = "TtlDbtNtries",
        /// Count, sum and net of the entries of each bank transaction code.
        by_bank_transaction_code: 0..* TotalsPerCode = "TtlNtriesPerBkTxCd",
    } => crate::rules::summary

    /// The number of entries, their sum, and credits less debits.
    CountSumAndNet = "NumberAndSumOfTransactions4" {
        /// The number of entries, in up to 15 digits.
        entries: 0..1 Digits<1, 15> = "NbOfNtries",
        /// The sum of the amounts, credits and debits added alike, without a currency.
        sum: 0..1 PlainDecimal = "Sum",
        /// The sum of the credits less the sum of the debits.
        net: 0..1 NetAmount = "TtlNetNtry",
    }

    /// The number of entries and their sum.
    CountAndSum = "NumberAndSumOfTransactions1" {
        /// The number of entries, in up to 15 digits.
        entries: 0..1 Digits<1, 15> = "NbOfNtries",
        /// The sum of the amounts, without a currency.
        sum: 0..1 PlainDecimal = "Sum",
    }

    /// The totals of the entries of one bank transaction code.
    TotalsPerCode = "TotalsPerBankTransactionCode4" {
        /// The number of entries, in up to 15 digits.
        entries: 0..1 Digits<1, 15> = "NbOfNtries",
        /// The sum of the amounts, credits and debits added alike, without a currency.
        sum: 0..1 PlainDecimal = "Sum",
        /// The sum of the credits less the sum of the debits.
        net: 0..1 NetAmount = "TtlNetNtry",
        /// True when the entries are forecast and not booked.
        forecast: 0..1 bool = "FcstInd" as "TrueFalseIndicator",
        /// The kind of entries counted.
        bank_transaction_code: 1..1 BankTransactionCode = "BkTxCd",
        /// When each part of the total becomes available.
        availability: 0..* Availability = "Avlbty",
    }

    /// Credits less debits, as an amount and its direction.
    NetAmount = "AmountAndDirection35" {
        /// The difference without a sign; without a currency.
        amount: 1..1 NonNegativeDecimal = "Amt",
        /// Credit when the credits exceed the debits.
        direction: 1..1 Direction = "CdtDbtInd",
    }
}
