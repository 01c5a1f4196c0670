//! `choice!`: one of several elements.

/// States a complex type with a choice.
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
macro_rules! choice {
    ($(#[$meta:meta])* $Type:ident = $schema:literal {
        $($(#[$doc:meta])* $Variant:ident($Item:ty) = $wire:literal,)*
    }) => {
        $(#[$meta])*
        #[doc = concat!("\n\n`", $schema, "` of the schema.")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
        #[non_exhaustive]
        pub enum $Type {
            $($(#[$doc])* #[doc = concat!("`", $wire, "`.")] $Variant($Item),)*
            /// None of the schema's alternatives: what the document held instead is in the extras of the parent.
            Unknown,
        }

        const _: () = {
            #[allow(clippy::enum_variant_names)]
            enum Index { $($Variant),* }
            const FIELDS: &[$crate::schema::Field] =
                &[$($crate::schema::Field { wire: $wire, min: 0, max: 1 }),*];

            impl $Type {
                fn write_content(&self, out: &mut $crate::write::Output<'_>) {
                    match self {
                        $(Self::$Variant(value) => $crate::schema::write_field(value, $crate::schema::tag!($wire), out),)*
                        Self::Unknown => {}
                    }
                }

                #[cold]
                fn write_content_kept(&self, out: &mut $crate::write::Output<'_>, kept: $crate::extra::Kept<'_>) {
                    match self {
                        $(Self::$Variant(value) => {
                            $crate::schema::write_field_kept(value, $crate::schema::tag!($wire), out, kept);
                        })*
                        Self::Unknown => {}
                    }
                }
            }

            impl $crate::schema::Node for $Type {
                fn read<T: $crate::read::Tokens>(from: &mut $crate::read::Cursor<T>) -> Result<Self, $crate::read::Halt> {
                    let mut chosen = None;
                    from.begin()?;
                    while let Some(index) = from.alternative(FIELDS)? {
                        match (&mut chosen, index) {
                            $((None, _) if index == Index::$Variant as usize => {
                                chosen = Some(Self::$Variant($crate::schema::Alternative::first(from)?));
                            })*
                            $((Some(Self::$Variant(more)), _) if index == Index::$Variant as usize => {
                                if !$crate::schema::Alternative::more(more, from)? {
                                    from.refuse_repeated($wire)?;
                                }
                            })*
                            _ => from.refuse_second(FIELDS, index)?,
                        }
                    }
                    from.chosen(chosen, FIELDS, Self::Unknown)
                }

                fn scan(from: &mut $crate::read::Scanner<'_>) -> Result<Self, $crate::read::Odd> {
                    from.gap();
                    $(if let Some(value) = $crate::schema::Alternative::scan_all(from, $crate::schema::tag!($wire))? {
                        return Ok(Self::$Variant(value));
                    })*
                    Err($crate::read::Odd)
                }

                #[inline(always)]
                fn write(&self, tag: &'static $crate::schema::Tag, out: &mut $crate::write::Output<'_>, kept: $crate::extra::Kept<'_>) {
                    if kept.is_empty() {
                        out.open(tag);
                        self.write_content(out);
                        out.close(tag);
                    } else {
                        $crate::schema::write_kept(tag, out, kept, |out| self.write_content_kept(out, kept));
                    }
                }

                fn is_plain(&self) -> bool {
                    match self {
                        $(Self::$Variant(value) => $crate::schema::is_plain_field(value, 1),)*
                        Self::Unknown => false,
                    }
                }

                fn is_type(below: &[&str], name: &str) -> bool {
                    match below.split_first() {
                        None => name == $schema,
                        $(Some((&$wire, rest)) => {
                            <<$Item as $crate::schema::Content>::Item as $crate::schema::Node>::is_type(rest, name)
                                && (!rest.is_empty() || $crate::schema::is_among_alike($schema, $wire, name))
                        })*
                        Some(_) => false,
                    }
                }

                fn check(&self, to: &mut $crate::check::Checker) {
                    match self {
                        $(Self::$Variant(value) => $crate::schema::check_field(
                            value,
                            $crate::schema::Field {
                                wire: $wire, min: 1, max: <$Item as $crate::schema::Content>::MAX,
                            },
                            to,
                        ),)*
                        Self::Unknown => to.no_choice(FIELDS),
                    }
                }
            }

            #[cfg(any(test, feature = "arbitrary"))]
            impl $crate::invent::Invent for $Type {
                fn invent(from: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<Self> {
                    let index = from.choose_index(FIELDS.len())?;
                    match index {
                        $(_ if index == Index::$Variant as usize => $crate::invent::Invent::invent(from).map(Self::$Variant),)*
                        _ => Ok(Self::Unknown),
                    }
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
pub(crate) use choice;
