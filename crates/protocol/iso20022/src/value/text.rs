//! Texts, kept as read, with the schema's facet as part of the type.

use crate::field::Fault;
use std::fmt;

/// Defines a text type with its parameters, the check of its facet, and the check of its rule
/// beyond the schema, if there is one. A value may break the facet, so that tolerant reading can
/// keep it; the checker reports it.
macro_rules! text_type {
    (
        $(#[$meta:meta])* $Type:ident [$($generics:tt)*] [$($params:tt)*], $fault:expr
        $(, $doubt:path)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        // Most values, such as codes and identifiers, are short enough to need no allocation.
        pub struct $Type<$($generics)*>(compact_str::CompactString);

        impl<$($generics)*> $Type<$($params)*> {
            /// Holds the text unchecked; [`is_valid`](Self::is_valid) returns true when it
            /// satisfies the schema.
            #[must_use]
            #[inline]
            pub fn new(text: &str) -> Self {
                Self(compact_str::CompactString::new(text))
            }

            /// Returns the text.
            #[must_use]
            #[inline]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns true when the text satisfies the facets of the schema, of version 06 where
            /// they differ.
            #[must_use]
            #[inline]
            pub fn is_valid(&self) -> bool {
                crate::node::Simple::fault(self, crate::Version::default().number()).is_none()
            }
        }

        impl<$($generics)*> fmt::Debug for $Type<$($params)*> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), out)
            }
        }

        impl<$($generics)*> fmt::Display for $Type<$($params)*> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(self.as_str())
            }
        }

        impl<$($generics)*> AsRef<str> for $Type<$($params)*> {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl<$($generics)*> From<&str> for $Type<$($params)*> {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl<$($generics)*> From<String> for $Type<$($params)*> {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl<$($generics)*> PartialEq<str> for $Type<$($params)*> {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl<$($generics)*> PartialEq<&str> for $Type<$($params)*> {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        #[cfg(feature = "serde")]
        impl<$($generics)*> serde::Serialize for $Type<$($params)*> {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, $($generics)*> serde::Deserialize<'de> for $Type<$($params)*> {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from).map(Self::from)
            }
        }

        crate::__simple_nodes! { [$($generics)*] $Type<$($params)*> }

        impl<$($generics)*> crate::node::Simple for $Type<$($params)*> {
            #[inline]
            fn parse(text: &str) -> Result<Self, crate::field::Unreadable> {
                Ok(Self::new(text))
            }

            #[inline(always)]
            fn accept(text: &str, version: u8) -> Option<Self> {
                let check: fn(&str, u8) -> Option<Fault> = $fault;
                // Checked before the text is copied.
                if check(text, version).is_none() { Some(Self::new(text)) } else { None }
            }

            #[inline]
            fn append(&self, out: &mut crate::output::Output<'_>) {
                out.text(self.as_str());
            }

            #[inline]
            fn fault(&self, version: u8) -> Option<Fault> {
                let check: fn(&str, u8) -> Option<Fault> = $fault;
                check(&self.0, version)
            }

            fn forbidden(&self) -> Option<char> {
                crate::xml::forbidden(self.as_str())
            }

            $(#[inline]
            fn doubt(&self) -> Option<crate::FindingKind> {
                $doubt(self)
            })?
        }
    };
}
pub(crate) use text_type;

text_type! {
    /// Text of 1 to `MAX` code points (`MaxNText`, and the external code lists, which are open).
    ///
    /// ```
    /// use bankrail_iso20022::Text;
    /// assert!(Text::<4>::new("👍👍👍👍").is_valid());
    /// assert!(!Text::<4>::new("five!").is_valid());
    /// assert!(!Text::<4>::new("").is_valid());
    /// ```
    Text [const MAX: usize] [MAX], |text, _| length_fault(text, MAX)
}

text_type! {
    /// ASCII digits, `MIN` to `MAX` of them.
    Digits [const MIN: usize, const MAX: usize] [MIN, MAX], |text, _| {
        let fits = (MIN..=MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        (!fits).then_some(Fault::Pattern { expected: "ASCII digits in the schema's number" })
    }
}

text_type! {
    /// A number of days with an optional `+` (`Max15PlusSignedNumericText`).
    SignedDays [] [], |text, _| {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let fits = (1..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        (!fits).then_some(Fault::Pattern { expected: "an optional + and 1 to 15 digits" })
    }
}

impl<const MIN: usize, const MAX: usize> Digits<MIN, MAX> {
    /// Returns the number; `None` when the text is not digits or does not fit.
    #[must_use]
    pub fn to_number(&self) -> Option<u64> {
        if self.is_valid() {
            self.as_str().parse().ok()
        } else {
            None
        }
    }
}

impl<const MIN: usize, const MAX: usize> From<u64> for Digits<MIN, MAX> {
    fn from(number: u64) -> Self {
        Self(compact_str::format_compact!("{number:0MIN$}"))
    }
}

/// Returns the fault of a text that is empty or has too many code points.
#[inline]
fn length_fault(text: &str, max: usize) -> Option<Fault> {
    // A code point has one to four bytes, so the length in bytes is an upper bound.
    if text.len() <= max && !text.is_empty() {
        None
    } else {
        counted_fault(text, max)
    }
}

#[cold]
fn counted_fault(text: &str, max: usize) -> Option<Fault> {
    let length = text.chars().count();
    (length == 0 || length > max).then_some(Fault::Length {
        min: 1,
        max,
        length,
    })
}
