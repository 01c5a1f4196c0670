//! `record!`: a sequence of elements.

/// States a complex type with a sequence.
///
/// ```text
/// record! {
///     /// What it is.
///     GroupHeader = "GroupHeader58" {
///         /// What this part means.
///         message_id: 1..1 Text<35> = "MsgId",
///         created: 1..1 ~DateTime = "CreDtTm",
///         recipient: 0..1 Box<Party> = "MsgRcpt",
///     }
/// }
/// ```
///
/// `~` marks a part that the schema demands and tolerant reading may miss: an `Option` in the model, refused by strict
/// reading and by the writer. `then` names what is to be looked at, beyond the schema, when such a sequence has been read.
macro_rules! record {
    ($(#[$meta:meta])* $Type:ident = $schema:literal { $($fields:tt)* } $(then $settle:path)?) => {
        $crate::schema::record! { @sort [$(#[$meta])* $Type $schema [$($settle)?]] [] $($fields)* }
    };
    // Each element: its cardinality as numbers, the type of its field, the attributes of its field.
    (@sort $head:tt [$($done:tt)*] $(#[$doc:meta])* $name:ident : 1..1 ~ $Item:ty = $wire:literal, $($rest:tt)*) => {
        $crate::schema::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, mandatory in the schema; tolerant reading may miss it.")]
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))],
            $name, soft, $Item, Option<$Item>, Option<$Item>, $wire, 1, 1
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*] $(#[$doc:meta])* $name:ident : 1..1 $Item:ty = $wire:literal, $($rest:tt)*) => {
        $crate::schema::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`.")],
            $name, one, $Item, $Item, Option<$Item>, $wire, 1, 1
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*] $(#[$doc:meta])* $name:ident : 0..1 $Item:ty = $wire:literal, $($rest:tt)*) => {
        $crate::schema::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, optional.")]
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))],
            $name, maybe, $Item, Option<$Item>, Option<$Item>, $wire, 0, 1
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*] $(#[$doc:meta])* $name:ident : 1..* $Item:ty = $wire:literal, $($rest:tt)*) => {
        $crate::schema::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, one or more.")],
            $name, some, $Item, Vec<$Item>, Vec<$Item>, $wire, 1, $crate::schema::MANY
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*] $(#[$doc:meta])* $name:ident : 0..* $Item:ty = $wire:literal, $($rest:tt)*) => {
        $crate::schema::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, any number.")]
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))],
            $name, many, $Item, Vec<$Item>, Vec<$Item>, $wire, 0, $crate::schema::MANY
        }] $($rest)* }
    };
    (@sort $head:tt [$($done:tt)*] $(#[$doc:meta])* $name:ident : 0..$max:literal $Item:ty = $wire:literal, $($rest:tt)*) => {
        $crate::schema::record! { @sort $head [$($done)* {
            $(#[$doc])* #[doc = concat!("`", $wire, "`, at most ", stringify!($max), ".")]
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))],
            $name, many, $Item, Vec<$Item>, Vec<$Item>, $wire, 0, $max
        }] $($rest)* }
    };
    // All elements are sorted.
    (@sort [$(#[$meta:meta])* $Type:ident $schema:literal [$($settle:path)?]]
        [$({ $(#[$attr:meta])*, $name:ident, $kind:ident, $Item:ty, $Field:ty, $Slot:ty, $wire:literal, $min:expr, $max:expr })*]
    ) => {
        $(#[$meta])*
        #[doc = concat!("\n\n`", $schema, "` of the schema.")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub struct $Type {
            $($(#[$attr])* pub $name: $Field,)*
            /// What the document held here beyond the schema.
            #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::Extras::is_empty"))]
            pub extras: $crate::extra::Extras,
        }

        $crate::schema::constructor! { $Type [] [] $({ $name $kind $Item })* }

        const _: () = {
            #[allow(non_camel_case_types, clippy::enum_variant_names)]
            enum Index { $($name),* }

            /// The elements read so far.
            #[derive(Clone, Default)]
            pub(crate) struct Slots { $(pub(crate) $name: $Slot),* }

            impl $crate::read::Record for $Type {
                type Slots = Slots;
                const FIELDS: &'static [$crate::schema::Field] =
                    &[$($crate::schema::Field { wire: $wire, min: $min, max: $max }),*];

                fn take<T: $crate::read::Tokens>(
                    slots: &mut Slots, index: usize, from: &mut $crate::read::Cursor<T>,
                ) -> Result<(), $crate::read::Halt> {
                    match index {
                        $(_ if index == Index::$name as usize => from.take(
                            &mut slots.$name, $crate::schema::Field { wire: $wire, min: $min, max: $max },
                            $crate::schema::tag!($wire),
                        ),)*
                        _ => Ok(()),
                    }
                }

                fn finish<T: $crate::read::Tokens>(
                    slots: Slots, from: &mut $crate::read::Cursor<T>,
                ) -> Result<Self, $crate::read::Halt> {
                    Ok(Self {
                        $($name: from.$kind(slots.$name, $wire)?,)*
                        extras: from.extras(),
                    })
                }
            }

            impl $Type {
                fn write_content(&self, out: &mut $crate::write::Output<'_>) {
                    $($crate::schema::write_field(&self.$name, $crate::schema::tag!($wire), out);)*
                }

                #[cold]
                fn write_content_kept(&self, out: &mut $crate::write::Output<'_>, kept: $crate::extra::Kept<'_>) {
                    $($crate::schema::write_field_kept(&self.$name, $crate::schema::tag!($wire), out, kept);)*
                }
            }

            impl $crate::schema::Node for $Type {
                fn read<T: $crate::read::Tokens>(from: &mut $crate::read::Cursor<T>) -> Result<Self, $crate::read::Halt> {
                    from.record()
                }

                fn scan(from: &mut $crate::read::Scanner<'_>) -> Result<Self, $crate::read::Odd> {
                    from.gap();
                    Ok(Self {
                        $($name: from.$kind($crate::schema::tag!($wire), $max)?,)*
                        extras: $crate::extra::Extras::default(),
                    })
                }

                $(
                    fn settle(&self, to: &mut impl $crate::beyond::Watch) {
                        $settle(self, to);
                    }
                )?

                #[inline(always)]
                fn write(&self, tag: &'static $crate::schema::Tag, out: &mut $crate::write::Output<'_>, _: $crate::extra::Kept<'_>) {
                    if self.extras.is_empty() {
                        out.open(tag);
                        self.write_content(out);
                        out.close(tag);
                    } else {
                        self.extras.with(|kept| $crate::schema::write_kept(tag, out, kept, |out| {
                            self.write_content_kept(out, kept);
                        }));
                    }
                }

                fn is_plain(&self) -> bool {
                    self.extras.is_empty() $(&& $crate::schema::is_plain_field(&self.$name, $min))*
                }

                fn is_type(below: &[&str], name: &str) -> bool {
                    match below.split_first() {
                        None => name == $schema,
                        $(Some((&$wire, rest)) => {
                            <$Item as $crate::schema::Node>::is_type(rest, name)
                                && (!rest.is_empty() || $crate::schema::is_among_alike($schema, $wire, name))
                        })*
                        Some(_) => false,
                    }
                }

                fn check(&self, to: &mut $crate::check::Checker) {
                    to.extras(&self.extras);
                    $($crate::schema::check_field(
                        &self.$name, $crate::schema::Field { wire: $wire, min: $min, max: $max }, to,
                    );)*
                    $(if !to.only_missing {
                        $settle(self, to);
                    })?
                }
            }

            #[cfg(any(test, feature = "arbitrary"))]
            impl $crate::invent::Invent for $Type {
                fn invent(from: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<Self> {
                    let _ = &from;
                    Ok(Self {
                        $($name: $crate::invent::InventField::invent_field(
                            from, $crate::schema::Field { wire: $wire, min: $min, max: $max },
                        )?,)*
                        extras: Default::default(),
                    })
                }
            }

            #[cfg(any(test, feature = "arbitrary"))]
            impl<'a> arbitrary::Arbitrary<'a> for $Type {
                fn arbitrary(from: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                    $crate::invent::Invent::invent(from)
                }
            }
        };
    };
}
pub(crate) use record;

/// The constructor that takes the mandatory parts only.
macro_rules! constructor {
    ($Type:ident [$($param:ident $Param:ty,)*] [$($rest:ident)*] { $name:ident one $Item:ty } $($more:tt)*) => {
        $crate::schema::constructor! { $Type [$($param $Param,)* $name $Item,] [$($rest)*] $($more)* }
    };
    ($Type:ident [$($param:ident $Param:ty,)*] [$($rest:ident)*] { $name:ident some $Item:ty } $($more:tt)*) => {
        $crate::schema::constructor! { $Type [$($param $Param,)* $name Vec<$Item>,] [$($rest)*] $($more)* }
    };
    ($Type:ident [$($param:ident $Param:ty,)*] [$($rest:ident)*] { $name:ident $kind:ident $Item:ty } $($more:tt)*) => {
        $crate::schema::constructor! { $Type [$($param $Param,)*] [$($rest)* $name] $($more)* }
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
pub(crate) use constructor;
