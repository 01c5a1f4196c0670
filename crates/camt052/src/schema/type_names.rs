//! The schema's names of simple types, for `xsi:type`. Types of equal facets share one Rust type and are not told apart.

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
