//! The traits that the derives implement for sequences, choices and simple values, through which
//! the readers, the writer and the checker handle them.

mod alternative;
mod content;
mod slot;

pub use alternative::Alternative;
pub use content::{
    Content, check_field, is_plain_field, write_field, write_field_kept, write_kept,
};
pub use slot::{Record, Slot};

use crate::check::Checker;
use crate::extra::KeptParts;
use crate::field::{Fault, Field, Tag, Unreadable};
use crate::finding::{FindingKind, fault_kind};
use crate::output::Output;
use crate::read::{Cursor, Halt, NotPlain, Scanner};
use crate::watch::Watch;

/// The content of an element: a sequence, a choice or a simple value.
pub trait Node: Sized + 'static {
    /// True if the element has an attribute in the schema.
    const HAS_ATTRIBUTE: bool = false;

    /// Reads the content and the end tag, after the start tag.
    fn read(from: &mut Cursor<'_>) -> Result<Self, Halt>;

    /// Reads the content up to the end tag as the writer writes it; the start tag, or where there
    /// is an attribute its name, has just been read.
    fn scan(from: &mut Scanner<'_>) -> Result<Self, NotPlain>;

    /// Applies the element's own rules beyond the schema after the element has been read.
    #[inline]
    fn settle(&self, _: &mut dyn Watch) {}

    /// Writes the element with its tags, and the parts kept beyond the schema.
    fn write(&self, tag: &'static Tag, out: &mut Output<'_>, kept: KeptParts<'_>);

    /// Returns true unless a part that the schema demands is missing, or a kept part can be checked
    /// only by reading it again: markup, attributes and text beyond the schema, supplementary data.
    fn is_plain(&self, version: u8) -> bool;

    /// Reports the findings of the element.
    fn check(&self, to: &mut Checker);

    /// Returns true for a value without children that has no finding. A checker can skip such an
    /// element.
    #[inline]
    fn is_sound_leaf(&self, _version: u8) -> bool {
        false
    }

    /// Returns the type in the schema, for tests that compare the model with it.
    fn schema_type() -> SchemaType {
        SchemaType::simple::<Self>(&[])
    }
}

/// A complex type or a list of codes as the schema has it. A simple type is listed by its Rust
/// name, with neither elements nor codes.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)] // made by the derives
pub struct SchemaType {
    /// The name in the schema.
    pub name: &'static str,
    /// True if one of the elements occurs, false if all of them do.
    pub is_choice: bool,
    /// The last version in which the content of the first element stands in place of the choice; 0
    /// if there is none.
    pub bare_until: u8,
    /// The elements in the order of the schema, each with its type.
    pub elements: &'static [SchemaElement],
    /// The codes of a list.
    pub codes: &'static [&'static str],
    /// The codes that only some versions have, with the first and the last version.
    pub dated_codes: &'static [(&'static str, u8, u8)],
    /// The first version that allows any text of 1 to 4 characters in place of a list; [`u8::MAX`]
    /// if there is none.
    pub open_since: u8,
}

/// An element of a complex type, with its own type.
pub type SchemaElement = (Field, fn() -> SchemaType);

impl SchemaType {
    /// Returns a simple type.
    #[must_use]
    pub fn simple<T>(codes: &'static [&'static str]) -> Self {
        Self {
            name: std::any::type_name::<T>(),
            is_choice: false,
            bare_until: 0,
            elements: &[],
            codes,
            dated_codes: &[],
            open_since: u8::MAX,
        }
    }
}

/// A value without attributes and children.
pub trait Simple: Sized {
    /// Reads the text.
    fn parse(text: &str) -> Result<Self, Unreadable>;

    /// Reads a text if its value breaks no facet and loses nothing of the text; otherwise returns
    /// `None`.
    #[inline(always)]
    fn accept(text: &str, version: u8) -> Option<Self> {
        let value = Self::parse(text)
            .ok()
            .filter(|value| value.fault(version).is_none())?;
        // A `match`, because `is_none` would drop a finding and call its drop code even where there
        // is none.
        match value.lost(text) {
            None => Some(value),
            Some(_lost) => None,
        }
    }

    /// Appends the text.
    fn append(&self, out: &mut Output<'_>);

    /// Returns the facet of a version of the schema that the value breaks, if any.
    fn fault(&self, version: u8) -> Option<Fault>;

    /// Returns the type in the schema.
    fn schema_type() -> SchemaType {
        SchemaType::simple::<Self>(&[])
    }

    /// Returns the first character that XML cannot carry, if any; a value that has been read has
    /// none.
    fn forbidden(&self) -> Option<char> {
        None
    }

    /// Returns a finding for the part of the text that the value does not keep, if any.
    #[inline]
    fn lost(&self, _text: &str) -> Option<FindingKind> {
        None
    }

    /// Returns the rule beyond the schema that the value breaks, if any.
    #[inline]
    fn doubt(&self) -> Option<FindingKind> {
        None
    }
}

/// Makes simple values nodes. (One `impl<S: Simple> Node for S` would rule out the one for boxes.)
#[doc(hidden)]
#[macro_export]
macro_rules! __simple_nodes {
    ($([$($generics:tt)*] $Type:ty)*) => {$(
        #[doc(hidden)]
        impl<$($generics)*> $crate::__private::Node for $Type {
            #[inline]
            fn read(
                from: &mut $crate::__private::Cursor<'_>,
            ) -> Result<Self, $crate::__private::Halt> {
                from.leaf(
                    <Self as $crate::__private::Simple>::parse,
                    $crate::__private::simple_faults,
                )
            }

            #[inline]
            fn scan(from: &mut $crate::__private::Scanner<'_>) -> Result<Self, $crate::__private::NotPlain> {
                from.leaf()
            }

            #[inline]
            fn settle(&self, to: &mut dyn $crate::__private::Watch) {
                if let Some(kind) = $crate::__private::Simple::doubt(self) {
                    to.report(kind);
                }
            }

            #[inline(always)]
            fn write(
                &self,
                tag: &'static $crate::__private::Tag,
                out: &mut $crate::__private::Output<'_>,
                kept: $crate::__private::KeptParts<'_>,
            ) {
                $crate::__private::write_simple(self, tag, out, kept);
            }

            #[inline]
            fn is_plain(&self, _version: u8) -> bool {
                true
            }

            #[cold]
            fn check(&self, to: &mut $crate::__private::Checker) {
                $crate::__private::check_simple(self, to);
            }

            #[inline]
            fn is_sound_leaf(&self, version: u8) -> bool {
                $crate::__private::is_sound(self, version)
            }

            fn schema_type() -> $crate::__private::SchemaType {
                <Self as $crate::__private::Simple>::schema_type()
            }
        }
    )*};
}

/// Writes a simple value with its tags. Inlined, so that the tags are constants.
#[inline(always)]
pub fn write_simple<S: Simple>(
    value: &S,
    tag: &'static Tag,
    out: &mut Output<'_>,
    kept: KeptParts<'_>,
) {
    if kept.is_empty() {
        out.open_leaf(tag);
        value.append(out);
        out.close_leaf(tag);
    } else {
        write_simple_kept(value, tag, out, kept);
    }
}

#[cold]
fn write_simple_kept<S: Simple>(
    value: &S,
    tag: &'static Tag,
    out: &mut Output<'_>,
    kept: KeptParts<'_>,
) {
    out.start_leaf(tag);
    kept.attributes(out);
    out.start_end();
    value.append(out);
    kept.children(None, out);
    out.close_leaf(tag);
}

/// Returns true for a simple value without findings.
#[inline]
pub fn is_sound<S: Simple>(value: &S, version: u8) -> bool {
    value.fault(version).is_none() && value.forbidden().is_none() && value.doubt().is_none()
}

/// Returns the findings of a simple value that was read from a text.
#[inline]
pub fn simple_faults<S: Simple>(value: &S, text: &str, version: u8) -> Vec<FindingKind> {
    if value.fault(version).is_none() && value.lost(text).is_none() && value.doubt().is_none() {
        // Nearly every value has no finding, and an empty list allocates nothing.
        return Vec::new();
    }
    [
        broken_facet(value, version),
        value.lost(text),
        value.doubt(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the facet that a simple value breaks, if any. The finding quotes the value as the writer
/// spells it, so that checking a model and reading its document report the same.
fn broken_facet<S: Simple>(value: &S, version: u8) -> Option<FindingKind> {
    let fault = value.fault(version)?;
    let mut found = String::new();
    value.append(&mut Output::verbatim(&mut found));
    Some(fault_kind(fault, &found))
}

/// Reports the findings of a simple value.
pub fn check_simple<S: Simple>(value: &S, to: &mut Checker) {
    if to.only_missing() {
        return;
    }
    if let Some(kind) = broken_facet(value, to.version()) {
        to.report(kind);
    }
    if let Some(found) = value.forbidden() {
        to.report(FindingKind::Character { found });
    }
    if to.asks_rules()
        && let Some(kind) = value.doubt()
    {
        to.report(kind);
    }
}

impl<N: Node> Node for Box<N> {
    const HAS_ATTRIBUTE: bool = N::HAS_ATTRIBUTE;

    fn read(from: &mut Cursor<'_>) -> Result<Self, Halt> {
        // Counts the box before the content is read, so that nested boxes are bounded on the way
        // down.
        from.hold(size_of::<N>())?;
        N::read(from).map(Self::new)
    }

    #[inline]
    fn scan(from: &mut Scanner<'_>) -> Result<Self, NotPlain> {
        from.hold(size_of::<N>());
        N::scan(from).map(Self::new)
    }

    #[inline]
    fn settle(&self, to: &mut dyn Watch) {
        (**self).settle(to);
    }

    #[inline]
    fn write(&self, tag: &'static Tag, out: &mut Output<'_>, kept: KeptParts<'_>) {
        (**self).write(tag, out, kept);
    }

    fn is_plain(&self, version: u8) -> bool {
        (**self).is_plain(version)
    }

    fn check(&self, to: &mut Checker) {
        (**self).check(to);
    }

    #[inline]
    fn is_sound_leaf(&self, version: u8) -> bool {
        (**self).is_sound_leaf(version)
    }

    fn schema_type() -> SchemaType {
        N::schema_type()
    }
}
