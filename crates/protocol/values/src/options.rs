//! A macro that declares a type of options.

/// Declares a type of options: its private fields, their defaults, and a chained setter for each of
/// them, with the name of its field. `new` returns the defaults. After the name of a field,
/// parentheses hold the type that its setter takes and a function from it to the field's value, or
/// `into` for any type that converts into the field's. Fields after a semicolon have no setter.
///
/// ```
/// use std::time::Duration;
///
/// bankrail_values::options! {
///     /// Options of a store.
///     #[derive(Clone, Debug)]
///     pub struct StoreOptions {
///         /// Sets the maximum time of a call. Default: 10 s.
///         timeout: Duration = Duration::from_secs(10),
///         /// Sets the time for which records are kept. Default: for ever.
///         retention(Duration => Some): Option<Duration> = None,
///         /// Sets the number of calls that may wait, at least one. Default: 8.
///         queue(usize => |calls| calls.max(1)): usize = 8,
///         /// Sets the prefix of the names of records. Default: none.
///         prefix(into): String = String::new(),
///     }
/// }
///
/// let options = StoreOptions::new().retention(Duration::from_secs(60)).queue(0);
/// assert_eq!((options.timeout, options.retention), (Duration::from_secs(10), Some(Duration::from_secs(60))));
/// assert_eq!(options.queue, 1);
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! options {
    (
        $(#[$of_type:meta])*
        $vis:vis struct $type:ident {
            $( $(#[$attr:meta])* $field_vis:vis $field:ident $(($($how:tt)*))?: $of:ty = $default:expr ),*
            $(,)?
            $(; $( $(#[$own_attr:meta])* $own_vis:vis $own:ident: $of_own:ty = $own_default:expr ),* $(,)? )?
        }
    ) => {
        $(#[$of_type])*
        $vis struct $type {
            $( $(#[$attr])* $field_vis $field: $of, )*
            $($( $(#[$own_attr])* $own_vis $own: $of_own, )*)?
        }

        impl $type {
            /// Returns the defaults.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $( $crate::options! { @setter [$(#[$attr])*] $field: $of $(, $($how)*)? } )*
        }

        impl Default for $type {
            #[allow(unused_doc_comments, reason = "the attributes of the fields say what is compiled")]
            fn default() -> Self {
                Self {
                    $( $(#[$attr])* $field: $default, )*
                    $($( $own: $own_default, )*)?
                }
            }
        }
    };
    (@setter [$($attr:tt)*] $field:ident: $of:ty) => {
        $($attr)*
        #[must_use = "a setter returns the options as they are with it"]
        pub fn $field(mut self, $field: $of) -> Self {
            self.$field = $field;
            self
        }
    };
    (@setter [$($attr:tt)*] $field:ident: $of:ty, into) => {
        $($attr)*
        #[must_use = "a setter returns the options as they are with it"]
        pub fn $field(mut self, $field: impl Into<$of>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    (@setter [$($attr:tt)*] $field:ident: $of:ty, $given:ty => $make:expr) => {
        $($attr)*
        #[must_use = "a setter returns the options as they are with it"]
        pub fn $field(mut self, $field: $given) -> Self {
            self.$field = $crate::__private::given($field, $make);
            self
        }
    };
}

/// Applies `make` to a value. The call gives the argument of a closure its type.
#[doc(hidden)]
pub fn given<A, B>(given: A, make: impl FnOnce(A) -> B) -> B {
    make(given)
}
