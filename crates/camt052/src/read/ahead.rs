//! Where the cursor lets the fast reader try: below a report, and at the group header.

use super::cursor::{Cursor, Step};
use super::scan::{DEPTH, Odd, Scanner, TAG};
use super::strip::strip;
use super::tokens::Tokens;
use crate::schema::{Node, Tag};

/// The open elements at a report: `Document`, the message, the report.
const REPORT: usize = 3;

/// What has been scanned.
struct Scanned<N> {
    node: N,
    /// Elements in it.
    elements: usize,
    /// Octets of white space before it, and of itself.
    gap: usize,
    length: usize,
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
        let scanned = self.content_ahead(name, &mut plain);
        self.plain = plain;
        let Scanned { node, elements, length, .. } = self.accept(scanned, self.used.elements)?;
        self.tokens.skip(length);
        self.mark = self.tokens.mark();
        self.used.elements = elements;
        Some(node)
    }

    fn content_ahead<N: Node>(&self, name: &str, plain: &mut String) -> Result<Scanned<N>, Odd> {
        let ahead = self.tokens.ahead();
        let prefix = self.tag.prefix();
        let stripped = match prefix {
            Some(prefix) => Some(strip(ahead, prefix, name, plain).ok_or(Odd)?),
            None => None,
        };
        let text = if stripped.is_some() { plain } else { ahead };
        let mut scanner = Scanner::new(text, &self.options.limits);
        let node = N::scan(&mut scanner)?;
        let end = scanner.rest().strip_prefix("</").and_then(|rest| rest.strip_prefix(name)).ok_or(Odd)?;
        let length = match (stripped, prefix) {
            (Some(length), Some(prefix)) if end == ">" => length - "</:>".len() - prefix.len() - name.len(),
            (None, _) if end.starts_with('>') => ahead.len() - scanner.rest().len(),
            _ => return Err(Odd),
        };
        Ok(Scanned { node, elements: scanner.elements()?, gap: 0, length })
    }

    /// The next element of a report, if it is a `tag` as this crate writes it, perhaps under a prefix. Otherwise nothing
    /// has been read.
    pub(crate) fn scan_element<N: Node>(&mut self, tag: &'static Tag, index: usize) -> Option<N> {
        // An entry is counted by itself, but its tag has to be within what the report may have.
        let entry = tag.wire == "Ntry";
        let used = self.used.elements;
        if self.path.len() != REPORT || self.empty || (entry && used >= self.options.limits.entry_elements) {
            return None;
        }
        let mut plain = std::mem::take(&mut self.plain);
        let scanned = self.element_ahead(tag, &mut plain);
        self.plain = plain;
        let before = if entry { 0 } else { used };
        let Scanned::<N> { node, elements, gap, length } = self.accept(scanned?, before)?;
        self.tokens.skip(gap);
        let mark = self.tokens.mark();
        self.tokens.skip(length);
        self.mark = self.tokens.mark();
        self.used.elements = if entry { used } else { elements };
        let extras = self.extras.len();
        self.path.push(Step { name: tag.wire, index, repeats: true, mark, last: None, extras, outer: None });
        node.settle(self);
        self.leave();
        Some(node)
    }

    /// `None` when something else is next.
    fn element_ahead<N: Node>(&self, tag: &'static Tag, plain: &mut String) -> Option<Result<Scanned<N>, Odd>> {
        let ahead = self.tokens.ahead();
        let mut scanner = Scanner::new(ahead, &self.options.limits);
        scanner.gap();
        let text = scanner.rest();
        let gap = ahead.len() - text.len();
        if text.starts_with(tag.open) {
            if !self.may_scan(None) {
                return None;
            }
            return Some(scanner.bare_element(tag).and_then(|node| {
                Ok(Scanned { node, elements: scanner.elements()?, gap, length: text.len() - scanner.rest().len() })
            }));
        }
        let prefix = self.namespaces.our_prefix(text.strip_prefix('<')?)?;
        let named = text.strip_prefix('<')?.strip_prefix(prefix)?.strip_prefix(':')?;
        if !named.strip_prefix(tag.wire)?.starts_with('>') || !self.may_scan(Some(prefix)) {
            return None;
        }
        let Some(length) = strip(text, prefix, tag.wire, plain) else { return Some(Err(Odd)) };
        let mut scanner = Scanner::new(plain, &self.options.limits);
        Some(scanner.bare_element(tag).and_then(|node| {
            let elements = scanner.elements()?;
            if scanner.rest().is_empty() { Ok(Scanned { node, elements, gap, length }) } else { Err(Odd) }
        }))
    }

    /// What was scanned, unless it was odd or has too many elements; with the count of elements after it.
    fn accept<N>(&mut self, scanned: Result<Scanned<N>, Odd>, before: usize) -> Option<Scanned<N>> {
        let accepted = scanned
            .ok()
            .map(|found| Scanned { elements: before.saturating_add(found.elements), ..found })
            .filter(|found| found.elements <= self.options.limits.entry_elements);
        #[cfg(test)]
        if accepted.is_some() {
            self.scanned += 1;
        } else {
            self.declined += 1;
        }
        accepted
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
mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::read::decode::Decoded;
    use crate::read::options::ReadOptions;
    use crate::read::tokens::{StreamTokens, TextTokens};
    use crate::{Document, WriteOptions};
    use arbitrary::{Arbitrary, Unstructured};
    use proptest::prelude::*;

    type Outcome = Result<(Document, Vec<Finding>), String>;

    /// What reading a document came to, and how often the fast reader took an element or did not.
    fn read<T: Tokens>(tokens: T, options: ReadOptions, scanning: bool) -> (Outcome, usize, usize) {
        let mut cursor = Cursor::new(tokens, options);
        cursor.scanning = scanning;
        let outcome = match cursor.document() {
            Ok(document) => Ok((document, std::mem::take(&mut cursor.findings))),
            Err(error) => Err(format!("{error:?}")),
        };
        (outcome, cursor.scanned, cursor.declined)
    }

    /// Reads a text with and without the fast reader, and as a stream.
    fn assert_same(xml: &str, options: ReadOptions) -> (usize, usize) {
        let (with, scanned, declined) = read(TextTokens::new(xml), options, true);
        let (without, none, _) = read(TextTokens::new(xml), options, false);
        assert_eq!(none, 0);
        assert_eq!(with, without, "{xml}");
        let stream = || StreamTokens::new(Decoded::new(xml.as_bytes(), options.limits));
        let (with, streamed, _) = read(stream(), options, true);
        assert_eq!(with, read(stream(), options, false).0, "{xml}");
        // What lies whole in one piece of the source is scanned there, too.
        if with.is_ok() && declined == 0 && xml.len() < 16_384 {
            assert_eq!(scanned, streamed, "{xml}");
        }
        (scanned, declined)
    }

    fn invented(octets: &[u8]) -> Document {
        Document::arbitrary(&mut Unstructured::new(octets)).unwrap()
    }

    /// Replaces what stands at a place, given by a number, by markup and values that a hand would write.
    fn mutated(xml: &str, place: usize, change: usize) -> String {
        const CHANGES: [&str; 24] = [
            "<",
            ">",
            "&",
            "&amp;",
            "&#65;",
            "&x;",
            "]]>",
            "<!-- c -->",
            "<![CDATA[x]]>",
            "<?p i?>",
            " ",
            "\n\t",
            "\r\n",
            "x",
            "<x/>",
            "<Amt>1</Amt>",
            "<Nm>",
            "</Nm>",
            "\"",
            "'",
            " a=\"b\"",
            "0",
            "-",
            "👍",
        ];
        let mut start = place % xml.len();
        while !xml.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (start + change / CHANGES.len() % 3).min(xml.len());
        while !xml.is_char_boundary(end) {
            end += 1;
        }
        format!("{}{}{}", &xml[..start], CHANGES[change % CHANGES.len()], &xml[end..])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn both_readers_give_the_same(
            octets in proptest::collection::vec(any::<u8>(), 0..1500),
            changes in proptest::collection::vec((any::<usize>(), any::<usize>()), 12),
            indent in proptest::option::of(0_u8..3),
        ) {
            let document = invented(&octets);
            let xml = document.to_xml_with(WriteOptions { indent, schema_valid: true }).unwrap();
            assert_same(&xml, ReadOptions::default());
            for (place, change) in changes {
                assert_same(&mutated(&xml, place, change), ReadOptions::default());
            }
        }

        #[test]
        fn limits_hold_in_both_readers(octets in proptest::collection::vec(any::<u8>(), 200..1500), limit in 1_usize..80) {
            let xml = invented(&octets).to_xml().unwrap();
            let named = prefixed(&xml, limit);
            for which in 0..4 {
                let mut options = ReadOptions::default();
                match which {
                    0 => options.limits.depth = limit % 20,
                    1 => options.limits.entry_elements = limit,
                    2 => options.limits.text_bytes = limit,
                    _ => options.limits.token_bytes = limit * 4,
                }
                assert_same(&xml, options);
                assert_same(&named, options);
            }
        }
    }

    /// The document with every element under the prefix `p`, which `root` declares beside other namespaces.
    fn prefixed(xml: &str, root: usize) -> String {
        const OURS: &str = "\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"";
        let others = ["", " xmlns=\"urn:x\"", " xmlns=OURS", " xmlns:q=OURS", " xmlns:q=\"urn:x\" xmlns:pp=OURS"];
        let named = xml.replace("</", "\u{1}").replace("<?", "\u{2}").replace('<', "<p:");
        let named = named.replace('\u{1}', "</p:").replace('\u{2}', "<?");
        let others = others[root % others.len()].replace("OURS", OURS);
        named.replacen(&format!(" xmlns={OURS}"), &format!(" xmlns:p={OURS}{others}"), 1)
    }

    /// Takes another prefix, or binds one anew, at one element.
    fn rebound(xml: &str, place: usize, change: usize) -> String {
        let tags: Vec<usize> = xml.match_indices("<p:").map(|(at, _)| at).collect();
        if tags.is_empty() {
            return xml.to_owned();
        }
        let start = tags[place % tags.len()];
        let name = xml[start + 3..].split([' ', '>', '/']).next().unwrap();
        let end = xml[start..].find(&format!("</p:{name}>")).map_or(xml.len(), |end| start + end);
        let (before, tag, rest) = (&xml[..start], &xml[start + 3 + name.len()..end], &xml[end..]);
        let prefix = ["p:", "", "q:", "pp:", "x:"][change % 5];
        let ours = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.06";
        let binding = match change / 5 % 8 {
            0 => format!(" xmlns:{}=\"{ours}\"", prefix.trim_end_matches(':')).replace("xmlns:=", "xmlns="),
            1 => " xmlns:p=\"urn:x\"".to_owned(),
            2 => format!(" xmlns:q=\"{ours}\""),
            3 => " xmlns=\"\"".to_owned(),
            4 => format!(" xmlns:p=\"{ours}\""),
            _ => String::new(),
        };
        let rest = rest.replacen(&format!("</p:{name}"), &format!("</{prefix}{name}"), 1);
        format!("{before}<{prefix}{name}{binding}{tag}{rest}")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn both_readers_give_the_same_under_prefixes(
            octets in proptest::collection::vec(any::<u8>(), 0..1500),
            changes in proptest::collection::vec((any::<usize>(), any::<usize>()), 12),
            indent in proptest::option::of(0_u8..3),
            root in any::<usize>(),
        ) {
            let document = invented(&octets);
            let xml = document.to_xml_with(WriteOptions { indent, schema_valid: true }).unwrap();
            let xml = prefixed(&xml, root);
            assert_same(&xml, ReadOptions::default());
            let mut both = xml.clone();
            for (place, change) in changes {
                assert_same(&mutated(&xml, place, change), ReadOptions::default());
                assert_same(&rebound(&xml, place, change), ReadOptions::default());
                both = rebound(&both, place, change);
                assert_same(&both, ReadOptions::default());
            }
        }
    }

    const ENTRY: &str = "<Ntry><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>";

    fn report(entries: &str) -> String {
        format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"><BkToCstmrAcctRpt><GrpHdr><MsgId>m</MsgId>\
             <CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr><Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id>\
             <Othr><Id>1</Id></Othr></Id><Ccy>AUD</Ccy></Acct>{entries}</Rpt></BkToCstmrAcctRpt></Document>"
        )
    }

    #[test]
    fn the_fast_reader_takes_what_this_crate_writes() {
        let xml = report(&ENTRY.repeat(50));
        for (xml, form) in [(xml.clone(), "compact"), (xml.replace("><", ">\n  <"), "indented")] {
            assert_eq!(assert_same(&xml, ReadOptions::default()), (52, 0), "{form}");
        }
        for root in 0..5 {
            let xml = prefixed(&xml, root);
            assert_eq!(assert_same(&xml, ReadOptions::default()), (52, 0), "{root}");
            // One without the prefix, perhaps unknown then, takes events, and spoils none of its neighbours.
            let mixed = xml.replacen("<p:Ntry>", "<Ntry>", 1).replacen("</p:Ntry>", "</Ntry>", 1);
            assert_eq!(assert_same(&mixed, ReadOptions::default()).0, 51, "{root}");
        }
        let narrative = "<AddtlNtryInf>a &lt; b <![CDATA[&& ]] > c]]> &gt; d &#13;\r\n</AddtlNtryInf></Ntry>";
        let xml = report(&ENTRY.replace("</Ntry>", narrative).repeat(50));
        assert_eq!(assert_same(&xml, ReadOptions::default()), (52, 0));
        let xml = prefixed(&report(&ENTRY.repeat(50)), 0).replace("BOOK", "<![CDATA[BO]]>OK");
        assert_eq!(assert_same(&xml, ReadOptions::default()), (52, 0));
    }

    #[test]
    fn an_odd_entry_does_not_spoil_its_neighbours() {
        for (odd, declined) in [
            (ENTRY.replace("BOOK", "<![CDATA[BO]]>OK<![CDATA[]]>"), 0),
            (ENTRY.replace("BOOK", "MINE"), 2),
            (ENTRY.replace("AUD", "EUR"), 0),
            (ENTRY.replace("<Sts>", "<Sts a=\"b\">"), 2),
            (ENTRY.replace("<Sts>", "<!-- --><Sts>"), 2),
            (ENTRY.replace("<Sts>", "<Sts >"), 2),
            (ENTRY.replace("<Sts>BOOK</Sts>", "").replace("<Amt", "<Sts>BOOK</Sts><Amt"), 2),
            (ENTRY.replace("Ntry>", "x:Ntry>").replace("<x:Ntry", "<x:Ntry xmlns:x=\"urn:x\""), 0),
        ] {
            let xml = report(&format!("{}{odd}{}", ENTRY.repeat(10), ENTRY.repeat(10)));
            let (scanned, found) = assert_same(&xml, ReadOptions::default());
            assert_eq!(found, declined, "{odd}");
            assert!(scanned >= 21, "{scanned} {odd}");
        }
    }
}
