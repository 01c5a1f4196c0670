//! `codes!`: a closed list of codes.

/// States an enumeration.
///
/// ```text
/// codes! {
///     /// What it is.
///     CreditDebit = "CreditDebitCode" { Credit = "CRDT", Debit = "DBIT" }
/// }
/// ```
#[macro_export]
macro_rules! codes {
    ($(
        $(#[$meta:meta])*
        $Type:ident = $schema:literal { $($(#[$doc:meta])* $Variant:ident = $code:literal),* $(,)? }
    )*) => {$(
        $(#[$meta])*
        #[doc = concat!("\n\n`", $schema, "` of the schema.")]
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $Type {
            $($(#[$doc])* #[doc = concat!("`", $code, "`.")] $Variant,)*
            /// A code that the schema does not have, kept as read.
            Other($crate::UnknownCode),
        }

        impl $Type {
            const CODES: &'static [&'static str] = &[$($code),*];

            /// The code.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$Variant => $code,)*
                    Self::Other(code) => code.as_str(),
                }
            }

            /// The value of a code; [`Other`](Self::Other) for one that the schema does not have.
            #[must_use]
            pub fn from_code(code: &str) -> Self {
                match code {
                    $($code => Self::$Variant,)*
                    _ => Self::Other($crate::UnknownCode::unlisted(code)),
                }
            }
        }

        impl std::fmt::Display for $Type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Ok(Self::from_code(&std::borrow::Cow::<'de, str>::deserialize(from)?))
            }
        }

        $crate::__simple_nodes! { [] $Type }

        #[doc(hidden)]
        impl $crate::__private::Simple for $Type {
            fn parse(text: &str) -> Result<Self, $crate::__private::Unreadable> {
                Ok(Self::from_code(text))
            }

            fn append(&self, out: &mut $crate::__private::Output<'_>) {
                match self {
                    $(Self::$Variant => out.raw($code),)*
                    Self::Other(code) => out.text(code.as_str()),
                }
            }

            fn is_type(name: &str) -> bool {
                name == $schema
            }

            fn fault(&self) -> Option<$crate::__private::Fault> {
                match self {
                    Self::Other(_) => Some($crate::__private::Fault::Code { known: Self::CODES }),
                    _ => None,
                }
            }
        }

        #[cfg(feature = "arbitrary")]
        #[doc(hidden)]
        impl $crate::__private::Invent for $Type {
            fn invent(from: &mut $crate::__private::Unstructured<'_>) -> $crate::__private::Invented<Self> {
                from.choose(Self::CODES).map(|code| Self::from_code(code))
            }
        }
    )*};
}
