//! Where the cursor lets the fast reader try: below a report, and at the group header.

use super::cursor::{Cursor, Step};
use super::scan::{DEPTH, Odd, Scanner, TAG};
use super::strip::{ends_name, strip};
use super::tokens::Tokens;
use crate::schema::{Node, Tag};

/// The open elements at a report: `Document`, the message, the report.
const REPORT: usize = 3;

/// An element whose end is not within so many octets is not waited for.
const AHEAD: usize = 64 * 1024;

/// What stands before the name of the next element.
#[derive(Clone, Copy)]
struct Next {
    /// Octets of white space.
    gap: usize,
    /// Octets of the prefix with its colon; none without a prefix.
    prefix: usize,
}

/// How much has been scanned.
#[derive(Clone, Copy, Default)]
struct Extent {
    elements: usize,
    octets: usize,
}

impl<T: Tokens> Cursor<T> {
    /// The content of the sequence whose start tag has just been read, up to its end tag, if it is as this crate writes
    /// it, perhaps under a prefix. Otherwise nothing has been read.
    pub(super) fn scan_content<N: Node>(&mut self) -> Option<N> {
        let name = self.path.last()?.name;
        let here = self.path.len() == REPORT + 1 || (self.path.len() == REPORT && name != "Rpt");
        let bare = self.tag.attributes().is_empty() && self.tag.local_name() == name;
        if !here || self.empty || !bare || !self.may_scan(self.tag.prefix()) {
            return None;
        }
        let mut plain = std::mem::take(&mut self.plain);
        let mut extent = Extent::default();
        let node = self.content_ahead(name, &mut plain, &mut extent);
        self.plain = plain;
        self.used.elements = self.accept(&node, extent, self.used.elements)?;
        self.tokens.skip(extent.octets);
        self.mark = self.tokens.mark();
        node.ok()
    }

    fn content_ahead<N: Node>(&self, name: &str, plain: &mut String, extent: &mut Extent) -> Result<N, Odd> {
        let ahead = self.tokens.ahead();
        let prefix = self.tag.name().strip_suffix(name).ok_or(Odd)?;
        let stripped = if prefix.is_empty() { 0 } else { strip(ahead, prefix, name, plain).ok_or(Odd)? };
        let text = if prefix.is_empty() { ahead } else { plain };
        let mut scanner = Scanner::new(text, &self.options.limits);
        let node = N::scan(&mut scanner)?;
        let end = scanner.rest().strip_prefix("</").and_then(|rest| rest.strip_prefix(name)).ok_or(Odd)?;
        let octets = match stripped {
            0 if end.starts_with('>') => text.len() - scanner.rest().len(),
            1.. if end == ">" => stripped - prefix.len() - scanner.rest().len(),
            _ => return Err(Odd),
        };
        *extent = Extent { elements: scanner.elements()?, octets };
        Ok(node)
    }

    /// The next element of a report, if it is a `tag` as this crate writes it, perhaps under a prefix. Otherwise nothing
    /// has been read.
    pub(crate) fn scan_element<N: Node>(&mut self, tag: &'static Tag, index: usize) -> Result<N, Odd> {
        let next = self.next_ahead(tag).ok_or(Odd)?;
        // An entry is counted by itself, but its tag has to be within what the report may have.
        let entry = tag.wire == "Ntry";
        let used = self.used.elements;
        if entry && used >= self.options.limits.entry_elements {
            return Err(Odd);
        }
        let mut plain = std::mem::take(&mut self.plain);
        let mut extent = Extent::default();
        let mut node = self.element_ahead::<N>(tag, next, &mut plain, &mut extent);
        if node.is_err() && self.end_comes(tag, next) {
            node = self.element_ahead(tag, next, &mut plain, &mut extent);
        }
        self.plain = plain;
        let elements = self.accept(&node, extent, if entry { 0 } else { used }).ok_or(Odd)?;
        self.tokens.skip(next.gap);
        let mark = self.tokens.mark();
        self.tokens.skip(extent.octets);
        self.mark = self.tokens.mark();
        self.used.elements = if entry { used } else { elements };
        let extras = self.extras.len();
        self.path.push(Step { name: tag.wire, index, repeats: true, mark, last: None, extras, outer: None });
        if let Ok(node) = &node {
            node.settle(self);
        }
        self.leave();
        node
    }

    /// `None` when something else is next, or what scanning does not watch is in the way.
    fn next_ahead(&self, tag: &'static Tag) -> Option<Next> {
        if self.path.len() != REPORT || self.empty {
            return None;
        }
        let ahead = self.tokens.ahead();
        let mut scanner = Scanner::new(ahead, &self.options.limits);
        scanner.gap();
        let text = scanner.rest();
        let gap = ahead.len() - text.len();
        if text.starts_with(tag.open) {
            return self.may_scan(None).then_some(Next { gap, prefix: 0 });
        }
        let named = text.strip_prefix('<')?;
        let prefix = self.namespaces.our_prefix(named)?;
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
        let ahead = self.tokens.ahead().get(next.gap..).ok_or(Odd)?;
        let prefix = ahead.get(1..=next.prefix).ok_or(Odd)?;
        let stripped = if prefix.is_empty() { 0 } else { strip(ahead, prefix, tag.wire, plain).ok_or(Odd)? };
        let text = if prefix.is_empty() { ahead } else { plain };
        let mut scanner = Scanner::new(text, &self.options.limits);
        let node = scanner.bare_element(tag);
        if node.is_ok() {
            let octets = match stripped {
                0 => text.len() - scanner.rest().len(),
                1.. if scanner.rest().is_empty() => stripped,
                _ => return Err(Odd),
            };
            *extent = Extent { elements: scanner.elements()?, octets };
        }
        node
    }

    /// Reads on until the end of the next element is in memory, when it was not; false when it was, or is too far away.
    #[cold]
    fn end_comes(&mut self, tag: &'static Tag, next: Next) -> bool {
        let prefix = self.tokens.ahead().get(next.gap + 1..=next.gap + next.prefix).unwrap_or_default();
        let end = format!("</{prefix}{}", tag.wire);
        let mut searched = 0;
        let mut came = false;
        loop {
            let ahead = self.tokens.ahead().as_bytes();
            let rest = ahead.get(searched..).unwrap_or_default();
            if ahead.len() > AHEAD {
                return false;
            }
            // However it is spelled: what follows it is not searched again for the next element.
            if memchr::memmem::find_iter(rest, &end).any(|at| rest.get(at + end.len()).is_some_and(|b| ends_name(*b))) {
                return came;
            }
            searched = ahead.len().saturating_sub(end.len());
            came = self.tokens.more();
            if !came {
                return false;
            }
        }
    }

    /// The count of elements after what was scanned, unless that was odd or has too many.
    fn accept<N>(&mut self, scanned: &Result<N, Odd>, extent: Extent, before: usize) -> Option<usize> {
        let elements = before.saturating_add(extent.elements);
        let accepted = scanned.is_ok() && elements <= self.options.limits.entry_elements;
        #[cfg(test)]
        if accepted {
            self.scanned += 1;
        } else {
            self.declined += 1;
        }
        accepted.then_some(elements)
    }

    /// False where a limit or a namespace is in the way that scanning does not watch.
    #[inline]
    fn may_scan(&self, prefix: Option<&str>) -> bool {
        #[cfg(test)]
        if !self.scanning {
            return false;
        }
        let limits = &self.options.limits;
        let (ours, longest) = match prefix {
            None => (self.namespaces.default_is_ours(), TAG),
            Some(prefix) => (self.namespaces.is_ours(prefix) == Some(true), TAG + prefix.len()),
        };
        limits.depth >= DEPTH && limits.token_bytes >= longest && ours
    }
}

#[cfg(test)]
mod tests;
