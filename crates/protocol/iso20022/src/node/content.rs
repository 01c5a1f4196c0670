//! The content of a field of a struct or of an alternative of a choice, and how it is written and
//! checked.

use super::Node;
use crate::check::Checker;
use crate::extra::KeptParts;
use crate::field::{Field, MANY, Tag};
use crate::output::Output;

/// The content of a field: one value, an optional value, or several values.
pub trait Content {
    /// The type of each value.
    type Item: Node;
    /// The maximum number of values when the content is an alternative of a choice.
    const MAX: u32;
    /// Returns the values.
    fn items(&self) -> &[Self::Item];
}

impl<N: Node> Content for N {
    type Item = N;
    const MAX: u32 = 1;
    #[inline]
    fn items(&self) -> &[N] {
        std::slice::from_ref(self)
    }
}

impl<N: Node> Content for Option<N> {
    type Item = N;
    const MAX: u32 = 1;
    #[inline]
    fn items(&self) -> &[N] {
        self.as_slice()
    }
}

impl<N: Node> Content for Vec<N> {
    type Item = N;
    const MAX: u32 = MANY;
    #[inline]
    fn items(&self) -> &[N] {
        self
    }
}

/// Writes a sequence or choice with the parts kept beyond the schema.
#[cold]
pub fn write_kept(
    tag: &'static Tag,
    out: &mut Output<'_>,
    kept: KeptParts<'_>,
    content: impl FnOnce(&mut Output<'_>),
) {
    out.start(tag);
    kept.attributes(out);
    out.start_end();
    kept.children(None, out);
    content(out);
    out.close(tag);
}

/// Writes the occurrences of one element. Inlined, so that the tags are constants, which are
/// written with a few instructions instead of a copy.
#[inline(always)]
pub fn write_field<C: Content>(content: &C, tag: &'static Tag, out: &mut Output<'_>) {
    for item in content.items() {
        item.write(tag, out, KeptParts::NONE);
    }
}

/// Writes the occurrences of one element, each followed by the parts kept after it.
#[cold]
pub fn write_field_kept<C: Content>(
    content: &C,
    tag: &'static Tag,
    out: &mut Output<'_>,
    kept: KeptParts<'_>,
) {
    for (index, item) in content.items().iter().enumerate() {
        kept.field(tag.wire, index, out, |out, inside| {
            item.write(tag, out, inside)
        });
    }
}

/// Returns true unless the element, or a part below it, is missing, or is of another version.
/// Inlined, because most elements of a sequence do not occur.
#[inline(always)]
pub fn is_plain_field<C: Content>(content: &C, rows: &[Field], version: u8) -> bool {
    let (items, field) = (content.items(), Field::of(rows, version));
    if items.is_empty() {
        return field.is_none_or(|field| field.min == 0);
    }
    field.is_some_and(|field| {
        let version = field.version_in(version);
        items.iter().all(|item| item.is_plain(version))
    })
}

/// Checks the occurrences of one element and their number, with the findings that reading would
/// report. Inlined, because most elements of a sequence do not occur.
#[inline(always)]
pub fn check_field<C: Content>(content: &C, rows: &'static [Field], to: &mut Checker) {
    let (items, field) = (content.items(), Field::of(rows, to.version()));
    // Tests emptiness first, because the version of an absent element matters only where some
    // version demands one.
    if items.is_empty() {
        if let Some(field) = field.filter(|field| field.min > 0) {
            to.missing(field);
        }
    } else if let Some(field) = field {
        to.as_of(field, |to| check_items(items, field, to));
    } else if let Some(row) = rows.first() {
        to.not_in_version(row);
    }
}

#[inline]
fn check_items<N: Node>(items: &[N], field: &'static Field, to: &mut Checker) {
    for (index, item) in items.iter().enumerate() {
        let allowed = field.allows(index);
        if allowed && item.is_sound_leaf(to.version()) {
            continue;
        }
        to.enter(field, index);
        if !allowed {
            to.repeated(field);
        }
        item.check(to);
        to.leave();
    }
}
