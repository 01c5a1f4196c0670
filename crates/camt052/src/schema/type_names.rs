//! The schema's names of simple types, for `xsi:type`. Types of equal facets share one Rust type; the elements that have
//! one of them are listed.

/// True when a text type, with the numbers it was made with, has a name in the schema.
pub(crate) fn is_text_type(kind: &str, numbers: &[usize], name: &str) -> bool {
    let number =
        |prefix: &str, suffix: &str| -> Option<usize> { name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok() };
    match (kind, numbers) {
        ("Text", [max]) => {
            number("Max", "Text") == Some(*max)
                || (*max == 4 && is_external(name) && name != CLEARING_SYSTEM)
                || (*max == 5 && name == CLEARING_SYSTEM)
        }
        ("Digits", [1, 1]) => name == "Exact1NumericText",
        ("Digits", [1, max]) => number("Max", "NumericText") == Some(*max),
        ("Digits", [min, max]) if min == max => number("Exact", "NumericText") == Some(*max),
        ("Digits", [min, max]) => name == format!("Min{min}Max{max}NumericText"),
        ("SignedDays", _) => name == "Max15PlusSignedNumericText",
        ("Iban", _) => name == "IBAN2007Identifier",
        ("Bic", _) => matches!(name, "AnyBICIdentifier" | "BICFIIdentifier"),
        ("CurrencyCode", _) => name == "ActiveOrHistoricCurrencyCode",
        ("CountryCode", _) => name == "CountryCode",
        ("LanguageCode", _) => name == "ISO2ALanguageCode",
        ("Isin", _) => name == "ISINOct2015Identifier",
        ("PhoneNumber", _) => name == "PhoneNumber",
        ("AlphaNumeric4", _) => name == "Exact4AlphaNumericText",
        _ => false,
    }
}

const CLEARING_SYSTEM: &str = "ExternalClearingSystemIdentification1Code";

fn is_external(name: &str) -> bool {
    name.starts_with("External") && name.ends_with("1Code")
}

/// True when numbers of these digits have a name in the schema.
pub(crate) fn is_number_type(digits: u32, fraction: u32, unsigned: bool, name: &str) -> bool {
    match (digits, fraction, unsigned) {
        (18, 17, false) => name == "DecimalNumber",
        (18, 17, true) => name == "NonNegativeDecimalNumber",
        (18, 5, true) => name == "ImpliedCurrencyAndAmount",
        (18, 0, false) => name == "Number",
        (11, 10, false) => matches!(name, "BaseOneRate" | "PercentageRate"),
        _ => false,
    }
}

/// True unless an element of a type has, among types of equal facets, one of another name.
pub(crate) fn is_among_alike(parent: &str, wire: &str, name: &str) -> bool {
    ALIKE.iter().find(|[of, element, _]| *of == parent && *element == wire).is_none_or(|[.., own]| *own == name)
}

/// The elements whose Rust type stands for several types of the schema with equal facets: the type that has them, their
/// name, their type.
const ALIKE: &[[&str; 3]] = &[
    ["AccountSchemeName1Choice", "Cd", "ExternalAccountIdentification1Code"],
    ["AmountRangeBoundary1", "Incl", "YesNoIndicator"],
    ["BalanceSubType1Choice", "Cd", "ExternalBalanceSubType1Code"],
    ["BankTransactionCodeStructure5", "Cd", "ExternalBankTransactionDomain1Code"],
    ["BankTransactionCodeStructure6", "Cd", "ExternalBankTransactionFamily1Code"],
    ["BankTransactionCodeStructure6", "SubFmlyCd", "ExternalBankTransactionSubFamily1Code"],
    ["CardAggregated1", "TxCtgy", "ExternalCardTransactionCategory1Code"],
    ["CardIndividualTransaction2", "TxCtgy", "ExternalCardTransactionCategory1Code"],
    ["CardIndividualTransaction2", "RePresntmntRsn", "ExternalRePresentmentReason1Code"],
    ["CashAccountType2Choice", "Cd", "ExternalCashAccountType1Code"],
    ["ChargeType3Choice", "Cd", "ExternalChargeType1Code"],
    ["ChargesRecord2", "ChrgInclInd", "ChargeIncludedIndicator"],
    ["ChargesRecord2", "Rate", "PercentageRate"],
    ["CreditLine2", "Incl", "TrueFalseIndicator"],
    ["CurrencyExchange5", "XchgRate", "BaseOneRate"],
    ["DiscountAmountType1Choice", "Cd", "ExternalDiscountAmountType1Code"],
    ["DocumentAdjustment1", "Rsn", "Max4Text"],
    ["DocumentLineType1Choice", "Cd", "ExternalDocumentLineType1Code"],
    ["FinancialIdentificationSchemeName1Choice", "Cd", "ExternalFinancialInstitutionIdentification1Code"],
    ["FinancialInstitutionIdentification8", "BICFI", "BICFIIdentifier"],
    ["Garnishment1", "FmlyMdclInsrncInd", "TrueFalseIndicator"],
    ["Garnishment1", "MplyeeTermntnInd", "TrueFalseIndicator"],
    ["GarnishmentType1Choice", "Cd", "ExternalGarnishmentType1Code"],
    ["IdentificationSource3Choice", "Cd", "ExternalFinancialInstrumentIdentificationType1Code"],
    ["OrganisationIdentification8", "AnyBIC", "AnyBICIdentifier"],
    ["OrganisationIdentificationSchemeName1Choice", "Cd", "ExternalOrganisationIdentification1Code"],
    ["Pagination", "LastPgInd", "YesNoIndicator"],
    ["PaymentContext3", "CardPres", "TrueFalseIndicator"],
    ["PaymentContext3", "CrdhldrPres", "TrueFalseIndicator"],
    ["PaymentContext3", "OnLineCntxt", "TrueFalseIndicator"],
    ["PaymentContext3", "AttndntMsgCpbl", "TrueFalseIndicator"],
    ["PaymentContext3", "FllbckInd", "TrueFalseIndicator"],
    ["PersonIdentificationSchemeName1Choice", "Cd", "ExternalPersonIdentification1Code"],
    ["PriceRateOrAmountChoice", "Rate", "PercentageRate"],
    ["Purpose2Choice", "Cd", "ExternalPurpose1Code"],
    ["RateType4Choice", "Pctg", "PercentageRate"],
    ["ReportEntry8", "RvslInd", "TrueFalseIndicator"],
    ["ReportEntry8", "ComssnWvrInd", "YesNoIndicator"],
    ["ReportingSource1Choice", "Cd", "ExternalReportingSource1Code"],
    ["ReturnReason5Choice", "Cd", "ExternalReturnReason1Code"],
    ["TaxAmount1", "Rate", "PercentageRate"],
    ["TaxAmountType1Choice", "Cd", "ExternalTaxAmountType1Code"],
    ["TaxCharges2", "Rate", "PercentageRate"],
    ["TechnicalInputChannel1Choice", "Cd", "ExternalTechnicalInputChannel1Code"],
    ["TotalsPerBankTransactionCode4", "FcstInd", "TrueFalseIndicator"],
    ["YieldedOrValueType1Choice", "Yldd", "YesNoIndicator"],
];
