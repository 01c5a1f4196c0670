//! The text after the last event, from which the fast reader takes whole elements.

use super::Events;
use crate::field::Tag;
use crate::read::scan::Scanner;
use crate::read::strip::ends_name;
use crate::read::tokens::Mark;

/// The number of bytes that are read ahead to bring the end of an element into memory.
const MAX_AHEAD_BYTES: usize = 64 * 1024;
/// No tag of a schema has more bytes.
const MAX_TAG_BYTES: usize = 64;

impl Events<'_> {
    /// Returns the text after the last event, as far as it is in memory; empty within an empty
    /// element.
    #[inline]
    pub(super) fn ahead(&self) -> &str {
        if self.empty { "" } else { self.tokens.ahead() }
    }

    /// Returns a scanner of `text`, which has prefixes or not, for a version of the schema.
    #[inline]
    pub(super) fn scanner<'a>(&self, text: &'a str, version: u8) -> Scanner<'a> {
        Scanner::new(text, &self.limits, self.free(), version)
    }

    /// Returns false if a limit or a namespace applies that scanning does not check. `depth` is the
    /// maximum nesting of elements in the schema.
    #[inline]
    pub(super) fn may_scan(&self, prefix: Option<&str>, depth: usize) -> bool {
        let (ours, longest) = match prefix {
            None => (self.namespaces.default_is_ours(), MAX_TAG_BYTES),
            Some(prefix) => (
                self.namespaces.is_ours(prefix) == Some(true),
                MAX_TAG_BYTES + prefix.len(),
            ),
        };
        // Scanning counts neither depth nor bytes of tags: no element of the schema is nested
        // deeper, and no tag is longer.
        self.limits.max_depth - self.wrappers >= depth
            && self.limits.max_token_bytes >= longest
            && ours
    }

    /// Returns true when this many more elements may begin: in the current element or, when they
    /// are a unit, in themselves.
    #[inline]
    pub(super) fn may_begin(&self, elements: usize, unit: bool) -> bool {
        // A unit is counted separately, but its tag counts in the group.
        let most = self.limits.max_entry_elements;
        if unit {
            elements <= most && self.used.elements < most
        } else {
            self.used.elements.saturating_add(elements) <= most
        }
    }

    /// Counts the elements and the memory of a scanned element.
    #[inline]
    pub(super) fn take(&mut self, elements: usize, held: usize) {
        self.used.elements += elements;
        self.add_held(held);
    }

    /// Skips this many bytes of the text ahead; returns the place after them.
    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) -> Mark {
        self.tokens.skip(bytes);
        self.mark = self.tokens.mark();
        self.mark
    }

    /// Stops remembering the text.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.tokens.forget();
    }

    /// Reads on until the end of the next element is in memory. Returns false if the end was in
    /// memory already or is too far away. The element's start tag begins after `gap` bytes, and its
    /// prefix with the colon has `prefix` bytes.
    #[cold]
    pub(super) fn end_comes(&mut self, tag: &'static Tag, gap: usize, prefix: usize) -> bool {
        let prefix = self
            .tokens
            .ahead()
            .get(gap + 1..=gap + prefix)
            .unwrap_or_default();
        let end = format!("</{prefix}{}", tag.wire);
        let mut searched = 0;
        let mut came = false;
        loop {
            let text = self.tokens.ahead().as_bytes();
            let rest = text.get(searched..).unwrap_or_default();
            // Longer elements are left to events, which need no more than one token in memory.
            if text.len() > MAX_AHEAD_BYTES {
                return false;
            }
            // Any spelling of the end tag ends the search, so that the bytes after it are not
            // searched again for the next element. The byte after the name distinguishes `</Amt>`
            // from `</AmtDtls>`.
            if memchr::memmem::find_iter(rest, &end)
                .any(|at| rest.get(at + end.len()).is_some_and(|b| ends_name(*b)))
            {
                return came;
            }
            // An end tag may stand across two pieces, so the last bytes are searched again.
            searched = text.len().saturating_sub(end.len());
            came = self.tokens.more();
            if !came {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::decode::Decoded;
    use crate::read::events::EventsOver;
    use crate::read::tokens::StreamTokens;
    use crate::read::{ReadLimits, ReadOptions};

    #[test]
    fn the_end_of_an_element_is_looked_for_in_64_kib() {
        const TAG: &Tag = &Tag {
            wire: "Itm",
            start: "<Itm",
            open: "<Itm>",
            close: "</Itm>",
        };
        for (content, comes) in [
            (20, true),
            (40_000, true),
            (60_000, true),
            (120_000, false),
            (400_000, false),
        ] {
            let xml = format!("<Itm>{}</Itm>", "a".repeat(content));
            let tokens = StreamTokens::new(Decoded::new(xml.as_bytes(), &ReadOptions::default()));
            let mut events = EventsOver::new(tokens, ReadLimits::default(), "urn:x");
            let events: &mut Events<'_> = &mut events;
            assert!(events.tokens.more());
            assert_eq!(events.end_comes(TAG, 0, 0), comes, "{content}");
            // The source is read in pieces of 32 KiB.
            assert!(events.ahead().len() < 96 * 1024, "{}", events.ahead().len());
        }
    }
}
