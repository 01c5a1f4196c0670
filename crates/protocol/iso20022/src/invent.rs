//! Invented values of every type of the schema, for property tests and fuzzing.

use crate::field::{Field, MANY};
use crate::message::Message;
use crate::node::Node;
use crate::*;
use arbitrary::{Result, Unstructured};
use bankrail_values::Decimal;
use std::ops::{Deref, DerefMut};

/// The bytes that values are made from, and the version of the schema that must accept the values.
#[derive(Debug)]
pub struct Inventor<'f, 'a> {
    from: &'f mut Unstructured<'a>,
    version: Version,
}

impl<'f, 'a> Inventor<'f, 'a> {
    /// Makes an inventor of values of the default version.
    pub fn new(from: &'f mut Unstructured<'a>) -> Self {
        let version = Version::default();
        Self { from, version }
    }

    /// Returns the version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Invents the content of a field by the row that applies to the version.
    ///
    /// # Errors
    /// When there are too few bytes.
    pub fn field<T: InventField + Default>(&mut self, rows: &[Field]) -> Result<T> {
        let version = self.version.number();
        let Some(row) = Field::of(rows, version) else {
            return Ok(T::default());
        };
        let version = Version::new(row.version_in(version));
        let from = &mut *self.from;
        T::invent_field(&mut Inventor { from, version }, *row)
    }

    /// Picks one of the alternatives that the version has.
    ///
    /// # Errors
    /// When there are too few bytes.
    pub fn alternative(&mut self, fields: &[Field]) -> Result<usize> {
        let version = self.version.number();
        let fields = fields.iter().enumerate();
        let known: Vec<usize> = fields
            .filter(|(_, field)| field.is_in(version))
            .map(|(index, _)| index)
            .collect();
        self.choose(&known).copied()
    }
}

impl<'a> Deref for Inventor<'_, 'a> {
    type Target = Unstructured<'a>;

    fn deref(&self) -> &Unstructured<'a> {
        self.from
    }
}

impl<'a> DerefMut for Inventor<'_, 'a> {
    fn deref_mut(&mut self) -> &mut Unstructured<'a> {
        self.from
    }
}

/// Invents a document of a version.
///
/// # Errors
/// [`arbitrary::Error`] if a value cannot be invented.
pub fn invented<M: Message + Invent>(from: &mut Unstructured<'_>, version: Version) -> Result<M> {
    M::invent(&mut Inventor { from, version })
}

/// A value that the schema accepts, made from bytes.
pub trait Invent: Sized {
    /// Invents a value.
    ///
    /// # Errors
    /// When there are too few bytes.
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self>;
}

/// The content of a field of a sequence: as many values as the schema allows.
pub trait InventField: Sized {
    /// Invents the content of a field.
    ///
    /// # Errors
    /// When there are too few bytes.
    fn invent_field(from: &mut Inventor<'_, '_>, field: Field) -> Result<Self>;
}

impl<N: Node + Invent> InventField for N {
    fn invent_field(from: &mut Inventor<'_, '_>, _: Field) -> Result<Self> {
        N::invent(from)
    }
}

impl<N: Node + Invent> InventField for Option<N> {
    fn invent_field(from: &mut Inventor<'_, '_>, field: Field) -> Result<Self> {
        // Parts that the schema demands are present, even where they are optional in tolerant
        // reading.
        if field.min > 0 || (!from.is_empty() && from.ratio(1, 3)?) {
            N::invent(from).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl<N: Node + Invent> InventField for Vec<N> {
    fn invent_field(from: &mut Inventor<'_, '_>, field: Field) -> Result<Self> {
        let mut items = Vec::new();
        for _ in 0..field.min {
            items.push(N::invent(from)?);
        }
        let most = if field.max == MANY {
            12
        } else {
            usize::try_from(field.max).unwrap_or(12)
        };
        while items.len() < most && !from.is_empty() && from.ratio(1, 3)? {
            items.push(N::invent(from)?);
        }
        Ok(items)
    }
}

impl<I: Invent> Invent for Box<I> {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        I::invent(from).map(Box::new)
    }
}

impl<I: Invent> Invent for Vec<I> {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        let mut items = vec![I::invent(from)?];
        while !from.is_empty() && from.ratio(1, 3)? {
            items.push(I::invent(from)?);
        }
        Ok(items)
    }
}

impl<const MAX: usize> Invent for Text<MAX> {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        const CHARACTERS: &str = "aZ0 <>&\"'\\]\n\t\r\u{85}\u{a0}é語👍\u{200d}\u{feff}\u{fffd}\u{d7ff}\u{e000}\u{10ffff}/;";
        let most = if from.ratio(1, 20)? { MAX } else { MAX.min(12) };
        let length = from.int_in_range(1..=most)?;
        let characters: Vec<char> = CHARACTERS.chars().collect();
        let text: Result<String> = (0..length)
            .map(|_| from.choose(&characters).copied())
            .collect();
        text.map(Self::from)
    }
}

impl<const MIN: usize, const MAX: usize> Invent for Digits<MIN, MAX> {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        let length = from.int_in_range(MIN..=MAX)?;
        let digits: Result<String> = (0..length)
            .map(|_| Ok(char::from(b'0' + from.int_in_range(0..=9)?)))
            .collect();
        digits.map(Self::from)
    }
}

impl<const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool> Invent
    for Number<DIGITS, FRACTION, UNSIGNED>
{
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        decimal(from, DIGITS, FRACTION, UNSIGNED)
            .map(|value| Self::new(value).expect("within the digits"))
    }
}

impl<const FRACTION: u32> Invent for Amount<FRACTION> {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        let value = decimal(from, 18, FRACTION, true)?;
        let currency = CurrencyCode::invent(from)?
            .to_currency()
            .expect("a currency code");
        Ok(Self::new(value, currency).expect("within the digits"))
    }
}

fn decimal(
    from: &mut Inventor<'_, '_>,
    digits: u32,
    fraction: u32,
    unsigned: bool,
) -> Result<Decimal> {
    let digits = from.int_in_range(1..=digits)?;
    let mantissa = from.int_in_range(0..=10_i128.pow(digits) - 1)?;
    let mut value = Decimal::from_i128_with_scale(mantissa, from.int_in_range(0..=fraction)?);
    value.set_sign_negative(!unsigned && mantissa != 0 && from.arbitrary()?);
    if from.ratio(1, 8)? {
        // Trailing zeros do not count as digits.
        value.rescale((value.scale() + 3).min(25));
    }
    Ok(value)
}

impl Invent for bool {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        from.arbitrary()
    }
}

fn offset(from: &mut Inventor<'_, '_>) -> Result<Option<Offset>> {
    Ok(match from.int_in_range(0..=3)? {
        0 => Offset::from_minutes(from.int_in_range(-840..=840)?),
        1 => Some(Offset::Z),
        _ => None,
    })
}

fn spelled(offset: Option<Offset>) -> String {
    offset.map_or_else(String::new, |offset| offset.to_string())
}

impl Invent for IsoDate {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        let year = if from.ratio(1, 8)? {
            from.int_in_range(1..=99_999)?
        } else {
            from.int_in_range(1990..=2030)?
        };
        let month = from.int_in_range(1..=12)?;
        let day = from.int_in_range(1..=31)?;
        let date = Self::new(year, month, day)
            // Every month has this day.
            .or_else(|| Self::new(year, month, 28))
            .expect("a day of the month");
        Ok(date.with_offset(offset(from)?))
    }
}

impl Invent for IsoDateTime {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        let date = IsoDate::invent(from)?;
        let offset = spelled(date.offset());
        let date = date.with_offset(None);
        if from.ratio(1, 16)? {
            return Ok(format!("{date}T24:00:00{offset}")
                .parse()
                .expect("the end of a day"));
        }
        let hour: u8 = from.int_in_range(0..=23)?;
        let (minute, second): (u8, u8) = (from.int_in_range(0..=59)?, from.int_in_range(0..=59)?);
        let digits: usize = from.int_in_range(0..=14)?;
        let fraction: u64 = from.int_in_range(0..=99_999_999_999_999)?;
        let fraction: String = if digits == 0 {
            String::new()
        } else {
            format!(".{fraction:014}")
                .chars()
                .take(digits + 1)
                .collect()
        };
        let text = format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}{offset}");
        Ok(text.parse().expect("a time of the day"))
    }
}

impl Invent for IsoYearMonth {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        let date = IsoDate::invent(from)?;
        let offset = spelled(date.offset());
        Ok(
            Self::parse(&format!("{:04}-{:02}{offset}", date.year(), date.month()))
                .expect("a month"),
        )
    }
}

impl Invent for Envelope {
    fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
        Ok(Self::from_unchecked_xml(from.choose(&[
            "<a xmlns=\"urn:a\"/>",
            "<p:a xmlns:p=\"urn:p\" p:b='\"'>x<![CDATA[<]]><!-- y --><p:c>&amp;</p:c></p:a>",
            "\n <a xmlns=\"\"><?b c?>\\</a>\n",
        ])?))
    }
}

macro_rules! examples {
    ($($Type:ident $examples:expr;)*) => {$(
        impl Invent for $Type {
            fn invent(from: &mut Inventor<'_, '_>) -> Result<Self> {
                Ok(Self::new(from.choose(&$examples)?))
            }
        }
    )*};
}

examples! {
    Iban ["DE89370400440532013000", "GB82WEST12345698765432", "NO9386011117947"];
    Bic ["DEUTDEFF", "ABCDAU2SXXX", "ABCDNZ2A"];
    Lei ["5493001KJTIIGC8Y1R12", "ABCDEFGHIJKLMNOPQR00"];
    UuidV4 ["8a562c67-ca16-48ba-b074-65581be6f001", "00000000-0000-4000-8000-000000000000"];
    CurrencyCode ["AUD", "EUR", "VND", "DEM"];
    CountryCode ["AU", "NZ", "ZZ"];
    LanguageCode ["en", "de"];
    Isin ["US0378331005", "AU000000BHP4"];
    PhoneNumber ["+61-400123456", "+1-(2)+3-4"];
    AlphaNumeric4 ["a1Z9", "0000"];
    SignedDays ["+1", "007", "999999999999999"];
}
