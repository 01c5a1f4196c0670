//! Macros for the usual traits of a value that is made from a checked text.

/// Implements `FromStr`, `TryFrom<&str>` and, with this crate's `serde` feature, `Serialize` and
/// `Deserialize` for a type that has `fn parse(&str) -> Result<Self, Error>` and `Display`. All of
/// them make values through `parse`, so every value is checked. With `Debug` as a third argument,
/// `Debug` prints what `Display` prints.
#[macro_export]
#[doc(hidden)]
macro_rules! impl_parsed_value {
    ($name:ident, $error:ty, Debug) => {
        $crate::impl_parsed_value!($name, $error);
        impl ::core::fmt::Debug for $name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, out)
            }
        }
    };
    ($name:ident, $error:ty) => {
        $crate::impl_parsed_value!(@impl [] $name, $error);
    };
    (@impl [$($generics:tt)*] $name:ty, $error:ty) => {
        impl<$($generics)*> ::core::str::FromStr for $name {
            type Err = $error;
            fn from_str(text: &str) -> ::core::result::Result<Self, $error> {
                Self::parse(text)
            }
        }
        impl<$($generics)*> ::core::convert::TryFrom<&str> for $name {
            type Error = $error;
            fn try_from(text: &str) -> ::core::result::Result<Self, $error> {
                Self::parse(text)
            }
        }
        $crate::__impl_serde!([$($generics)*] $name);
    };
}

/// Implements `Display` for a type that has `fn as_str(&self) -> &str`.
#[macro_export]
#[doc(hidden)]
macro_rules! impl_display {
    ($name:ident) => {
        $crate::impl_display!(@impl [] $name);
    };
    (@impl [$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> ::core::fmt::Display for $name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.as_str())
            }
        }
    };
}

/// Implements the traits of [`impl_parsed_value!`], and `TryFrom<String>`, `AsRef<str>` and
/// `Display`, for a type that also has `fn as_str(&self) -> &str`. With `Debug` as a third
/// argument, `Debug` prints the text in quotation marks, and with `as_str` as a fourth, the macro
/// also makes that function, which returns the only field.
#[macro_export]
#[doc(hidden)]
macro_rules! impl_text_value {
    ($name:ident, $error:ty, Debug, as_str) => {
        $crate::impl_text_value!($name, $error, Debug);
        impl $name {
            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
    ($name:ident, $error:ty, Debug) => {
        $crate::impl_text_value!($name, $error);
        $crate::impl_text_value!(@debug [] $name);
    };
    ($name:ident, $error:ty) => {
        $crate::impl_text_value!(@impl [] $name, $error);
    };
    (@debug [$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> ::core::fmt::Debug for $name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(self.as_str(), out)
            }
        }
    };
    (@impl [$($generics:tt)*] $name:ty, $error:ty) => {
        $crate::impl_parsed_value!(@impl [$($generics)*] $name, $error);
        impl<$($generics)*> ::core::convert::TryFrom<::std::string::String> for $name {
            type Error = $error;
            fn try_from(text: ::std::string::String) -> ::core::result::Result<Self, $error> {
                Self::parse(&text)
            }
        }
        impl<$($generics)*> ::core::convert::AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }
        $crate::impl_display!(@impl [$($generics)*] $name);
    };
}

#[doc(hidden)]
#[cfg(feature = "serde")]
#[macro_export]
macro_rules! __impl_serde {
    ([$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> $crate::__private::serde::Serialize for $name {
            fn serialize<S: $crate::__private::serde::Serializer>(&self, out: S) -> ::core::result::Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }
        impl<'de, $($generics)*> $crate::__private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(from: D) -> ::core::result::Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'de, str> as $crate::__private::serde::Deserialize>::deserialize(from)?;
                Self::parse(&text).map_err($crate::__private::serde::de::Error::custom)
            }
        }
    };
}

#[doc(hidden)]
#[cfg(not(feature = "serde"))]
#[macro_export]
macro_rules! __impl_serde {
    ([$($generics:tt)*] $name:ty) => {};
}
