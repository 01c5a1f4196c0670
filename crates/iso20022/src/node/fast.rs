//! Where the cursor calls the fast reader: for elements in the message or in a group.
//!
//! The fast reader takes an element whole or not at all, and only if it is as the writer writes it. The element may
//! break rules beyond the schema: the fast reader notes the place and the checker reports the rule, so that both
//! readers report the same.

use crate::check::Checker;
use crate::field::Tag;
use crate::finding::Finding;
use crate::node::Node;
use crate::read::{Cursor, Mark, Step, Tokens, ends_name, strip};
use crate::scan::{Odd, Scanner};

/// How many bytes are read ahead to bring the end of an element into memory.
const AHEAD: usize = 64 * 1024;
/// No tag of a schema has more bytes.
const TAG: usize = 64;

/// The text before the name of the next element.
#[derive(Clone, Copy)]
struct Next {
    /// Bytes of white space.
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
    /// The content of the sequence whose start tag has just been read, up to its end tag, if it is as the writer writes
    /// it, perhaps under a prefix. Otherwise nothing has been read.
    pub(super) fn scan_content<N: Node>(&mut self) -> Option<N> {
        let name = self.path.last()?.name;
        let tag = &self.events.tag;
        let bare = tag.attributes().is_empty() && tag.local_name() == name && !self.events.empty;
        if !bare || !self.shape.is_scanned(self.path.len() - 1, name) || !self.may_scan(tag.prefix()) {
            return None;
        }
        let mut plain = std::mem::take(&mut self.plain);
        let mut extent = Extent::default();
        let node = self.content_ahead(name, &mut plain, &mut extent);
        self.plain = plain;
        let findings = self.accept(&node, &mut extent, self.events.elements, || self.path.text());
        let findings = self.count(findings)?;
        self.events.elements += extent.elements;
        self.pass_over(&extent, findings);
        node.ok()
    }

    fn content_ahead<N: Node>(&self, name: &str, plain: &mut String, extent: &mut Extent) -> Result<N, Odd> {
        let ahead = self.events.tokens.ahead();
        let prefix = self.events.tag.name().strip_suffix(name).ok_or(Odd)?;
        let stripped = if prefix.is_empty() { 0 } else { strip(ahead, prefix, name, plain).ok_or(Odd)? };
        let text = if prefix.is_empty() { ahead } else { plain };
        let mut scanner = Scanner::new(text, &self.events.limits, self.free());
        let node = N::scan(&mut scanner)?;
        scanner.check_held(0)?;
        let end = scanner.rest().strip_prefix("</").and_then(|rest| rest.strip_prefix(name)).ok_or(Odd)?;
        let bytes = match stripped {
            0 if end.starts_with('>') => text.len() - scanner.rest().len(),
            1.. if end == ">" => stripped - prefix.len() - scanner.rest().len(),
            _ => return Err(Odd),
        };
        *extent = Extent {
            elements: scanner.elements()?,
            bytes,
            held: scanner.held(),
            doubts: doubts(&scanner, text, prefix.len()),
        };
        Ok(node)
    }

    /// The next element of a group, if it is a `tag` as the writer writes it, perhaps under a prefix. Otherwise nothing
    /// has been read.
    pub(crate) fn scan_element<N: Node>(&mut self, tag: &'static Tag, index: usize) -> Result<N, Odd> {
        let next = self.next_ahead(tag).ok_or(Odd)?;
        // A unit is counted by itself, but its tag has to be within what the group may have.
        let unit = tag.wire == self.shape.unit;
        let used = self.events.elements;
        if unit && used >= self.events.limits.entry_elements {
            return Err(Odd);
        }
        let mut plain = std::mem::take(&mut self.plain);
        let mut extent = Extent::default();
        let mut node = self.element_ahead::<N>(tag, next, &mut plain, &mut extent);
        if node.is_err() && self.end_comes(tag, next) {
            node = self.element_ahead(tag, next, &mut plain, &mut extent);
        }
        self.plain = plain;
        let mut step =
            Step { name: tag.wire, index, repeats: true, mark: Mark::default(), last: None, extras: 0, outer: None };
        let place = || {
            let mut path = self.path.text();
            step.append_to(&mut path);
            path
        };
        let findings = self.accept(&node, &mut extent, if unit { 0 } else { used }, place);
        let findings = self.count(findings).ok_or(Odd)?;
        self.events.elements = if unit { used } else { used + extent.elements };
        if self.is_in_group() {
            self.events.tokens.forget();
        }
        self.events.tokens.skip(next.gap);
        step.mark = self.events.tokens.mark();
        step.extras = self.keeper.count();
        self.pass_over(&extent, findings);
        self.path.push(step);
        if let Ok(node) = &node {
            node.settle(self);
        }
        self.leave();
        node
    }

    /// `None` when something else is next, or what scanning does not watch is in the way.
    fn next_ahead(&self, tag: &'static Tag) -> Option<Next> {
        if !self.shape.is_in_group(self.path.len()) || self.events.empty {
            return None;
        }
        let ahead = self.events.tokens.ahead();
        let mut scanner = Scanner::new(ahead, &self.events.limits, 0);
        scanner.gap();
        let text = scanner.rest();
        let gap = ahead.len() - text.len();
        if text.starts_with(tag.open) {
            return self.may_scan(None).then_some(Next { gap, prefix: 0 });
        }
        let named = text.strip_prefix('<')?;
        let prefix = self.events.namespaces.our_prefix(named)?;
        let rest = named.get(prefix.len() + 1..)?.strip_prefix(tag.wire)?;
        (rest.starts_with('>') && self.may_scan(Some(prefix))).then_some(Next { gap, prefix: prefix.len() + 1 })
    }

    fn element_ahead<N: Node>(
        &self,
        tag: &'static Tag,
        next: Next,
        plain: &mut String,
        extent: &mut Extent,
    ) -> Result<N, Odd> {
        let ahead = self.events.tokens.ahead().get(next.gap..).ok_or(Odd)?;
        let prefix = ahead.get(1..=next.prefix).ok_or(Odd)?;
        let stripped = if prefix.is_empty() { 0 } else { strip(ahead, prefix, tag.wire, plain).ok_or(Odd)? };
        let text = if prefix.is_empty() { ahead } else { plain };
        let mut scanner = Scanner::new(text, &self.events.limits, self.free());
        let node = scanner.bare_element(tag);
        if node.is_ok() {
            scanner.check_held(0)?;
            let bytes = match stripped {
                0 => text.len() - scanner.rest().len(),
                1.. if scanner.rest().is_empty() => stripped,
                _ => return Err(Odd),
            };
            *extent = Extent {
                elements: scanner.elements()?,
                bytes,
                held: scanner.held(),
                doubts: doubts(&scanner, text, prefix.len()),
            };
        }
        node
    }

    /// Bytes of memory that may still be taken.
    #[inline]
    fn free(&self) -> usize {
        usize::try_from(self.events.may_hold().saturating_sub(self.events.held)).unwrap_or(usize::MAX)
    }

    /// Reads on until the end of the next element is in memory, when it was not; false when it was, or is too far away.
    #[cold]
    fn end_comes(&mut self, tag: &'static Tag, next: Next) -> bool {
        let tokens = &mut self.events.tokens;
        let prefix = tokens.ahead().get(next.gap + 1..=next.gap + next.prefix).unwrap_or_default();
        let end = format!("</{prefix}{}", tag.wire);
        let mut searched = 0;
        let mut came = false;
        loop {
            let ahead = tokens.ahead().as_bytes();
            let rest = ahead.get(searched..).unwrap_or_default();
            if ahead.len() > AHEAD {
                return false;
            }
            // Any spelling of the end tag will do, so that the bytes after it are not searched again for the next
            // element.
            if memchr::memmem::find_iter(rest, &end).any(|at| rest.get(at + end.len()).is_some_and(|b| ends_name(*b))) {
                return came;
            }
            searched = ahead.len().saturating_sub(end.len());
            came = tokens.more();
            if !came {
                return false;
            }
        }
    }

    /// What breaks a rule beyond the schema in a scanned element, named by the checker; `None` when the element was odd
    /// or has too many elements after `before`, or when the checker does not agree on how much there is to report.
    fn accept<N: Node>(
        &self,
        scanned: &Result<N, Odd>,
        extent: &mut Extent,
        before: usize,
        path: impl FnOnce() -> String,
    ) -> Option<Vec<Finding>> {
        let node = scanned.as_ref().ok()?;
        if before.saturating_add(extent.elements) > self.events.limits.entry_elements {
            return None;
        }
        if extent.doubts.is_empty() {
            return Some(Vec::new());
        }
        let mut checker = Checker::within(self.shape, path());
        node.check(&mut checker);
        let findings = checker.into_findings();
        (findings.len() == extent.doubts.len()).then_some(findings)
    }

    #[inline]
    fn count<F>(&mut self, findings: Option<F>) -> Option<F> {
        match findings {
            Some(_) => self.fast.taken += 1,
            None => self.fast.declined += 1,
        }
        findings
    }

    /// Passes over what was scanned and reports what was found in it.
    #[inline]
    fn pass_over(&mut self, extent: &Extent, findings: Vec<Finding>) {
        if findings.is_empty() {
            self.events.tokens.skip(extent.bytes);
        } else {
            self.report_scanned(extent, findings);
        }
        self.events.mark = self.events.tokens.mark();
        self.events.held += u64::try_from(extent.held).unwrap_or_default();
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
        let (ours, longest) = match prefix {
            None => (namespaces.default_is_ours(), TAG),
            Some(prefix) => (namespaces.is_ours(prefix) == Some(true), TAG + prefix.len()),
        };
        self.fast.on && limits.depth >= self.shape.depth && limits.token_bytes >= longest && ours
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
