//! `record!`: a sequence of elements.

/// States complex types with a sequence, one or several.
///
/// ```text
/// record! {
///     /// What it is.
///     Header = "Header1" {
///         /// What this part means.
///         id: 1..1 Text<35> = "MsgId",
///         created: 1..1 ~DateTime = "CreDtTm",
///         language: 0..1 Text<4> = "Lang" as "ExternalLanguage1Code",
///         recipient: 0..1 Box<Party> = "Rcpt",
///         lines: 0..7 Text<70> = "Line",
///     } => rule
/// }
/// ```
///
/// - A field has a name, a cardinality (`1..1`, `0..1`, `1..*`, `0..*` or `0..7`), a type and the
///   name of its element.
/// - `~` marks a part that the schema demands and that may be missing in tolerant reading. It is an
///   `Option` in the model; strict reading and the writer refuse a document without it.
/// - `as` gives the schema's type, where one Rust type stands for several of equal facets. Only
///   `xsi:type` asks for it.
/// - `=>` names a function for the rules beyond the schema,
///   `fn rule(record: &Header, by: &mut impl Watch)`. It is called when such a sequence has been
///   read or checked.
///
/// For each type it makes the struct, `new` with the mandatory parts, both readers, the writer, the
/// checker and the inventor of test values.
#[macro_export]
macro_rules! record {
    ($($(#[$meta:meta])* $Type:ident = $schema:literal { $($fields:tt)* } $(=> $($settle:ident)::+)?)*) => {
        $($crate::record! { @sort [$(#[$meta])* $Type $schema [$($($settle)::+)?]] [] $($fields)* })*
    };
    // Each element: its cardinality as numbers, the type of its field, the attributes of its field.
    (@sort $head:tt [$($done:tt)*]
        $(#[$doc:meta])* $name:ident : 1..1 ~ $Item:ty = $wire:literal $(as $own:literal)?, $($rest:tt)*
    ) => {
        $crate::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, mandatory in the schema; tolerant reading may miss it.")]
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))],
            $name, soft, $Item, Option<$Item>, Option<$Item>, $wire, 1, 1, [$($own)?]
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*]
        $(#[$doc:meta])* $name:ident : 1..1 $Item:ty = $wire:literal $(as $own:literal)?, $($rest:tt)*
    ) => {
        $crate::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`.")],
            $name, one, $Item, $Item, Option<$Item>, $wire, 1, 1, [$($own)?]
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*]
        $(#[$doc:meta])* $name:ident : 0..1 $Item:ty = $wire:literal $(as $own:literal)?, $($rest:tt)*
    ) => {
        $crate::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, optional.")]
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))],
            $name, maybe, $Item, Option<$Item>, Option<$Item>, $wire, 0, 1, [$($own)?]
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*]
        $(#[$doc:meta])* $name:ident : 1..* $Item:ty = $wire:literal $(as $own:literal)?, $($rest:tt)*
    ) => {
        $crate::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, one or more.")],
            $name, some, $Item, Vec<$Item>, Vec<$Item>, $wire, 1, $crate::__private::MANY, [$($own)?]
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*]
        $(#[$doc:meta])* $name:ident : 0..* $Item:ty = $wire:literal $(as $own:literal)?, $($rest:tt)*
    ) => {
        $crate::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, any number.")]
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))],
            $name, many, $Item, Vec<$Item>, Vec<$Item>, $wire, 0, $crate::__private::MANY, [$($own)?]
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*]
        $(#[$doc:meta])* $name:ident : 0..$max:literal $Item:ty = $wire:literal $(as $own:literal)?, $($rest:tt)*
    ) => {
        $crate::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, at most ", stringify!($max), ".")]
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))],
            $name, many, $Item, Vec<$Item>, Vec<$Item>, $wire, 0, $max, [$($own)?]
        }] $($rest)* }
    };
    // All elements are sorted.
    (@sort [$(#[$meta:meta])* $Type:ident $schema:literal [$($settle:path)?]]
        [$({
            $(#[$attr:meta])*, $name:ident, $kind:ident, $Item:ty, $Field:ty, $Slot:ty,
            $wire:literal, $min:expr, $max:expr,
            [$($own:literal)?]
        })*]
    ) => {
        $(#[$meta])*
        #[doc = concat!("\n\n`", $schema, "` of the schema.")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub struct $Type {
            $($(#[$attr])* pub $name: $Field,)*
            /// What the document held here beyond the schema.
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "bankrail_iso20022::Extras::is_empty"))]
            pub extras: $crate::Extras,
        }

        $crate::__constructor! { $Type [] [] $({ $name $kind $Item })* }

        const _: () = {
            #[allow(non_camel_case_types, clippy::enum_variant_names)]
            enum Index { $($name),* }

            /// The elements read so far.
            #[derive(Clone, Default)]
            #[allow(missing_debug_implementations, unnameable_types, unreachable_pub)]
            pub struct Slots { $(pub $name: $Slot),* }

            #[doc(hidden)]
            impl $crate::__private::Record for $Type {
                type Slots = Slots;
                const FIELDS: &'static [$crate::__private::Field] =
                    &[$($crate::__private::Field { wire: $wire, min: $min, max: $max }),*];

                fn take<T: $crate::__private::Tokens>(
                    slots: &mut Slots, index: usize, from: &mut $crate::__private::Cursor<T>,
                ) -> Result<(), $crate::__private::Halt> {
                    match index {
                        $(_ if index == Index::$name as usize => from.take(
                            &mut slots.$name, $crate::__private::Field { wire: $wire, min: $min, max: $max },
                            !matches!(stringify!($kind).as_bytes(), b"one"),
                        ),)*
                        _ => Ok(()),
                    }
                }

                fn take_ahead<T: $crate::__private::Tokens>(
                    slots: &mut Slots, index: usize, ahead: $crate::__private::Ahead,
                    from: &mut $crate::__private::Cursor<T>,
                ) -> Result<bool, $crate::__private::Halt> {
                    match index {
                        $(_ if index == Index::$name as usize => $crate::__private::Slot::fill_ahead(
                            &mut slots.$name, $crate::__private::Field { wire: $wire, min: $min, max: $max },
                            $crate::__tag!($wire), ahead, from,
                        ),)*
                        _ => Ok(false),
                    }
                }

                fn finish<T: $crate::__private::Tokens>(
                    slots: Slots, from: &mut $crate::__private::Cursor<T>,
                ) -> Result<Self, $crate::__private::Halt> {
                    Ok(Self {
                        $($name: from.$kind(slots.$name, $wire)?,)*
                        extras: from.extras(),
                    })
                }

                fn extras(&self) -> &$crate::Extras {
                    &self.extras
                }

                fn extras_mut(&mut self) -> &mut $crate::Extras {
                    &mut self.extras
                }
            }

            impl $Type {
                fn write_content(&self, out: &mut $crate::__private::Output<'_>) {
                    $($crate::__private::write_field(&self.$name, $crate::__tag!($wire), out);)*
                }

                #[cold]
                fn write_content_kept(
                    &self, out: &mut $crate::__private::Output<'_>, kept: $crate::__private::Kept<'_>,
                ) {
                    $($crate::__private::write_field_kept(&self.$name, $crate::__tag!($wire), out, kept);)*
                }
            }

            #[doc(hidden)]
            impl $crate::__private::Node for $Type {
                fn read<T: $crate::__private::Tokens>(
                    from: &mut $crate::__private::Cursor<T>,
                ) -> Result<Self, $crate::__private::Halt> {
                    from.record()
                }

                fn scan(from: &mut $crate::__private::Scanner<'_>) -> Result<Self, $crate::__private::Odd> {
                    from.gap();
                    Ok(Self {
                        $($name: from.$kind($crate::__tag!($wire), $max)?,)*
                        extras: $crate::Extras::default(),
                    })
                }

                $(
                    fn settle(&self, to: &mut impl $crate::__private::Watch) {
                        $settle(self, to);
                    }
                )?

                #[inline(always)]
                fn write(
                    &self, tag: &'static $crate::__private::Tag, out: &mut $crate::__private::Output<'_>,
                    _: $crate::__private::Kept<'_>,
                ) {
                    if self.extras.is_empty() {
                        out.open(tag);
                        self.write_content(out);
                        out.close(tag);
                    } else {
                        self.extras.with(|kept| $crate::__private::write_kept(tag, out, kept, |out| {
                            self.write_content_kept(out, kept);
                        }));
                    }
                }

                fn is_plain(&self) -> bool {
                    self.extras.is_empty() $(&& $crate::__private::is_plain_field(&self.$name, $min))*
                }

                fn is_type(below: &[&str], name: &str) -> bool {
                    match below.split_first() {
                        None => name == $schema,
                        $(Some((&$wire, rest)) => {
                            $crate::__private::is_field_type::<$Item>(&[$($own)?], rest, name)
                        })*
                        Some(_) => false,
                    }
                }

                fn list_types(stated: Option<&'static str>, to: &mut $crate::__private::Types) {
                    if to.add::<Self>(stated) {
                        $(<$Item as $crate::__private::Node>::list_types([$($own)?].first().copied(), to);)*
                    }
                }

                fn check(&self, to: &mut $crate::__private::Checker) {
                    to.extras(&self.extras);
                    $($crate::__private::check_field(
                        &self.$name, $crate::__private::Field { wire: $wire, min: $min, max: $max }, to,
                    );)*
                    $(if to.asks_rules() {
                        $settle(self, to);
                    })?
                }
            }

            #[cfg(feature = "arbitrary")]
            #[doc(hidden)]
            impl $crate::__private::Invent for $Type {
                fn invent(from: &mut $crate::__private::Unstructured<'_>) -> $crate::__private::Invented<Self> {
                    let _ = &from;
                    Ok(Self {
                        $($name: $crate::__private::InventField::invent_field(
                            from, $crate::__private::Field { wire: $wire, min: $min, max: $max },
                        )?,)*
                        extras: Default::default(),
                    })
                }
            }

            #[cfg(feature = "arbitrary")]
            impl<'a> $crate::__private::arbitrary::Arbitrary<'a> for $Type {
                fn arbitrary(from: &mut $crate::__private::Unstructured<'a>) -> $crate::__private::Invented<Self> {
                    $crate::__private::Invent::invent(from)
                }
            }
        };
    };
}

/// The constructor that takes the mandatory parts only.
#[doc(hidden)]
#[macro_export]
macro_rules! __constructor {
    ($Type:ident [$($param:ident $Param:ty,)*] [$($rest:ident)*] { $name:ident one $Item:ty } $($more:tt)*) => {
        $crate::__constructor! { $Type [$($param $Param,)* $name $Item,] [$($rest)*] $($more)* }
    };
    ($Type:ident [$($param:ident $Param:ty,)*] [$($rest:ident)*] { $name:ident some $Item:ty } $($more:tt)*) => {
        $crate::__constructor! { $Type [$($param $Param,)* $name Vec<$Item>,] [$($rest)*] $($more)* }
    };
    ($Type:ident [$($param:ident $Param:ty,)*] [$($rest:ident)*] { $name:ident $kind:ident $Item:ty } $($more:tt)*) => {
        $crate::__constructor! { $Type [$($param $Param,)*] [$($rest)* $name] $($more)* }
    };
    ($Type:ident [] [$($rest:ident)*]) => {
        impl $Type {
            /// With no part set; none is mandatory.
            #[must_use]
            pub fn new() -> Self {
                Self { $($rest: Default::default(),)* extras: Default::default() }
            }
        }

        impl Default for $Type {
            fn default() -> Self {
                Self::new()
            }
        }
    };
    ($Type:ident [$($param:ident $Param:ty,)+] [$($rest:ident)*]) => {
        impl $Type {
            /// With the mandatory parts; the others are set afterwards.
            #[must_use]
            pub fn new($($param: $Param),+) -> Self {
                Self { $($param,)+ $($rest: Default::default(),)* extras: Default::default() }
            }
        }
    };
}
