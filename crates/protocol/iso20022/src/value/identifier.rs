//! Identifiers whose form the schema gives as a pattern.

use super::text::text_type;
use crate::field::Fault;
use crate::finding::FindingKind;
use bankrail_values::Currency;
use std::fmt;

text_type! {
    /// An international bank account number: `[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}`. The check digits
    /// are not part of the schema; see [`Iban::has_valid_check_digits`].
    Iban [] [], |text, _| {
        let fits = text.len() >= 5 && parts(text, &[(2, upper), (2, digit), (30, alphanumeric)]);
        pattern(fits, "an IBAN: two upper-case letters, two digits, 1 to 30 letters or digits")
    }, check_digits
}

text_type! {
    /// A business identifier code: `[A-Z]{6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3})?`, and since version
    /// 08 `[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?`.
    Bic [] [], |text, version| {
        let kinds: &[(usize, Kind)] = if version < 8 {
            &[
                (6, upper),
                (1, |b| upper(b) || matches!(b, b'2'..=b'9')),
                (1, |b| (upper(b) && b != b'O') || digit(b)),
                (3, |b| upper(b) || digit(b)),
            ]
        } else {
            &[(4, |b| upper(b) || digit(b)), (2, upper), (5, |b| upper(b) || digit(b))]
        };
        let fits = matches!(text.len(), 8 | 11) && parts(text, kinds);
        pattern(fits, "a BIC of 8 or 11 characters")
    }, country
}

text_type! {
    /// An ISO 4217 currency code: `[A-Z]{3}`.
    CurrencyCode [] [], |text, _| pattern(text.len() == 3 && text.bytes().all(upper), "three upper-case letters")
}

text_type! {
    /// An ISO 3166 country code: `[A-Z]{2}`.
    CountryCode [] [], |text, _| pattern(text.len() == 2 && text.bytes().all(upper), "two upper-case letters")
}

text_type! {
    /// An ISO 639 language code: `[a-z]{2}`.
    LanguageCode [] [], |text, _| {
        pattern(text.len() == 2 && text.bytes().all(|b| b.is_ascii_lowercase()), "two lower-case letters")
    }
}

text_type! {
    /// An international securities identification number: `[A-Z]{2}[A-Z0-9]{9}[0-9]`, and until
    /// version 05 `[A-Z0-9]{12}`.
    Isin [] [], |text, version| {
        let kinds: &[(usize, Kind)] = if version < 6 {
            &[(12, |b| upper(b) || digit(b))]
        } else {
            &[(2, upper), (9, |b| upper(b) || digit(b)), (1, digit)]
        };
        let fits = text.len() == 12 && parts(text, kinds);
        pattern(fits, "an ISIN of 12 characters")
    }
}

text_type! {
    /// A legal entity identifier: `[A-Z0-9]{18}[0-9]{2}`.
    Lei [] [], |text, _| {
        let fits = text.len() == 20 && parts(text, &[(18, |b| upper(b) || digit(b)), (2, digit)]);
        pattern(fits, "a legal entity identifier of 20 characters")
    }
}

text_type! {
    /// A UUID of version 4 in lower case (`UUIDv4Identifier`).
    UuidV4 [] [], |text, _| {
        let hex: Kind = |b| digit(b) || matches!(b, b'a'..=b'f');
        let dash: Kind = |b| b == b'-';
        let fits = text.len() == 36 && parts(text, &[
            (8, hex), (1, dash), (4, hex), (1, dash), (1, |b| b == b'4'), (3, hex), (1, dash),
            (1, |b| matches!(b, b'8' | b'9' | b'a' | b'b')), (3, hex), (1, dash), (12, hex),
        ]);
        pattern(fits, "a UUID of version 4 in lower case")
    }
}

text_type! {
    /// A telephone number: `+`, 1 to 3 digits, `-`, then 1 to 30 of `0-9()+-`.
    PhoneNumber [] [], |text, _| {
        let fits = text.strip_prefix('+').and_then(|rest| rest.split_once('-')).is_some_and(|(country, number)| {
            (1..=3).contains(&country.len())
                && country.bytes().all(digit)
                && (1..=30).contains(&number.len())
                && number.bytes().all(|b| digit(b) || b"()+-".contains(&b))
        });
        pattern(fits, "a telephone number such as +61-400123456")
    }
}

text_type! {
    /// Four ASCII letters or digits (`Exact4AlphaNumericText`).
    AlphaNumeric4 [] [], |text, _| {
        pattern(text.len() == 4 && text.bytes().all(alphanumeric), "four ASCII letters or digits")
    }
}

impl CurrencyCode {
    /// Returns the currency; `None` when the text is not a currency code.
    #[must_use]
    pub fn to_currency(&self) -> Option<Currency> {
        Currency::parse(self.as_str()).ok()
    }
}

impl From<Currency> for CurrencyCode {
    fn from(currency: Currency) -> Self {
        Self::new(currency.as_str())
    }
}

impl Iban {
    /// Returns true when the check digits are right (ISO 7064 MOD 97-10).
    #[must_use]
    pub fn has_valid_check_digits(&self) -> bool {
        let text = self.as_str();
        let Some((start, rest)) = text.split_at_checked(4) else {
            return false;
        };
        // The number is reduced at each step, because the whole number of a valid IBAN has up to 66
        // digits.
        let remainder = rest.bytes().chain(start.bytes()).try_fold(0_u32, |sum, b| {
            let value = char::from(b).to_digit(36)?;
            Some((sum * if value < 10 { 10 } else { 100 } + value) % 97)
        });
        self.is_valid() && remainder == Some(1)
    }
}

/// Reports wrong check digits of an IBAN that the schema accepts.
#[inline]
fn check_digits(iban: &Iban) -> Option<FindingKind> {
    // An IBAN that breaks the pattern has a finding already.
    let wrong = iban.is_valid() && !iban.has_valid_check_digits();
    wrong.then(|| FindingKind::IbanCheckDigits {
        found: iban.to_string(),
    })
}

/// Reports an unassigned country of a BIC that the schema accepts.
#[inline]
fn country(bic: &Bic) -> Option<FindingKind> {
    let country = bic.as_str().get(4..6).unwrap_or_default();
    // A BIC that breaks the pattern has a finding already.
    let wrong = bic.is_valid() && !is_country(country);
    wrong.then(|| FindingKind::BicCountry {
        found: bic.to_string(),
    })
}

fn pattern(fits: bool, expected: &'static str) -> Option<Fault> {
    (!fits).then_some(Fault::Pattern { expected })
}

/// A function that tests a byte.
type Kind = fn(u8) -> bool;

/// Returns true when the text consists, in order, of at most this many bytes of each kind.
fn parts(text: &str, kinds: &[(usize, Kind)]) -> bool {
    let mut bytes = text.bytes();
    for (count, kind) in kinds {
        if !bytes.by_ref().take(*count).all(kind) {
            return false;
        }
    }
    bytes.next().is_none()
}

fn upper(b: u8) -> bool {
    b.is_ascii_uppercase()
}

fn digit(b: u8) -> bool {
    b.is_ascii_digit()
}

fn alphanumeric(b: u8) -> bool {
    b.is_ascii_alphanumeric()
}

/// The country codes of ISO 3166-1, and `XK`, which BICs of Kosovo use: sorted, two letters each.
const COUNTRIES: &str = "\
    ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICKCLCMCNCOCRCUCVCWCXCYCZ\
    DEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHUIDIEILIMINIOIQIRISITJEJM\
    JOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONP\
    NRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTCTDTFTGTHTJTKTLTMTNTO\
    TRTTTVTWTZUAUGUMUSUYUZVAVCVEVGVIVNVUWFWSXKYEYTZAZMZW";

fn is_country(code: &str) -> bool {
    COUNTRIES
        .as_bytes()
        .chunks(2)
        .any(|assigned| assigned == code.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_countries_is_sorted_and_complete() {
        let codes: Vec<&[u8]> = COUNTRIES.as_bytes().chunks(2).collect();
        assert!(codes.is_sorted());
        assert_eq!(codes.len(), 250);
        assert!(is_country("AU") && is_country("XK") && !is_country("ZZ") && !is_country("A"));
    }
}
