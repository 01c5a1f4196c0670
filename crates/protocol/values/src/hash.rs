//! Types of hashes.

use crate::ValueError;
use std::fmt::{self, Write as _};

/// Declares a type for a hash of 32 bytes with `from_bytes`, `as_bytes`, `From<[u8; 32]>`, and a
/// `Debug` that shows the first four bytes. With `@type`, the caller implements `Debug`. The
/// text form of a hash (`Display`, `FromStr`) is 64 hexadecimal digits, read in either case and
/// written in lower case.
#[doc(hidden)]
#[macro_export]
macro_rules! hash_value {
    ($(#[$doc:meta])* $vis:vis struct $name:ident;) => {
        $crate::hash_value! { @type $(#[$doc])* $vis struct $name; }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let [a, b, c, d, ..] = self.0;
                write!(out, concat!(stringify!($name), "({:02x}{:02x}{:02x}{:02x}…)"), a, b, c, d)
            }
        }
    };
    (@type $(#[$doc:meta])* $vis:vis struct $name:ident;) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name([u8; 32]);

        impl $name {
            /// Returns the hash of these bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// Returns the bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl ::core::convert::From<[u8; 32]> for $name {
            fn from(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::__private::write_hex(&self.0, out)
            }
        }

        impl ::core::str::FromStr for $name {
            type Err = $crate::ValueError;

            fn from_str(text: &str) -> ::core::result::Result<Self, $crate::ValueError> {
                $crate::__private::read_hash(text).map(Self)
            }
        }
    };
}

/// Writes the bytes as lower-case hexadecimal digits, in the width and precision of the format.
///
/// # Errors
/// The error of `out`.
pub fn write_hex(bytes: &[u8; 32], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = String::with_capacity(64);
    bytes
        .iter()
        .try_for_each(|byte| write!(text, "{byte:02x}"))?;
    out.pad(&text)
}

/// Reads 64 hexadecimal digits.
///
/// # Errors
/// [`ValueError`] for any other text.
pub fn read_hash(text: &str) -> Result<[u8; 32], ValueError> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    let read = || {
        let pairs: &[[u8; 2]; 32] = match text.as_bytes().as_chunks() {
            (pairs, []) => pairs.try_into().ok()?,
            _ => return None,
        };
        let mut bytes = <[u8; 32]>::default();
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? * 16 + digit(*low)?;
        }
        Some(bytes)
    };
    read().ok_or_else(|| ValueError::new("64 hexadecimal digits", text))
}
