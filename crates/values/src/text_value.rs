//! The usual set of traits for a value that holds a checked text.

/// Implements `FromStr`, `TryFrom<&str>`, `TryFrom<String>`, `AsRef<str>`, `Display` and, with this crate's `serde`
/// feature, `Serialize` and `Deserialize` for a type that has `fn parse(&str) -> Result<Self, Error>` and `fn
/// as_str(&self) -> &str`. All of them make values through `parse`, so every value is checked.
#[cfg(feature = "serde")]
#[macro_export]
macro_rules! impl_text_value {
    ($name:ident, $error:ty) => {
        $crate::__impl_text_value_std!($name, $error);
        impl $crate::__serde::Serialize for $name {
            fn serialize<S: $crate::__serde::Serializer>(&self, out: S) -> ::core::result::Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }
        impl<'de> $crate::__serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::__serde::Deserializer<'de>>(from: D) -> ::core::result::Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'de, str> as $crate::__serde::Deserialize>::deserialize(from)?;
                $name::parse(&text).map_err($crate::__serde::de::Error::custom)
            }
        }
    };
}

/// Implements `FromStr`, `TryFrom<&str>`, `TryFrom<String>`, `AsRef<str>` and `Display` for a type that has `fn
/// parse(&str) -> Result<Self, Error>` and `fn as_str(&self) -> &str`; this crate's `serde` feature adds `Serialize`
/// and `Deserialize`. All of them make values through `parse`, so every value is checked.
#[cfg(not(feature = "serde"))]
#[macro_export]
macro_rules! impl_text_value {
    ($name:ident, $error:ty) => {
        $crate::__impl_text_value_std!($name, $error);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __impl_text_value_std {
    ($name:ident, $error:ty) => {
        impl ::core::str::FromStr for $name {
            type Err = $error;
            fn from_str(text: &str) -> ::core::result::Result<Self, $error> {
                $name::parse(text)
            }
        }
        impl ::core::convert::TryFrom<&str> for $name {
            type Error = $error;
            fn try_from(text: &str) -> ::core::result::Result<Self, $error> {
                $name::parse(text)
            }
        }
        impl ::core::convert::TryFrom<::std::string::String> for $name {
            type Error = $error;
            fn try_from(text: ::std::string::String) -> ::core::result::Result<Self, $error> {
                $name::parse(&text)
            }
        }
        impl ::core::convert::AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }
        impl ::core::fmt::Display for $name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.as_str())
            }
        }
    };
}
