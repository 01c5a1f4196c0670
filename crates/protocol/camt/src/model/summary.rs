//! The summary of the entries.

use crate::*;
use bankrail_values::Decimal;

/// Counts and sums over the entries.
///
/// `TotalTransactions5` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TotalTransactions5", rule = rules::summary)]
#[non_exhaustive]
pub struct Summary {
    /// The count, the sum and the net amount of all entries. `TtlNtries`.
    #[element("TtlNtries")]
    pub all: Option<CountSumAndNet>,
    /// The count and the sum of the credit entries. `TtlCdtNtries`.
    #[element("TtlCdtNtries")]
    pub credits: Option<CountAndSum>,
    /// The count and the sum of the debit entries. `TtlDbtNtries`.
    #[element("TtlDbtNtries")]
    pub debits: Option<CountAndSum>,
    /// The count, the sum and the net amount of the entries of each bank transaction code.
    /// `TtlNtriesPerBkTxCd`.
    #[element("TtlNtriesPerBkTxCd")]
    pub by_bank_transaction_code: Vec<TotalsPerCode>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The number of entries, their sum, and credits less debits.
///
/// `NumberAndSumOfTransactions4` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "NumberAndSumOfTransactions4")]
#[non_exhaustive]
pub struct CountSumAndNet {
    /// The number of entries, in up to 15 digits. `NbOfNtries`.
    #[element("NbOfNtries")]
    pub entries: Option<Digits<1, 15>>,
    /// The sum of the amounts, with credits and debits both added, without a currency. `Sum`.
    #[element("Sum")]
    pub sum: Option<PlainDecimal>,
    /// The sum of the credits less the sum of the debits. `TtlNetNtry`.
    #[element("TtlNetNtry", since = 4)]
    pub net: Option<NetAmount>,
    /// The net amount of all entries, without a sign. `TtlNetNtryAmt`, until version 03.
    #[element("TtlNetNtryAmt", until = 3)]
    pub net_amount: Option<PlainDecimal>,
    /// The direction of the net amount. `CdtDbtInd`, until version 03.
    #[element("CdtDbtInd", until = 3)]
    pub net_direction: Option<Direction>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The number of entries and their sum.
///
/// `NumberAndSumOfTransactions1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "NumberAndSumOfTransactions1")]
#[non_exhaustive]
pub struct CountAndSum {
    /// The number of entries, in up to 15 digits. `NbOfNtries`.
    #[element("NbOfNtries")]
    pub entries: Option<Digits<1, 15>>,
    /// The sum of the amounts, without a currency. `Sum`.
    #[element("Sum")]
    pub sum: Option<PlainDecimal>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The totals of the entries of one bank transaction code.
///
/// `TotalsPerBankTransactionCode4` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TotalsPerBankTransactionCode4")]
#[non_exhaustive]
pub struct TotalsPerCode {
    /// The number of entries, in up to 15 digits. `NbOfNtries`.
    #[element("NbOfNtries")]
    pub entries: Option<Digits<1, 15>>,
    /// The sum of the amounts, with credits and debits both added, without a currency. `Sum`.
    #[element("Sum")]
    pub sum: Option<PlainDecimal>,
    /// The sum of the credits less the sum of the debits. `TtlNetNtry`.
    #[element("TtlNetNtry", since = 4)]
    pub net: Option<NetAmount>,
    /// The net amount of the entries, without a sign. `TtlNetNtryAmt`, until version 03.
    #[element("TtlNetNtryAmt", until = 3)]
    pub net_amount: Option<PlainDecimal>,
    /// The direction of the net amount. `CdtDbtInd`, until version 03.
    #[element("CdtDbtInd", until = 3)]
    pub net_direction: Option<Direction>,
    /// The number and the sum of the credit entries. `CdtNtries`, since version 07.
    #[element("CdtNtries", since = 7)]
    pub credits: Option<CountAndSum>,
    /// The number and the sum of the debit entries. `DbtNtries`, since version 07.
    #[element("DbtNtries", since = 7)]
    pub debits: Option<CountAndSum>,
    /// True when the entries are forecast and not booked. `FcstInd`.
    #[element("FcstInd")]
    pub forecast: Option<bool>,
    /// The bank transaction code of the entries counted. `BkTxCd`.
    #[element("BkTxCd")]
    pub bank_transaction_code: BankTransactionCode,
    /// The times at which parts of the total become available. `Avlbty`.
    #[element("Avlbty")]
    pub availability: Vec<Availability>,
    /// The time that the totals are as of. `Dt`, since version 07.
    #[element("Dt", since = 7)]
    pub date: Option<DateOrDateTime>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Credits less debits, as an amount and its direction.
///
/// `AmountAndDirection35` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "AmountAndDirection35")]
#[non_exhaustive]
pub struct NetAmount {
    /// The net amount, without a sign or a currency. `Amt`.
    #[element("Amt")]
    pub amount: NonNegativeDecimal,
    /// The direction: credit when the credits exceed the debits. `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Direction,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

impl CountSumAndNet {
    /// Returns the net amount of all entries, negative for a debit; reads the elements of any
    /// version.
    #[must_use]
    pub fn signed_net(&self) -> Option<Decimal> {
        signed(
            self.net.as_ref(),
            self.net_amount,
            self.net_direction.as_ref(),
        )
    }
}

impl TotalsPerCode {
    /// Returns the net amount of the entries, negative for a debit; reads the elements of any
    /// version.
    #[must_use]
    pub fn signed_net(&self) -> Option<Decimal> {
        signed(
            self.net.as_ref(),
            self.net_amount,
            self.net_direction.as_ref(),
        )
    }
}

fn signed(
    net: Option<&NetAmount>,
    amount: Option<PlainDecimal>,
    direction: Option<&Direction>,
) -> Option<Decimal> {
    match net {
        Some(net) => net.direction.apply(net.amount.value()),
        None => direction?.apply(amount?.value()),
    }
}
