//! The statement of a type's getters.

/// States getters that return a field: in an `impl`, after the word `self` and a semicolon, each getter's name, its type
/// and the field.
///
/// ```
/// pub struct Token {
///     id: String,
///     key: Option<String>,
/// }
///
/// impl Token {
///     bankrail_values::getters! { self;
///         /// The identifier.
///         id: &str = &self.id;
///         /// The key, if there is one.
///         key: Option<&str> = self.key.as_deref();
///     }
/// }
///
/// let token = Token { id: "7".to_owned(), key: None };
/// assert_eq!((token.id(), token.key()), ("7", None));
/// ```
#[macro_export]
macro_rules! getters {
    ($self:ident; $( $(#[$attr:meta])* $name:ident: $of:ty = $value:expr; )*) => {$(
        $(#[$attr])*
        #[must_use]
        pub fn $name(&$self) -> $of {
            $value
        }
    )*};
}
