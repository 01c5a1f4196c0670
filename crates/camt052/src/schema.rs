//! What the statements of the message are made of: the traits behind them and the macros that read them.
//!
//! Every element is stated once, in `model`, as `name: cardinality Type = "Wire"`, in the order of the schema. From that
//! one statement come the struct, its constructor, the reader, the writer, the checker and the test generator.

mod choice;
mod codes;
mod record;
mod tag;
mod type_names;

use crate::beyond::Watch;
use crate::check::Checker;
use crate::extra::Kept;
use crate::finding::FindingKind;
use crate::read::{Cursor, Halt, Odd, Scanner, Tokens};
use crate::write::Output;

pub(crate) use choice::choice;
pub(crate) use codes::codes;
pub(crate) use record::{constructor, record};
pub(crate) use tag::{Tag, tag};
pub(crate) use type_names::{is_among_alike, is_number_type, is_text_type};

/// An element of a sequence or an alternative of a choice, as the schema has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// The wire name.
    pub(crate) wire: &'static str,
    /// How often it must occur.
    pub(crate) min: u32,
    /// How often it may occur; `MANY` without bound.
    pub(crate) max: u32,
}

/// No upper bound.
pub(crate) const MANY: u32 = u32::MAX;

/// The content of an element: a sequence, a choice or a simple value.
pub(crate) trait Node: Sized {
    /// The element has an attribute in the schema.
    const HAS_ATTRIBUTE: bool = false;

    /// Reads the content and the end tag; the start tag has just been read.
    fn read<T: Tokens>(from: &mut Cursor<T>) -> Result<Self, Halt>;

    /// Reads the content up to the end tag as this crate writes it; the start tag, or where there is an attribute its
    /// name, has just been read.
    fn scan(from: &mut Scanner<'_>) -> Result<Self, Odd>;

    /// Looks at it beyond the schema, when it has been read.
    #[inline]
    fn settle(&self, _: &mut impl Watch) {}

    /// Writes the element with its tags, and what was kept beside the schema's parts.
    fn write(&self, tag: &'static Tag, out: &mut Output<'_>, kept: Kept<'_>);

    /// True unless a part is missing that the schema demands, or one is kept that only reading it again can judge: markup,
    /// attributes and text beyond the schema, supplementary data.
    fn is_plain(&self) -> bool;

    /// Reports what is not as it should be.
    fn check(&self, to: &mut Checker);

    /// True when a name is that of this type in the schema, or of the type that a path of elements leads to from here.
    fn is_type(below: &[&str], name: &str) -> bool;
}

/// A value without attributes and children.
pub(crate) trait Simple: Sized {
    /// Reads the text.
    fn parse(text: &str) -> Result<Self, Unreadable>;

    /// Appends the text.
    fn append(&self, out: &mut Output<'_>);

    /// The facet that the value breaks, if any.
    fn fault(&self) -> Option<Fault>;

    /// True when a name is that of this type in the schema.
    fn is_type(name: &str) -> bool;

    /// The first character that XML cannot carry, if any; no value that has been read has one.
    fn forbidden(&self) -> Option<char> {
        None
    }

    /// What is wrong with the value beyond the schema, if anything.
    fn doubt(&self) -> Option<FindingKind> {
        None
    }
}

/// A text that is no value of its type at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unreadable {
    /// What was expected.
    pub(crate) expected: &'static str,
}

/// The facet that a readable value breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Too short or too long.
    Length { min: usize, max: usize, length: usize },
    /// Not of the pattern.
    Pattern { expected: &'static str },
    /// Not in the closed list.
    Code { known: &'static [&'static str] },
}

/// Makes simple values nodes. (One `impl<S: Simple> Node for S` would rule out the one for boxes.)
macro_rules! simple_nodes {
    ($([$($generics:tt)*] $Type:ty)*) => {$(
        impl<$($generics)*> $crate::schema::Node for $Type {
            #[inline]
            fn read<T: $crate::read::Tokens>(from: &mut $crate::read::Cursor<T>) -> Result<Self, $crate::read::Halt> {
                from.leaf(
                    <Self as $crate::schema::Simple>::parse,
                    <Self as $crate::schema::Simple>::fault,
                    <Self as $crate::schema::Simple>::doubt,
                )
            }

            #[inline]
            fn scan(from: &mut $crate::read::Scanner<'_>) -> Result<Self, $crate::read::Odd> {
                from.leaf()
            }

            #[inline]
            fn write(&self, tag: &'static $crate::schema::Tag, out: &mut $crate::write::Output<'_>, kept: $crate::extra::Kept<'_>) {
                $crate::schema::write_simple(self, tag, out, kept);
            }

            #[inline]
            fn is_plain(&self) -> bool {
                true
            }

            fn check(&self, to: &mut $crate::check::Checker) {
                $crate::schema::check_simple(self, to);
            }

            fn is_type(below: &[&str], name: &str) -> bool {
                below.is_empty() && <Self as $crate::schema::Simple>::is_type(name)
            }
        }
    )*};
}
pub(crate) use simple_nodes;

#[inline]
pub(crate) fn write_simple<S: Simple>(value: &S, tag: &'static Tag, out: &mut Output<'_>, kept: Kept<'_>) {
    if kept.is_empty() {
        out.open_leaf(tag);
        value.append(out);
        out.close_leaf(tag);
    } else {
        write_simple_kept(value, tag, out, kept);
    }
}

#[cold]
fn write_simple_kept<S: Simple>(value: &S, tag: &'static Tag, out: &mut Output<'_>, kept: Kept<'_>) {
    out.start_leaf(tag);
    kept.attributes(out);
    out.start_end();
    value.append(out);
    kept.children(None, out);
    out.close_leaf(tag);
}

pub(crate) fn check_simple<S: Simple>(value: &S, to: &mut Checker) {
    if to.only_missing {
        return;
    }
    if let Some(fault) = value.fault() {
        let mut found = String::new();
        value.append(&mut Output::plain(&mut found));
        to.fault(fault, &found);
    }
    if let Some(found) = value.forbidden() {
        to.report(FindingKind::Character { found });
    }
    if let Some(kind) = value.doubt() {
        to.report(kind);
    }
}

impl<N: Node> Node for Box<N> {
    const HAS_ATTRIBUTE: bool = N::HAS_ATTRIBUTE;

    fn read<T: Tokens>(from: &mut Cursor<T>) -> Result<Self, Halt> {
        N::read(from).map(Self::new)
    }

    #[inline]
    fn scan(from: &mut Scanner<'_>) -> Result<Self, Odd> {
        N::scan(from).map(Self::new)
    }

    #[inline]
    fn settle(&self, to: &mut impl Watch) {
        (**self).settle(to);
    }

    #[inline]
    fn write(&self, tag: &'static Tag, out: &mut Output<'_>, kept: Kept<'_>) {
        (**self).write(tag, out, kept);
    }

    fn is_plain(&self) -> bool {
        (**self).is_plain()
    }

    fn check(&self, to: &mut Checker) {
        (**self).check(to);
    }

    fn is_type(below: &[&str], name: &str) -> bool {
        N::is_type(below, name)
    }
}

/// The places for the occurrences of one element while a sequence is read.
pub(crate) trait Slot {
    /// How many have been read.
    fn count(&self) -> usize;
    /// True when the place takes no more.
    fn is_full(&self) -> bool;
    /// Reads one more.
    fn fill<T: Tokens>(&mut self, from: &mut Cursor<T>) -> Result<(), Halt>;
    /// Reads further ones as long as they follow as this crate writes them.
    fn fill_ahead<T: Tokens>(&mut self, _: &'static Tag, _: &mut Cursor<T>) {}
}

impl<N: Node> Slot for Option<N> {
    fn count(&self) -> usize {
        usize::from(self.is_some())
    }

    fn is_full(&self) -> bool {
        self.is_some()
    }

    fn fill<T: Tokens>(&mut self, from: &mut Cursor<T>) -> Result<(), Halt> {
        *self = Some(N::read(from)?);
        Ok(())
    }
}

impl<N: Node> Slot for Vec<N> {
    fn count(&self) -> usize {
        self.len()
    }

    fn is_full(&self) -> bool {
        false
    }

    fn fill<T: Tokens>(&mut self, from: &mut Cursor<T>) -> Result<(), Halt> {
        if self.is_empty() {
            // Most lists of a transaction have one element: room for no more.
            self.reserve_exact(1);
        }
        self.push(N::read(from)?);
        Ok(())
    }

    fn fill_ahead<T: Tokens>(&mut self, tag: &'static Tag, from: &mut Cursor<T>) {
        while let Ok(item) = from.scan_element(tag, self.len()) {
            self.push(item);
        }
    }
}

/// What one field of a struct, or one alternative of a choice, holds: a value, perhaps one, or several.
pub(crate) trait Content {
    /// The type of each.
    type Item: Node;
    /// How many there may be as an alternative of a choice.
    const MAX: u32;
    /// Each of them.
    fn items(&self) -> &[Self::Item];
}

impl<N: Node> Content for N {
    type Item = N;
    const MAX: u32 = 1;
    fn items(&self) -> &[N] {
        std::slice::from_ref(self)
    }
}

impl<N: Node> Content for Option<N> {
    type Item = N;
    const MAX: u32 = 1;
    fn items(&self) -> &[N] {
        self.as_slice()
    }
}

impl<N: Node> Content for Vec<N> {
    type Item = N;
    const MAX: u32 = MANY;
    fn items(&self) -> &[N] {
        self
    }
}

/// Writes a sequence or choice with what was kept beside the schema's parts.
#[cold]
pub(crate) fn write_kept(
    tag: &'static Tag,
    out: &mut Output<'_>,
    kept: Kept<'_>,
    content: impl FnOnce(&mut Output<'_>),
) {
    out.start(tag);
    kept.attributes(out);
    out.start_end();
    kept.children(None, out);
    content(out);
    out.close(tag);
}

/// Writes the occurrences of one element. Inlined, so that its tags are constants: a few instructions instead of a copy.
#[inline(always)]
pub(crate) fn write_field<C: Content>(content: &C, tag: &'static Tag, out: &mut Output<'_>) {
    for item in content.items() {
        item.write(tag, out, Kept::NONE);
    }
}

/// Writes the occurrences of one element, each followed by what was kept after it.
#[cold]
pub(crate) fn write_field_kept<C: Content>(content: &C, tag: &'static Tag, out: &mut Output<'_>, kept: Kept<'_>) {
    for (index, item) in content.items().iter().enumerate() {
        kept.field(tag.wire, index, out, |out, inside| item.write(tag, out, inside));
    }
}

/// True unless the element, or a part below it, is missing.
#[inline]
pub(crate) fn is_plain_field<C: Content>(content: &C, min: u32) -> bool {
    let items = content.items();
    (min == 0 || !items.is_empty()) && items.iter().all(Node::is_plain)
}

/// Checks the occurrences of one element and how many there are.
pub(crate) fn check_field<C: Content>(content: &C, field: Field, to: &mut Checker) {
    let items = content.items();
    to.cardinality(field, items.len());
    for (index, item) in items.iter().enumerate() {
        to.enter(field, index);
        item.check(to);
        to.leave();
    }
}

/// An alternative of a choice while it is read: most occur once, one occurs several times.
pub(crate) trait Alternative: Sized {
    /// Reads the first occurrence.
    fn first<T: Tokens>(from: &mut Cursor<T>) -> Result<Self, Halt>;
    /// The place for a further occurrence, if the schema has one.
    fn more<T: Tokens>(&mut self, from: &mut Cursor<T>) -> Result<bool, Halt>;
    /// Reads all occurrences as this crate writes them, if there are any.
    fn scan_all(from: &mut Scanner<'_>, tag: &'static Tag) -> Result<Option<Self>, Odd>;
}

impl<N: Node> Alternative for N {
    fn first<T: Tokens>(from: &mut Cursor<T>) -> Result<Self, Halt> {
        N::read(from)
    }

    fn more<T: Tokens>(&mut self, _: &mut Cursor<T>) -> Result<bool, Halt> {
        Ok(false)
    }

    #[inline]
    fn scan_all(from: &mut Scanner<'_>, tag: &'static Tag) -> Result<Option<Self>, Odd> {
        from.maybe(tag, 1)
    }
}

impl<N: Node> Alternative for Vec<N> {
    fn first<T: Tokens>(from: &mut Cursor<T>) -> Result<Self, Halt> {
        from.set_index(0);
        Ok(vec![N::read(from)?])
    }

    fn more<T: Tokens>(&mut self, from: &mut Cursor<T>) -> Result<bool, Halt> {
        from.set_index(self.len());
        self.push(N::read(from)?);
        Ok(true)
    }

    fn scan_all(from: &mut Scanner<'_>, tag: &'static Tag) -> Result<Option<Self>, Odd> {
        from.many(tag, MANY).map(|items| if items.is_empty() { None } else { Some(items) })
    }
}
