//! Amounts with currency exchange, and ranges of amounts.

use crate::model::entry::Direction;
use crate::schema::{choice, record};
use crate::value::amount::Amount;
use crate::value::date::DateTime;
use crate::value::identifier::CurrencyCode;
use crate::value::number::{ImpliedAmount, Rate};
use crate::value::text::Text;

record! {
    /// The amounts of a transaction on its way, with exchange.
    AmountDetails = "AmountAndCurrencyExchange3" {
        instructed: 0..1 Box<ExchangedAmount> = "InstdAmt",
        transaction: 0..1 Box<ExchangedAmount> = "TxAmt",
        counter_value: 0..1 Box<ExchangedAmount> = "CntrValAmt",
        announced_posting: 0..1 Box<ExchangedAmount> = "AnncdPstngAmt",
        proprietary: 0..* ProprietaryExchangedAmount = "PrtryAmt",
    }
}

record! {
    /// An amount and the exchange it came from.
    ExchangedAmount = "AmountAndCurrencyExchangeDetails3" {
        amount: 1..1 Amount = "Amt",
        exchange: 0..1 CurrencyExchange = "CcyXchg",
    }
}

record! {
    /// An amount of a proprietary kind and the exchange it came from.
    ProprietaryExchangedAmount = "AmountAndCurrencyExchangeDetails4" {
        kind: 1..1 Text<35> = "Tp",
        amount: 1..1 Amount = "Amt",
        exchange: 0..1 CurrencyExchange = "CcyXchg",
    }
}

record! {
    /// An exchange of currencies and its rate.
    CurrencyExchange = "CurrencyExchange5" {
        source: 1..1 CurrencyCode = "SrcCcy",
        target: 0..1 CurrencyCode = "TrgtCcy",
        unit: 0..1 CurrencyCode = "UnitCcy",
        rate: 1..1 Rate = "XchgRate",
        contract: 0..1 Text<35> = "CtrctId",
        quoted_at: 0..1 DateTime = "QtnDt",
    }
}

record! {
    /// One end of a range of amounts, and whether it belongs to the range.
    AmountBoundary = "AmountRangeBoundary1" {
        amount: 1..1 ImpliedAmount = "BdryAmt",
        included: 1..1 bool = "Incl",
    }
}

record! {
    /// A range of amounts of one currency and, perhaps, one direction.
    AmountRange = "CurrencyAndAmountRange2" {
        amount: 1..1 AmountRangeBounds = "Amt",
        direction: 0..1 Direction = "CdtDbtInd",
        currency: 1..1 CurrencyCode = "Ccy",
    }
}

choice! {
    /// A range of amounts by its ends, or one amount that is meant or not.
    AmountRangeBounds = "ImpliedCurrencyAmountRangeChoice" {
        From(AmountBoundary) = "FrAmt",
        To(AmountBoundary) = "ToAmt",
        Range(FromToAmounts) = "FrToAmt",
        Equal(ImpliedAmount) = "EQAmt",
        NotEqual(ImpliedAmount) = "NEQAmt",
    }
}

record! {
    /// Both ends of a range of amounts.
    FromToAmounts = "FromToAmountRange" {
        from: 1..1 AmountBoundary = "FrAmt",
        to: 1..1 AmountBoundary = "ToAmt",
    }
}
