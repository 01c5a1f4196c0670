//! A macro for the `Debug` of types with content that stays out of logs.

/// Implements a `Debug` that prints the given values and `..` for all others, for types whose
/// content must stay out of logs. Without values it prints the name of the type alone, as in
/// `Token(…)`.
///
/// ```
/// struct Opened {
///     json: Vec<u8>,
///     kid: Option<String>,
/// }
///
/// bankrail_values::impl_debug!(Opened, self; len: self.json.len(), kid: self.kid);
///
/// let opened = Opened { json: b"{}".to_vec(), kid: None };
/// assert_eq!(format!("{opened:?}"), "Opened { len: 2, kid: None, .. }");
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! impl_debug {
    ($name:ident $(<$life:lifetime>)?) => {
        impl ::core::fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(concat!(stringify!($name), "(…)"))
            }
        }
    };
    ($name:ident $(<$life:lifetime>)?, $self:ident; $($field:ident: $value:expr),+ $(,)?) => {
        impl ::core::fmt::Debug for $name $(<$life>)? {
            fn fmt(&$self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.debug_struct(stringify!($name))$(.field(stringify!($field), &$value))+.finish_non_exhaustive()
            }
        }
    };
}
