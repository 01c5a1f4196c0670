//! Securities: instruments, prices, quantities, accounts.

use crate::*;

record! {
    /// The original face amount and the amortised value.
    OriginalAndCurrentQuantities = "OriginalAndCurrentQuantities1" {
        face_amount: 1..1 ImpliedAmount = "FaceAmt",
        amortised_value: 1..1 ImpliedAmount = "AmtsdVal",
    }

    /// A safekeeping account.
    SafekeepingAccount = "SecuritiesAccount19" {
        id: 1..1 Text<35> = "Id",
        kind: 0..1 SecuritiesAccountType = "Tp",
        name: 0..1 Text<70> = "Nm",
    }

    /// The kind of a safekeeping account.
    SecuritiesAccountType = "GenericIdentification30" {
        id: 1..1 AlphaNumeric4 = "Id",
        issuer: 1..1 Text<35> = "Issr",
        scheme: 0..1 Text<35> = "SchmeNm",
    }

    /// The security behind a transaction.
    Instrument = "SecurityIdentification19" {
        isin: 0..1 Isin = "ISIN",
        other_ids: 0..* OtherSecurityId = "OthrId",
        description: 0..1 Text<140> = "Desc",
    }

    /// An identification of a security that is not an ISIN.
    OtherSecurityId = "OtherIdentification1" {
        id: 1..1 Text<35> = "Id",
        suffix: 0..1 Text<16> = "Sfx",
        kind: 1..1 SecurityIdSource = "Tp",
    }

    /// A price and its kind.
    Price = "Price2" {
        kind: 1..1 PriceType = "Tp",
        value: 1..1 PriceValue = "Val",
    }

    /// A price of a kind that the schema does not have.
    ProprietaryPrice = "ProprietaryPrice2" {
        kind: 1..1 Text<35> = "Tp",
        price: 1..1 Amount = "Pric",
    }

    /// A quantity of a kind that the schema does not have.
    ProprietaryQuantity = "ProprietaryQuantity1" {
        kind: 1..1 Text<35> = "Tp",
        quantity: 1..1 Text<35> = "Qty",
    }
}

choice! {
    /// A quantity of a security, in units or as an amount.
    InstrumentQuantity = "FinancialInstrumentQuantityChoice" {
        Unit(PlainDecimal) = "Unit",
        FaceAmount(ImpliedAmount) = "FaceAmt",
        AmortisedValue(ImpliedAmount) = "AmtsdVal",
    }

    /// The price of a transaction, or several proprietary ones.
    TransactionPrice = "TransactionPrice3Choice" {
        Deal(Price) = "DealPric",
        Proprietary(Vec<ProprietaryPrice>) = "Prtry",
    }

    /// The kind of a price.
    PriceType = "YieldedOrValueType1Choice" {
        Yielded(bool) = "Yldd" as "YesNoIndicator",
        Kind(PriceValueType) = "ValTp",
    }

    /// A price as a rate or an amount.
    PriceValue = "PriceRateOrAmountChoice" {
        Rate(Rate) = "Rate" as "PercentageRate",
        Amount(Amount<13>) = "Amt",
    }

    /// A quantity behind a transaction.
    TransactionQuantity = "TransactionQuantities2Choice" {
        Quantity(InstrumentQuantity) = "Qty",
        OriginalAndCurrent(OriginalAndCurrentQuantities) = "OrgnlAndCurFaceAmt",
        Proprietary(ProprietaryQuantity) = "Prtry",
    }
}

code_or_proprietary! {
    /// The source of another identification of a security.
    SecurityIdSource = "IdentificationSource3Choice" {
        Text<4> as "ExternalFinancialInstrumentIdentificationType1Code", Text<35>
    }
}

codes! {
    /// Whether a price is at, above or below par.
    PriceValueType = "PriceValueType1Code" {
        Discount = "DISC", Premium = "PREM", Par = "PARV",
    }
}
