//! Securities: instruments, prices, quantities, accounts.

use crate::schema::{choice, codes, record};
use crate::value::amount::Amount;
use crate::value::identifier::{AlphaNumeric4, Isin};
use crate::value::number::{ImpliedAmount, PlainDecimal, Rate};
use crate::value::text::Text;

choice! {
    /// Instrument quantity.
    InstrumentQuantity = "FinancialInstrumentQuantityChoice" {
        Unit(PlainDecimal) = "Unit",
        FaceAmount(ImpliedAmount) = "FaceAmt",
        AmortisedValue(ImpliedAmount) = "AmtsdVal",
    }
}

record! {
    /// Original and current quantities.
    OriginalAndCurrentQuantities = "OriginalAndCurrentQuantities1" {
        face_amount: 1..1 ImpliedAmount = "FaceAmt",
        amortised_value: 1..1 ImpliedAmount = "AmtsdVal",
    }
}

record! {
    /// Safekeeping account.
    SafekeepingAccount = "SecuritiesAccount19" {
        id: 1..1 Text<35> = "Id",
        kind: 0..1 SecuritiesAccountType = "Tp",
        name: 0..1 Text<70> = "Nm",
    }
}

record! {
    /// Securities account type.
    SecuritiesAccountType = "GenericIdentification30" {
        id: 1..1 AlphaNumeric4 = "Id",
        issuer: 1..1 Text<35> = "Issr",
        scheme: 0..1 Text<35> = "SchmeNm",
    }
}

record! {
    /// Instrument.
    Instrument = "SecurityIdentification19" {
        isin: 0..1 Isin = "ISIN",
        other_ids: 0..* OtherSecurityId = "OthrId",
        description: 0..1 Text<140> = "Desc",
    }
}

record! {
    /// Other security id.
    OtherSecurityId = "OtherIdentification1" {
        id: 1..1 Text<35> = "Id",
        suffix: 0..1 Text<16> = "Sfx",
        kind: 1..1 SecurityIdSource = "Tp",
    }
}

choice! {
    /// Security id source.
    SecurityIdSource = "IdentificationSource3Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

choice! {
    /// Transaction price.
    TransactionPrice = "TransactionPrice3Choice" {
        Deal(Price) = "DealPric",
        Proprietary(Vec<ProprietaryPrice>) = "Prtry",
    }
}

record! {
    /// Price.
    Price = "Price2" {
        kind: 1..1 PriceType = "Tp",
        value: 1..1 PriceValue = "Val",
    }
}

choice! {
    /// Price type.
    PriceType = "YieldedOrValueType1Choice" {
        Yielded(bool) = "Yldd",
        Kind(PriceValueType) = "ValTp",
    }
}

choice! {
    /// Price value.
    PriceValue = "PriceRateOrAmountChoice" {
        Rate(Rate) = "Rate",
        Amount(Amount<13>) = "Amt",
    }
}

record! {
    /// Proprietary price.
    ProprietaryPrice = "ProprietaryPrice2" {
        kind: 1..1 Text<35> = "Tp",
        price: 1..1 Amount = "Pric",
    }
}

choice! {
    /// Transaction quantity.
    TransactionQuantity = "TransactionQuantities2Choice" {
        Quantity(InstrumentQuantity) = "Qty",
        OriginalAndCurrent(OriginalAndCurrentQuantities) = "OrgnlAndCurFaceAmt",
        Proprietary(ProprietaryQuantity) = "Prtry",
    }
}

record! {
    /// Proprietary quantity.
    ProprietaryQuantity = "ProprietaryQuantity1" {
        kind: 1..1 Text<35> = "Tp",
        quantity: 1..1 Text<35> = "Qty",
    }
}

codes! {
    /// Whether a price is at, above or below par.
    PriceValueType = "PriceValueType1Code" {
        Discount = "DISC", Premium = "PREM", Par = "PARV",
    }
}
