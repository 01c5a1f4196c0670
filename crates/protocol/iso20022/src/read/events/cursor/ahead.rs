//! Decides where the cursor calls the fast reader: before each element of a sequence, except for
//! groups and for most elements of a name that the fast reader keeps declining.
//!
//! The fast reader takes an element whole or not at all, and only if it is as the writer writes it.
//! Any other element is read over events; if it is a sequence, the fast reader is tried for its
//! children. The element may break rules beyond the schema: the fast reader notes the place and the
//! checker reports the rule, so that both readers report the same findings.

use super::{Cursor, Step};
use crate::check::Checker;
use crate::field::{Field, Tag};
use crate::finding::{Finding, push_step};
use crate::node::{Node, Record, Slot};
use crate::read::error::Halt;
use crate::read::scan::{NotPlain, Scanner};
use crate::read::shape::Shape;
use crate::read::strip::strip;
use crate::read::tokens::Mark;

/// The place of the next element of a sequence, whose start tag is as the writer writes it.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// The number of bytes of white space and comments before the element.
    gap: usize,
    /// The number of bytes of the prefix with its colon; 0 without a prefix.
    prefix: usize,
}

/// The extent of a scanned element.
struct Extent {
    elements: usize,
    bytes: usize,
    /// The bytes of memory taken.
    held: usize,
    /// The places of the elements that break a rule beyond the schema, in the order of the
    /// findings.
    doubts: Vec<usize>,
}

impl Cursor<'_> {
    /// Reads elements of a sequence into their places from the field `at` on, as long as they are
    /// as the writer writes them. Elements of the name `handed_out` are not read; the name is empty
    /// if there are none. Returns the next field, if its start tag is as the writer writes it.
    pub(crate) fn read_ahead<R: Record>(
        &mut self,
        slots: &mut R::Slots,
        at: &mut usize,
        handed_out: &str,
    ) -> Result<Option<(usize, Ahead)>, Halt> {
        // Bounds the last token now, because skipping an element loses the place where the token
        // began.
        self.events.advance()?;
        loop {
            let next = self.field_ahead(R::FIELDS, *at);
            let Some((index, ahead)) = next else {
                return Ok(next);
            };
            let field = R::FIELDS.get(index);
            let Some(field) = field.filter(|field| field.wire != handed_out) else {
                return Ok(next);
            };
            let schema = self.read_as_of(*field);
            let taken = R::take_ahead(slots, index, ahead, self);
            self.schema = schema;
            if !taken? {
                return Ok(next);
            }
            *at = index;
        }
    }

    /// Returns the field, from `at` on, whose element is next, if the start tag is as the writer
    /// writes it, perhaps under a prefix. Groups are left to the reader over events, because their
    /// content is counted separately.
    fn field_ahead(&self, fields: &[Field], at: usize) -> Option<(usize, Ahead)> {
        let (ahead, version) = (self.events.ahead(), self.schema);
        let mut scanner = self.events.scanner(ahead, version);
        scanner.gap();
        let named = scanner.rest().strip_prefix('<')?;
        let gap = ahead.len() - scanner.rest().len();
        // Compares up to the bracket, so that a tag with attributes or a slash equals no name and
        // is left.
        let named = named.get(..memchr::memchr(b'>', named.as_bytes())?)?;
        let find = |named: &str| {
            let found = fields
                // Searches only from `at` on: a late element has to be reported, which scanning
                // does not do.
                .get(at..)?
                .iter()
                .position(|field| field.wire == named && field.is_in(version))?
                + at;
            (!self
                .shape
                .is_group(self.open.len(), fields.get(found)?.wire))
            .then_some(found)
        };
        let depth = self.shape.depth;
        let may_scan = |prefix| self.fast && self.events.may_scan(prefix, depth);
        if let Some(index) = find(named) {
            return may_scan(None).then_some((index, Ahead { gap, prefix: 0 }));
        }
        let prefix = self.events.namespaces.our_prefix(named)?;
        let index = find(named.get(prefix.len() + 1..)?)?;
        may_scan(Some(prefix)).then_some((
            index,
            Ahead {
                gap,
                prefix: prefix.len() + 1,
            },
        ))
    }

    /// Reads the next element into its place if all of it is as the writer writes it. Otherwise
    /// reads nothing. `number` is its number among those of its name, from 0, if the schema allows
    /// several.
    pub(crate) fn scan_element<S: Slot>(
        &mut self,
        slot: &mut S,
        tag: &'static Tag,
        number: Option<usize>,
        ahead: Ahead,
    ) -> Result<(), NotPlain> {
        if !self.may_take(tag.wire) {
            return Err(NotPlain);
        }
        let count = slot.count();
        // Stores the element before it is accepted, so that an element of hundreds of bytes is
        // moved once.
        let scanned = self.scan_ahead(tag, ahead, |scanner| {
            scanner.bare_element(tag).map(|node| slot.put(node))
        });
        // If the end of the element was not in memory, reads on until it is.
        if scanned.is_err() && self.events.end_comes(tag, ahead.gap, ahead.prefix) {
            slot.truncate(count);
            // The end is in memory now, so the element is read again only once.
            return self.scan_element(slot, tag, number, ahead);
        }
        let accepted = match (scanned, slot.items().last()) {
            (Ok(extent), Some(node)) => {
                self.accept(tag.wire, number, ahead, &extent, &|shape, path, version| {
                    let mut checker = Checker::within(shape, path, version);
                    node.check(&mut checker);
                    checker.into_findings()
                })
            }
            _ => Err(NotPlain),
        };
        self.count_scanned(tag.wire, accepted.is_ok());
        if accepted.is_err() {
            slot.truncate(count);
        } else if let Some(node) = slot.items().last() {
            // Applied only when the element is accepted: a running total must not count one that is
            // read again.
            node.settle(&mut &mut *self);
            self.leave();
        }
        accepted
    }

    /// Scans the next element.
    #[inline(always)]
    fn scan_ahead(
        &mut self,
        tag: &'static Tag,
        ahead: Ahead,
        scan: impl FnOnce(&mut Scanner<'_>) -> Result<(), NotPlain>,
    ) -> Result<Extent, NotPlain> {
        let (text, stripped) = text_ahead(self.events.ahead(), tag, ahead, &mut self.plain)?;
        let mut scanner = self.events.scanner(text, self.schema);
        scan(&mut scanner)?;
        Extent::of(&scanner, text, stripped, ahead.prefix)
    }

    /// Counts an element that the fast reader has taken, or left to the reader over events.
    fn count_scanned(&mut self, name: &'static str, taken: bool) {
        let (took, left) = &mut self.scanned;
        *(if taken { took } else { left }) += 1;
        if taken {
            // An element that was taken shows that further ones of the name may be taken, too.
            self.left.retain(|(of, _)| *of != name);
        } else {
            match self.left.iter_mut().find(|(of, _)| *of == name) {
                Some((_, times)) => *times += 1,
                None => self.left.push((name, 1)),
            }
        }
    }

    /// Returns true when the fast reader is to be tried for an element. An element that the fast
    /// reader begins and declines is read twice. After two elements of a name in a row were
    /// declined, the fast reader is therefore tried for each sixteenth only, until it takes one.
    fn may_take(&mut self, name: &'static str) -> bool {
        match self.left.iter_mut().find(|(of, _)| *of == name) {
            Some((_, times)) if *times > 1 && (*times + 1) % 16 != 0 => {
                *times += 1;
                false
            }
            _ => true,
        }
    }

    /// Passes over a scanned element, which becomes the current one, and reports what breaks a rule
    /// beyond the schema in it, as `check` names it for a path. `NotPlain` when the element has too
    /// many elements in it, or when `check` does not agree on how much there is to report; then
    /// nothing is read.
    fn accept(
        &mut self,
        name: &'static str,
        number: Option<usize>,
        ahead: Ahead,
        extent: &Extent,
        check: &dyn Fn(&'static Shape, String, u8) -> Vec<Finding>,
    ) -> Result<(), NotPlain> {
        let unit = self.shape.is_unit(self.open.len(), name);
        // The reader over events counts them one by one and reports where the limit is met. All
        // checks precede the first skipped byte, because that reader begins at the start tag.
        if !self.events.may_begin(extent.elements, unit) {
            return Err(NotPlain);
        }
        let findings = if extent.doubts.is_empty() {
            Vec::new()
        } else {
            self.named(name, number, check)
        };
        // Each finding gets its place from the doubt at the same index.
        if findings.len() != extent.doubts.len() {
            return Err(NotPlain);
        }
        if self.is_outer() {
            // An element that is taken whole is never kept verbatim.
            self.events.forget();
        }
        let mark = self.events.skip(ahead.gap);
        self.events
            // A unit is counted separately, and has been bounded above.
            .take(if unit { 0 } else { extent.elements }, extent.held);
        if findings.is_empty() {
            self.events.skip(extent.bytes);
        } else {
            self.report_scanned(extent, findings);
        }
        let (index, repeats) = (number.unwrap_or_default(), number.is_some());
        self.open.push(Step {
            name,
            index,
            repeats,
            mark,
            last: None,
            extras: self.parts.len(),
            sequence: self.sequence,
            // Nothing was set aside for this element, so there is nothing to restore at its end.
            outer: None,
        });
        Ok(())
    }

    /// Returns the findings of rules beyond the schema in a scanned element.
    #[cold]
    fn named(
        &self,
        name: &str,
        number: Option<usize>,
        check: &dyn Fn(&'static Shape, String, u8) -> Vec<Finding>,
    ) -> Vec<Finding> {
        let mut path = self.path();
        push_step(&mut path, name, number);
        check(self.shape, path, self.schema)
    }

    #[cold]
    fn report_scanned(&mut self, extent: &Extent, findings: Vec<Finding>) {
        let mut found: Vec<(Finding, usize, Mark)> = findings
            .into_iter()
            .zip(&extent.doubts)
            .map(|(finding, at)| (finding, *at, Mark::default()))
            .collect();
        // The source is passed in the order of the document, whereas the findings of an element
        // follow those of its children.
        let mut order: Vec<&mut (Finding, usize, Mark)> = found.iter_mut().collect();
        order.sort_by_key(|(_, at, _)| *at);
        let mut passed = 0;
        for (_, at, mark) in order {
            *mark = self.events.skip(*at - passed);
            passed = *at;
        }
        self.events.skip(extent.bytes - passed);
        for (finding, _, mark) in found {
            self.report_at(finding.kind, finding.path, mark);
        }
    }
}

/// Returns the text from the start tag on without the prefix. If there was a prefix, also returns
/// the number of bytes that the element had with it.
#[inline]
fn text_ahead<'p>(
    text: &'p str,
    tag: &'static Tag,
    ahead: Ahead,
    plain: &'p mut String,
) -> Result<(&'p str, Option<usize>), NotPlain> {
    let text = text.get(ahead.gap..).ok_or(NotPlain)?;
    if ahead.prefix == 0 {
        return Ok((text, None));
    }
    let prefix = text.get(1..=ahead.prefix).ok_or(NotPlain)?;
    let bytes = strip(text, prefix, tag.wire, plain).ok_or(NotPlain)?;
    Ok((plain, Some(bytes)))
}

impl Extent {
    /// Returns the extent of the element that a scanner has read from a text. `stripped` is the
    /// length that the text had before it was stripped of a prefix of this many bytes.
    fn of(
        scanner: &Scanner<'_>,
        text: &str,
        stripped: Option<usize>,
        prefix: usize,
    ) -> Result<Self, NotPlain> {
        let left = scanner.rest().len();
        scanner.check_held(0, left)?;
        let bytes = match stripped {
            None => text.len() - left,
            // With text left, the length that the element had with its prefixes is unknown.
            Some(bytes) if left == 0 => bytes,
            Some(_) => return Err(NotPlain),
        };
        Ok(Self {
            elements: scanner.elements()?,
            bytes,
            held: scanner.held(),
            doubts: doubts(scanner, text, prefix),
        })
    }
}

/// Returns the places of the elements that break a rule beyond the schema. Places are in bytes from
/// the start of the scanned text, before it was stripped of a prefix of this many bytes.
#[inline]
fn doubts(scanner: &Scanner<'_>, text: &str, prefix: usize) -> Vec<usize> {
    let doubts = scanner.doubts();
    if doubts.is_empty() {
        Vec::new()
    } else {
        doubts
            .iter()
            .map(|at| unstripped(text, *at, prefix))
            .collect()
    }
}

/// Returns the place that a byte had before every tag was stripped of a prefix.
#[cold]
fn unstripped(text: &str, at: usize, prefix: usize) -> usize {
    let mut tags = 0;
    let mut rest = text.get(..at).unwrap_or_default();
    if prefix == 0 {
        return at;
    }
    while let Some((_, after)) = rest.split_once('<') {
        // In comments and CDATA sections `<` begins no tag and lost no prefix.
        let end = if after.starts_with("!--") {
            "-->"
        } else if after.starts_with('!') {
            "]]>"
        } else {
            tags += 1;
            rest = after;
            continue;
        };
        rest = after.split_once(end).map_or("", |(_, after)| after);
    }
    at + tags * prefix
}
