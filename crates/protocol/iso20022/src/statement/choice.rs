//! `choice!`: one of several elements.

/// States complex types with a choice, one or several.
///
/// ```text
/// choice! {
///     /// What it is.
///     AccountId = "AccountIdentification4Choice" {
///         Iban(Iban) = "IBAN",
///         Other(GenericAccountId) = "Othr",
///     }
/// }
/// ```
#[macro_export]
macro_rules! choice {
    ($($(#[$meta:meta])* $Type:ident = $schema:literal { $($alternatives:tt)* })*) => {
        $($crate::choice! { @one $(#[$meta])* $Type = $schema { $($alternatives)* } })*
    };
    (@one $(#[$meta:meta])* $Type:ident = $schema:literal {
        $($(#[$doc:meta])* $Variant:ident($Item:ty) = $wire:literal $(as $own:literal)?,)*
    }) => {
        $(#[$meta])*
        #[doc = concat!("\n\n`", $schema, "` of the schema.")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
        #[non_exhaustive]
        pub enum $Type {
            $($(#[$doc])* #[doc = concat!("`", $wire, "`.")] $Variant($Item),)*
            /// None of the schema's alternatives: what the document held instead is in the extras
            /// of the parent.
            Unknown,
        }

        const _: () = {
            #[allow(clippy::enum_variant_names)]
            enum Index { $($Variant),* }
            const FIELDS: &[$crate::__private::Field] =
                &[$($crate::__private::Field { wire: $wire, min: 0, max: 1 }),*];

            impl $Type {
                fn write_content(&self, out: &mut $crate::__private::Output<'_>) {
                    match self {
                        $(Self::$Variant(value) => $crate::__private::write_field(value, $crate::__tag!($wire), out),)*
                        Self::Unknown => {}
                    }
                }

                #[cold]
                fn write_content_kept(
                    &self, out: &mut $crate::__private::Output<'_>, kept: $crate::__private::Kept<'_>,
                ) {
                    match self {
                        $(Self::$Variant(value) => {
                            $crate::__private::write_field_kept(value, $crate::__tag!($wire), out, kept);
                        })*
                        Self::Unknown => {}
                    }
                }
            }

            #[doc(hidden)]
            impl $crate::__private::Node for $Type {
                fn read<T: $crate::__private::Tokens>(
                    from: &mut $crate::__private::Cursor<T>,
                ) -> Result<Self, $crate::__private::Halt> {
                    let mut chosen = None;
                    from.begin()?;
                    while let Some(index) = from.alternative(FIELDS)? {
                        match (&mut chosen, index) {
                            $((None, _) if index == Index::$Variant as usize => {
                                chosen = Some(Self::$Variant($crate::__private::Alternative::first(from)?));
                            })*
                            $((Some(Self::$Variant(more)), _) if index == Index::$Variant as usize => {
                                if !$crate::__private::Alternative::more(more, from)? {
                                    from.refuse_repeated($wire)?;
                                }
                            })*
                            _ => from.refuse_second(FIELDS, index)?,
                        }
                    }
                    from.chosen(chosen, FIELDS, Self::Unknown)
                }

                fn scan(from: &mut $crate::__private::Scanner<'_>) -> Result<Self, $crate::__private::Odd> {
                    from.gap();
                    $(if let Some(value) = $crate::__private::Alternative::scan_all(from, $crate::__tag!($wire))? {
                        return Ok(Self::$Variant(value));
                    })*
                    Err($crate::__private::Odd)
                }

                #[inline(always)]
                fn write(
                    &self, tag: &'static $crate::__private::Tag, out: &mut $crate::__private::Output<'_>,
                    kept: $crate::__private::Kept<'_>,
                ) {
                    if kept.is_empty() {
                        out.open(tag);
                        self.write_content(out);
                        out.close(tag);
                    } else {
                        $crate::__private::write_kept(tag, out, kept, |out| self.write_content_kept(out, kept));
                    }
                }

                fn is_plain(&self) -> bool {
                    match self {
                        $(Self::$Variant(value) => $crate::__private::is_plain_field(value, 1),)*
                        Self::Unknown => false,
                    }
                }

                fn is_type(below: &[&str], name: &str) -> bool {
                    match below.split_first() {
                        None => name == $schema,
                        $(Some((&$wire, rest)) => {
                            $crate::__private::is_field_type::<<$Item as $crate::__private::Content>::Item>(
                                &[$($own)?], rest, name,
                            )
                        })*
                        Some(_) => false,
                    }
                }

                fn list_types(stated: Option<&'static str>, to: &mut $crate::__private::Types) {
                    if to.add::<Self>(stated) {
                        $(<<$Item as $crate::__private::Content>::Item as $crate::__private::Node>::list_types(
                            [$($own)?].first().copied(), to,
                        );)*
                    }
                }

                fn check(&self, to: &mut $crate::__private::Checker) {
                    match self {
                        $(Self::$Variant(value) => $crate::__private::check_field(
                            value,
                            $crate::__private::Field {
                                wire: $wire, min: 1, max: <$Item as $crate::__private::Content>::MAX,
                            },
                            to,
                        ),)*
                        Self::Unknown => to.no_choice(FIELDS),
                    }
                }
            }

            #[cfg(feature = "arbitrary")]
            #[doc(hidden)]
            impl $crate::__private::Invent for $Type {
                fn invent(from: &mut $crate::__private::Unstructured<'_>) -> $crate::__private::Invented<Self> {
                    let index = from.choose_index(FIELDS.len())?;
                    match index {
                        $(_ if index == Index::$Variant as usize => {
                            $crate::__private::Invent::invent(from).map(Self::$Variant)
                        })*
                        _ => Ok(Self::Unknown),
                    }
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
