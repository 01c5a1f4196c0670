//! Where the cursor calls the fast reader: before each element of a sequence, except for groups.
//!
//! The fast reader takes an element whole or not at all, and only if it is as the writer writes it. Any other element
//! is read over events; if it is a sequence, the fast reader is asked again for each of its children. The element may
//! break rules beyond the schema: the fast reader notes the place and the checker reports the rule, so that both
//! readers report the same.

use super::record::Record;
use crate::check::Checker;
use crate::field::{Field, Tag};
use crate::finding::Finding;
use crate::node::Node;
use crate::read::{Cursor, Halt, Mark, Step, Tokens, ends_name, strip};
use crate::scan::{Odd, Scanner};

/// How many bytes are read ahead to bring the end of an element into memory.
const AHEAD: usize = 64 * 1024;
/// No tag of a schema has more bytes.
const TAG: usize = 64;

/// The bytes before the name of the next element of a sequence, whose start tag is as the writer writes it.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// Bytes of white space and comments.
    gap: usize,
    /// Bytes of the prefix with its colon; none without a prefix.
    prefix: usize,
}

/// How much has been scanned.
#[derive(Default)]
struct Extent {
    elements: usize,
    bytes: usize,
    /// Bytes of memory taken.
    held: usize,
    /// Where the elements start that break a rule beyond the schema, in the order of the findings.
    doubts: Vec<usize>,
}

impl<T: Tokens> Cursor<T> {
    /// Reads elements of a sequence into their places as long as they follow as the writer writes them, from the field
    /// `at` on. Elements of the name `handed_out`, empty for none, are left. Returns the next field, if its start tag
    /// is so written.
    pub(crate) fn read_ahead<R: Record>(
        &mut self,
        slots: &mut R::Slots,
        at: &mut usize,
        handed_out: &str,
    ) -> Result<Option<(usize, Ahead)>, Halt> {
        // What was read last is bounded now: who passes over an element forgets where that began.
        self.events.advance()?;
        loop {
            let next = self.field_ahead(R::FIELDS, *at);
            match next {
                Some((index, ahead))
                    if R::FIELDS.get(index).is_some_and(|field| field.wire != handed_out)
                        && R::take_ahead(slots, index, ahead, self)? =>
                {
                    *at = index;
                }
                _ => return Ok(next),
            }
        }
    }

    /// The field, from `at` on, whose element is next, if the start tag is as the writer writes it, perhaps under a
    /// prefix. Groups are left, because what is in them is counted apart.
    fn field_ahead(&self, fields: &[Field], at: usize) -> Option<(usize, Ahead)> {
        if self.events.empty {
            return None;
        }
        let ahead = self.events.tokens.ahead();
        let mut scanner = Scanner::new(ahead, &self.events.limits, 0);
        scanner.gap();
        let named = scanner.rest().strip_prefix('<')?;
        let gap = ahead.len() - scanner.rest().len();
        let find = |named: &str| {
            let begins = |field: &Field| named.strip_prefix(field.wire).is_some_and(|rest| rest.starts_with('>'));
            let found = fields.get(at..)?.iter().position(begins)? + at;
            (!self.shape.is_group(self.path.len(), fields.get(found)?.wire)).then_some(found)
        };
        if let Some(index) = find(named) {
            return self.may_scan(None).then_some((index, Ahead { gap, prefix: 0 }));
        }
        let prefix = self.events.namespaces.our_prefix(named)?;
        let index = find(named.get(prefix.len() + 1..)?)?;
        self.may_scan(Some(prefix)).then_some((index, Ahead { gap, prefix: prefix.len() + 1 }))
    }

    /// Reads the next element if all of it is as the writer writes it. Otherwise nothing has been read. `number` is its
    /// number among those of its name, from 0, if the schema allows several. `keep` takes it from where it was read, so
    /// that it is moved only once.
    pub(crate) fn scan_element<N: Node>(
        &mut self,
        tag: &'static Tag,
        number: Option<usize>,
        ahead: Ahead,
        keep: impl FnOnce(N),
    ) -> Result<(), Odd> {
        let mut plain = std::mem::take(&mut self.plain);
        let mut extent = Extent::default();
        let node = self.element_ahead::<N>(tag, ahead, &mut plain, &mut extent);
        self.plain = plain;
        if node.is_err() && self.end_comes(tag, ahead) {
            // Now the end is in memory, so it is read again only once.
            return self.scan_element(tag, number, ahead, keep);
        }
        let accepted = match &node {
            Ok(node) => self.accept(tag, number, ahead, &extent, &|checker| node.check(checker)),
            Err(Odd) => Err(Odd),
        };
        if accepted.is_err() {
            self.fast.declined += 1;
            return Err(Odd);
        }
        self.fast.taken += 1;
        let node = node?;
        node.settle(self);
        self.leave();
        keep(node);
        Ok(())
    }

    #[inline(always)]
    fn element_ahead<N: Node>(
        &self,
        tag: &'static Tag,
        ahead: Ahead,
        plain: &mut String,
        extent: &mut Extent,
    ) -> Result<N, Odd> {
        let (text, stripped) = self.text_ahead(tag, ahead, plain)?;
        let mut scanner = Scanner::new(text, &self.events.limits, self.free());
        let node = scanner.bare_element(tag);
        if node.is_ok() {
            extent.measure(&scanner, text, stripped, ahead.prefix)?;
        }
        node
    }

    /// The text from the start tag on, stripped of the prefix if there is one, and how many bytes the element then had
    /// with it.
    fn text_ahead<'p>(
        &'p self,
        tag: &'static Tag,
        ahead: Ahead,
        plain: &'p mut String,
    ) -> Result<(&'p str, Option<usize>), Odd> {
        let text = self.events.tokens.ahead().get(ahead.gap..).ok_or(Odd)?;
        if ahead.prefix == 0 {
            return Ok((text, None));
        }
        let prefix = text.get(1..=ahead.prefix).ok_or(Odd)?;
        let bytes = strip(text, prefix, tag.wire, plain).ok_or(Odd)?;
        Ok((plain, Some(bytes)))
    }

    /// Bytes of memory that may still be taken.
    #[inline]
    fn free(&self) -> usize {
        usize::try_from(self.events.may_hold().saturating_sub(self.events.held)).unwrap_or(usize::MAX)
    }

    /// Reads on until the end of the next element is in memory, when it was not; false when it was, or is too far away.
    #[cold]
    fn end_comes(&mut self, tag: &'static Tag, ahead: Ahead) -> bool {
        let tokens = &mut self.events.tokens;
        let prefix = tokens.ahead().get(ahead.gap + 1..=ahead.gap + ahead.prefix).unwrap_or_default();
        let end = format!("</{prefix}{}", tag.wire);
        let mut searched = 0;
        let mut came = false;
        loop {
            let text = tokens.ahead().as_bytes();
            let rest = text.get(searched..).unwrap_or_default();
            if text.len() > AHEAD {
                return false;
            }
            // Any spelling of the end tag will do, so that the bytes after it are not searched again for the next
            // element.
            if memchr::memmem::find_iter(rest, &end).any(|at| rest.get(at + end.len()).is_some_and(|b| ends_name(*b))) {
                return came;
            }
            searched = text.len().saturating_sub(end.len());
            came = tokens.more();
            if !came {
                return false;
            }
        }
    }

    /// Passes over a scanned element, which becomes the current one, and reports what breaks a rule beyond the schema
    /// in it, as the checker names it. `Odd` when the element has too many elements in it, or when the checker does not
    /// agree on how much there is to report; then nothing is read.
    fn accept(
        &mut self,
        tag: &'static Tag,
        number: Option<usize>,
        ahead: Ahead,
        extent: &Extent,
        check: &dyn Fn(&mut Checker),
    ) -> Result<(), Odd> {
        // A unit is counted by itself, but its tag has to be within what the group may have.
        let most = self.events.limits.entry_elements;
        let used = self.events.elements;
        let unit = self.shape.is_unit(self.path.len(), tag.wire);
        let before = if unit { 0 } else { used };
        if before.saturating_add(extent.elements) > most || (unit && used >= most) {
            return Err(Odd);
        }
        let (index, repeats) = (number.unwrap_or_default(), number.is_some());
        let mut step =
            Step { name: tag.wire, index, repeats, mark: Mark::default(), last: None, extras: 0, outer: None };
        let findings =
            if extent.doubts.is_empty() { Vec::new() } else { self.named(&extent.doubts, &step, check).ok_or(Odd)? };
        if !unit {
            self.events.elements += extent.elements;
        }
        if self.is_outer() {
            self.events.tokens.forget();
        }
        self.events.tokens.skip(ahead.gap);
        step.mark = self.events.tokens.mark();
        step.extras = self.keeper.count();
        if findings.is_empty() {
            self.events.tokens.skip(extent.bytes);
        } else {
            self.report_scanned(extent, findings);
        }
        self.events.mark = self.events.tokens.mark();
        self.events.held += u64::try_from(extent.held).unwrap_or_default();
        self.path.push(step);
        Ok(())
    }

    /// What breaks a rule beyond the schema in a scanned element, named by the checker; `None` when it does not agree
    /// on how much there is to report.
    #[cold]
    fn named(&self, doubts: &[usize], step: &Step, check: &dyn Fn(&mut Checker)) -> Option<Vec<Finding>> {
        let mut path = self.path.text();
        step.append_to(&mut path);
        let mut checker = Checker::within(self.shape, path);
        check(&mut checker);
        let findings = checker.into_findings();
        (findings.len() == doubts.len()).then_some(findings)
    }

    #[cold]
    fn report_scanned(&mut self, extent: &Extent, findings: Vec<Finding>) {
        let mut found: Vec<(Finding, usize, Mark)> =
            findings.into_iter().zip(&extent.doubts).map(|(finding, at)| (finding, *at, Mark::default())).collect();
        // Places are passed in the order of the document; what is found in an element comes before what is found of it.
        let mut order: Vec<&mut (Finding, usize, Mark)> = found.iter_mut().collect();
        order.sort_by_key(|(_, at, _)| *at);
        let mut passed = 0;
        for (_, at, mark) in order {
            self.events.tokens.skip(*at - passed);
            passed = *at;
            *mark = self.events.tokens.mark();
        }
        self.events.tokens.skip(extent.bytes - passed);
        for (finding, _, mark) in found {
            self.report_at(finding.kind, finding.path, mark);
        }
    }

    /// False where a limit or a namespace is in the way that scanning does not watch.
    #[inline]
    fn may_scan(&self, prefix: Option<&str>) -> bool {
        let limits = &self.events.limits;
        let namespaces = &self.events.namespaces;
        // A document that is judged within another has elements around it.
        let depth = self.shape.depth + self.events.depth.saturating_sub(self.path.len());
        let (ours, longest) = match prefix {
            None => (namespaces.default_is_ours(), TAG),
            Some(prefix) => (namespaces.is_ours(prefix) == Some(true), TAG + prefix.len()),
        };
        self.fast.on && limits.depth >= depth && limits.token_bytes >= longest && ours
    }
}

impl Extent {
    /// That of the element before the end of what a scanner has read of a text. `stripped` is the length that the text
    /// had before it was stripped of a prefix of so many bytes.
    fn measure(
        &mut self,
        scanner: &Scanner<'_>,
        text: &str,
        stripped: Option<usize>,
        prefix: usize,
    ) -> Result<(), Odd> {
        let left = scanner.rest().len();
        scanner.check_held(0, left)?;
        self.bytes = match stripped {
            None => text.len() - left,
            Some(bytes) if left == 0 => bytes,
            Some(_) => return Err(Odd),
        };
        self.elements = scanner.elements()?;
        self.held = scanner.held();
        self.doubts = doubts(scanner, text, prefix);
        Ok(())
    }
}

/// Where elements start that break a rule beyond the schema, in bytes from the start of a scanned text as it was before
/// it was stripped of a prefix of so many bytes.
#[inline]
fn doubts(scanner: &Scanner<'_>, text: &str, prefix: usize) -> Vec<usize> {
    let doubts = scanner.doubts();
    if doubts.is_empty() { Vec::new() } else { doubts.iter().map(|at| unstripped(text, *at, prefix)).collect() }
}

/// A place in a text as it was before every tag was stripped of a prefix.
#[cold]
fn unstripped(text: &str, at: usize, prefix: usize) -> usize {
    let mut tags = 0;
    let mut rest = text.get(..at).unwrap_or_default();
    if prefix == 0 {
        return at;
    }
    while let Some((_, after)) = rest.split_once('<') {
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
