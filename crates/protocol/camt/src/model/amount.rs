//! Amounts with currency exchange, and ranges of amounts.

use crate::*;

record! {
    /// The amounts of a transaction on its way, with exchange.
    AmountDetails = "AmountAndCurrencyExchange3" {
        /// The amount as ordered, before charges and exchange.
        instructed: 0..1 Box<ExchangedAmount> = "InstdAmt",
        /// The amount as passed between the banks.
        transaction: 0..1 Box<ExchangedAmount> = "TxAmt",
        /// The amount in the currency of the account.
        counter_value: 0..1 Box<ExchangedAmount> = "CntrValAmt",
        /// The amount as announced to the account owner beforehand.
        announced_posting: 0..1 Box<ExchangedAmount> = "AnncdPstngAmt",
        /// Amounts of other kinds.
        proprietary: 0..* ProprietaryExchangedAmount = "PrtryAmt",
    }

    /// An amount and the exchange it came from.
    ExchangedAmount = "AmountAndCurrencyExchangeDetails3" {
        /// The amount, without a sign.
        amount: 1..1 Amount = "Amt",
        /// The exchange of currencies that the amount came from.
        exchange: 0..1 CurrencyExchange = "CcyXchg",
    }

    /// An amount of a proprietary kind and the exchange it came from.
    ProprietaryExchangedAmount = "AmountAndCurrencyExchangeDetails4" {
        /// The kind of amount.
        kind: 1..1 Text<35> = "Tp",
        /// The amount, without a sign.
        amount: 1..1 Amount = "Amt",
        /// The exchange of currencies that the amount came from.
        exchange: 0..1 CurrencyExchange = "CcyXchg",
    }

    /// An exchange of currencies and its rate.
    CurrencyExchange = "CurrencyExchange5" {
        /// The currency that was exchanged.
        source: 1..1 CurrencyCode = "SrcCcy",
        /// The currency that it was exchanged for.
        target: 0..1 CurrencyCode = "TrgtCcy",
        /// The currency that the rate is quoted for one unit of.
        unit: 0..1 CurrencyCode = "UnitCcy",
        /// The rate, up to 11 digits, at most 10 of them after the point.
        rate: 1..1 Rate = "XchgRate" as "BaseOneRate",
        /// The agreement on the rate.
        contract: 0..1 Text<35> = "CtrctId",
        /// When the rate was quoted.
        quoted_at: 0..1 DateTime = "QtnDt",
    }

    /// One end of a range of amounts, and whether it belongs to the range.
    AmountBoundary = "AmountRangeBoundary1" {
        amount: 1..1 ImpliedAmount = "BdryAmt",
        included: 1..1 bool = "Incl" as "YesNoIndicator",
    }

    /// A range of amounts of one currency and, perhaps, one direction.
    AmountRange = "CurrencyAndAmountRange2" {
        amount: 1..1 AmountRangeBounds = "Amt",
        direction: 0..1 Direction = "CdtDbtInd",
        currency: 1..1 CurrencyCode = "Ccy",
    }

    /// Both ends of a range of amounts.
    FromToAmounts = "FromToAmountRange" {
        from: 1..1 AmountBoundary = "FrAmt",
        to: 1..1 AmountBoundary = "ToAmt",
    }
}

choice! {
    /// A range of amounts by one or both ends, one amount, or every amount but one.
    AmountRangeBounds = "ImpliedCurrencyAmountRangeChoice" {
        From(AmountBoundary) = "FrAmt",
        To(AmountBoundary) = "ToAmt",
        Range(FromToAmounts) = "FrToAmt",
        Equal(ImpliedAmount) = "EQAmt",
        NotEqual(ImpliedAmount) = "NEQAmt",
    }
}
