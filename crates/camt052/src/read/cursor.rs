//! The cursor: walks a document as the statements of the schema direct, keeps what they do not know, and reports.

use super::attributes::{self, Attribute, malformed};
use super::decode::token_limit;
use super::error::{LimitKind, ReadError, ReadErrorKind};
use super::names::{is_blank, is_plain_name, is_qualified_name};
use super::namespaces::{Namespaces, XML, XMLNS, XSI};
use super::options::{Mode, ReadOptions};
use super::tokens::{Mark, Tokens};
use crate::beyond::Tally;
use crate::NAMESPACE;
use crate::check::{alternatives, fault_kind, push_step};
use crate::extra::{Extra, ExtraPart, ExtraStep, Extras};
use crate::finding::{Finding, FindingKind};
use crate::schema::{Fault, Field, Node, Slot, Unreadable};
use bankrail_values::excerpt;
use quick_xml::events::Event;

/// Reading stopped: the error is final.
pub(crate) type Halt = ReadError;

/// A sequence that can be read element by element.
pub(crate) trait Record: Sized {
    /// The elements read so far.
    type Slots: Clone + Default;
    /// The elements in the order of the schema.
    const FIELDS: &'static [Field];
    /// Reads the element whose start tag has just been read.
    fn take<T: Tokens>(slots: &mut Self::Slots, index: usize, from: &mut Cursor<T>) -> Result<(), Halt>;
    /// Checks that the mandatory elements are there.
    fn finish<T: Tokens>(slots: Self::Slots, from: &mut Cursor<T>) -> Result<Self, Halt>;
}

/// An open element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) index: usize,
    repeats: bool,
    mark: Mark,
    /// The last child that the schema knows.
    last: Option<(&'static str, usize)>,
}

/// The reading end of a document.
pub(crate) struct Cursor<T> {
    pub(super) tokens: T,
    pub(super) options: ReadOptions,
    pub(super) namespaces: Namespaces,
    /// The open elements that the schema knows.
    pub(super) path: Vec<Step>,
    /// All open elements, unknown ones too.
    pub(super) depth: usize,
    /// Where the current event starts.
    pub(super) mark: Mark,
    /// The last start tag: name and attributes as written, and the length of the name.
    pub(super) tag: String,
    pub(super) name_length: usize,
    /// Its attributes, declarations left out.
    pub(super) attributes: Vec<Attribute>,
    /// It was an empty element: its end comes next.
    pub(super) empty: bool,
    text: String,
    pub(super) findings: Vec<Finding>,
    /// Parts beyond the schema that no sequence has taken yet.
    pub(super) extras: Vec<Extra>,
    /// The path's length at the innermost sequence, and the first of its extras.
    pub(super) base: usize,
    first_extra: usize,
    /// Elements since the last entry began.
    pub(super) elements: usize,
    /// The element just begun should have stood before this one.
    late: Option<&'static str>,
    /// What has been counted in the report so far.
    pub(crate) tally: Tally,
}

impl<T: Tokens> Cursor<T> {
    pub(crate) fn new(tokens: T, options: ReadOptions) -> Self {
        Self {
            tokens,
            options,
            namespaces: Namespaces::default(),
            path: Vec::with_capacity(16),
            depth: 0,
            mark: Mark::default(),
            tag: String::new(),
            name_length: 0,
            attributes: Vec::new(),
            empty: false,
            text: String::new(),
            findings: Vec::new(),
            extras: Vec::new(),
            base: 0,
            first_extra: 0,
            elements: 0,
            late: None,
            tally: Tally::default(),
        }
    }

    /// Reads a sequence.
    pub(crate) fn record<R: Record>(&mut self, settle: impl FnOnce(&R, &mut Self)) -> Result<R, Halt> {
        let outer = self.enter_record()?;
        let mut slots = R::Slots::default();
        let mut at = 0;
        while let Some(index) = self.child(R::FIELDS, &mut at)? {
            R::take(&mut slots, index, self)?;
        }
        let record = R::finish(slots, self)?;
        settle(&record, self);
        self.leave_record(outer);
        Ok(record)
    }

    /// Begins a sequence; what is returned belongs to the end of it.
    pub(super) fn enter_record(&mut self) -> Result<(usize, usize), Halt> {
        let outer = (self.base, self.first_extra);
        self.base = self.path.len();
        self.first_extra = self.extras.len();
        self.begin()?;
        Ok(outer)
    }

    pub(super) fn leave_record(&mut self, (base, first_extra): (usize, usize)) {
        self.base = base;
        self.first_extra = first_extra;
        self.leave();
    }

    /// The content of an element that has no attributes in the schema begins.
    #[inline]
    pub(crate) fn begin(&mut self) -> Result<(), Halt> {
        if self.attributes.is_empty() { Ok(()) } else { self.refuse_attributes() }
    }

    /// The extras of the sequence that ends.
    #[inline]
    pub(crate) fn extras(&mut self) -> Extras {
        if self.extras.len() == self.first_extra {
            return Extras::default();
        }
        Extras::from_parts(self.extras.split_off(self.first_extra))
    }

    /// Reads one more occurrence of an element into its place.
    #[inline]
    pub(crate) fn take<S: Slot>(&mut self, slot: &mut S, field: Field) -> Result<(), Halt> {
        let count = slot.count();
        if slot.is_full() {
            self.late = None;
            return self.refuse_repeated(field.wire);
        }
        if field.max > 1 {
            self.set_index(count);
            if u32::try_from(count).unwrap_or(u32::MAX) >= field.max {
                self.report(FindingKind::Repeated { name: field.wire, max: field.max });
            }
        }
        self.report_if_late();
        slot.fill(self)
    }

    #[inline]
    pub(super) fn report_if_late(&mut self) {
        if let Some(before) = self.late.take() {
            self.report_late(before);
        }
    }

    /// The number of the element whose start tag has just been read.
    pub(crate) fn set_index(&mut self, index: usize) {
        if let Some(step) = self.path.last_mut() {
            step.index = index;
            step.repeats = true;
        }
    }

    /// The next child of a sequence: its index among the fields. At the end tag `None`.
    pub(crate) fn child(&mut self, fields: &'static [Field], at: &mut usize) -> Result<Option<usize>, Halt> {
        let found = self.next_child(
            |name| {
                let ahead = fields.get(*at..).unwrap_or_default().iter().position(|field| field.wire == name);
                ahead.map(|index| index + *at).or_else(|| fields.iter().position(|field| field.wire == name))
            },
            fields,
        )?;
        if let Some(index) = found {
            if index < *at {
                self.late = fields.get(*at).map(|field| field.wire);
            } else {
                *at = index;
            }
        }
        Ok(found)
    }

    /// The next alternative of a choice: its index. At the end tag `None`.
    pub(crate) fn alternative(&mut self, fields: &'static [Field]) -> Result<Option<usize>, Halt> {
        self.next_child(|name| fields.iter().position(|field| field.wire == name), fields)
    }

    #[inline]
    fn next_child(
        &mut self,
        find: impl Fn(&str) -> Option<usize>,
        fields: &'static [Field],
    ) -> Result<Option<usize>, Halt> {
        loop {
            if !self.next_start()? {
                return Ok(None);
            }
            let found = if self.is_ours()? { find(self.local_name()) } else { None };
            match found.and_then(|index| Some((index, fields.get(index)?))) {
                Some((index, field)) => {
                    self.push(field.wire);
                    return Ok(Some(index));
                }
                None => self.keep_unknown()?,
            }
        }
    }

    fn push(&mut self, name: &'static str) {
        if name == "Ntry" {
            self.elements = 0;
        }
        self.path.push(Step { name, index: 0, repeats: false, mark: self.mark, last: None });
    }

    /// The element ends: it is the last child of its parent.
    #[inline]
    pub(crate) fn leave(&mut self) {
        let child = self.path.pop().map(|step| (step.name, step.index));
        if let Some(parent) = self.path.last_mut() {
            parent.last = child;
        }
    }

    /// Reads on to the next start tag within element-only content; false at the end tag.
    pub(super) fn next_start(&mut self) -> Result<bool, Halt> {
        if self.empty {
            self.empty = false;
            self.close();
            return Ok(false);
        }
        self.text.clear();
        loop {
            self.advance()?;
            match self.tokens.next() {
                Ok(Event::Start(tag)) => {
                    self.tag.clear();
                    self.tag.push_str(&tag);
                    self.name_length = tag.name().as_ref().len();
                    self.keep_text();
                    self.open(false)?;
                    return Ok(true);
                }
                Ok(Event::Empty(tag)) => {
                    self.tag.clear();
                    self.tag.push_str(&tag);
                    self.name_length = tag.name().as_ref().len();
                    self.keep_text();
                    self.open(true)?;
                    return Ok(true);
                }
                Ok(Event::End(_)) => {
                    self.keep_text();
                    self.close();
                    return Ok(false);
                }
                Ok(Event::Text(text)) if is_blank(&text) => {}
                other => {
                    let content = take_content(other, &mut self.text);
                    self.content(content)?;
                }
            }
        }
    }

    /// Reads character data up to the end tag into `text`.
    fn read_text(&mut self) -> Result<(), Halt> {
        self.text.clear();
        if self.empty {
            self.empty = false;
            self.close();
            return Ok(());
        }
        loop {
            self.advance()?;
            match self.tokens.next() {
                Ok(Event::End(_)) => {
                    self.close();
                    return Ok(());
                }
                Ok(Event::Start(tag)) => {
                    self.tag.clear();
                    self.tag.push_str(&tag);
                    self.name_length = tag.name().as_ref().len();
                    self.unknown_in_text(false)?;
                }
                Ok(Event::Empty(tag)) => {
                    self.tag.clear();
                    self.tag.push_str(&tag);
                    self.name_length = tag.name().as_ref().len();
                    self.unknown_in_text(true)?;
                }
                other => {
                    let content = take_content(other, &mut self.text);
                    self.content(content)?;
                }
            }
            if self.text.len() > self.options.limits.text_bytes {
                return Err(self.limit(LimitKind::TextBytes, self.options.limits.text_bytes));
            }
        }
    }

    /// An element within the text of a leaf: kept beside it.
    #[cold]
    fn unknown_in_text(&mut self, empty: bool) -> Result<(), Halt> {
        let text = std::mem::take(&mut self.text);
        self.open(empty)?;
        let kept = self.keep_unknown();
        self.text = text;
        kept
    }

    /// A leaf: its text, read and checked.
    pub(crate) fn leaf<V>(
        &mut self,
        parse: fn(&str) -> Result<V, Unreadable>,
        fault: fn(&V) -> Option<Fault>,
        doubt: fn(&V) -> Option<FindingKind>,
    ) -> Result<V, Halt> {
        self.begin()?;
        self.read_text()?;
        let value = match parse(&self.text) {
            Ok(value) => value,
            Err(unreadable) => return Err(self.unreadable(unreadable)),
        };
        if let Some(fault) = fault(&value) {
            self.report_fault(fault);
        }
        if let Some(kind) = doubt(&value) {
            self.report(kind);
        }
        self.leave();
        Ok(value)
    }

    /// A leaf with the attribute `Ccy`: its text and the attribute.
    pub(crate) fn amount<V>(
        &mut self,
        parse: impl FnOnce(&str, Option<String>) -> Result<V, Unreadable>,
    ) -> Result<V, Halt> {
        let found = self.attributes.iter().position(|attribute| attribute.name == "Ccy");
        let currency = found.map(|index| self.attributes.remove(index).value);
        self.begin()?;
        if currency.is_none() {
            self.report(FindingKind::MissingCurrency);
        }
        self.read_text()?;
        let value = match parse(&self.text, currency) {
            Ok(value) => value,
            Err(unreadable) => return Err(self.unreadable(unreadable)),
        };
        Ok(value)
    }

    /// The result of a choice: an error without any alternative, unknown or not.
    pub(crate) fn chosen<C>(&mut self, chosen: Option<C>, fields: &[Field], unknown: C) -> Result<C, Halt> {
        let choice = match chosen {
            Some(choice) => choice,
            None if self.holds_unknown() => {
                self.report(FindingKind::Missing { name: alternatives(fields) });
                unknown
            }
            None => return Err(self.halt_here(ReadErrorKind::Missing { name: alternatives(fields) })),
        };
        self.leave();
        Ok(choice)
    }

    /// True when an unknown element was kept directly inside the current element.
    fn holds_unknown(&self) -> bool {
        let depth = self.path.len() - self.base;
        let own = self.extras.get(self.first_extra..).unwrap_or_default();
        own.iter().any(|extra| extra.inside.len() == depth && matches!(extra.part, ExtraPart::Xml(_)))
    }

    /// The element just begun stands once too often: it is kept as it is.
    #[cold]
    pub(crate) fn refuse_repeated(&mut self, name: &'static str) -> Result<(), Halt> {
        self.report(FindingKind::Repeated { name, max: 1 });
        self.path.pop();
        self.keep()
    }

    /// The element just begun is a second alternative: it is kept as it is.
    #[cold]
    pub(crate) fn refuse_second(&mut self, fields: &[Field], index: usize) -> Result<(), Halt> {
        if let Some(field) = fields.get(index) {
            self.report(FindingKind::SecondChoice { name: field.wire });
        }
        self.path.pop();
        self.keep()
    }

    // What the fields of a sequence do at its end, by cardinality.

    pub(crate) fn one<V>(&mut self, slot: Option<V>, name: &'static str) -> Result<V, Halt> {
        match slot {
            Some(value) => Ok(value),
            None => Err(self.halt_here(ReadErrorKind::Missing { name: name.to_owned() })),
        }
    }

    pub(crate) fn soft<V>(&mut self, slot: Option<V>, name: &'static str) -> Result<Option<V>, Halt> {
        if slot.is_none() {
            self.report(FindingKind::Missing { name: name.to_owned() });
        }
        Ok(slot)
    }

    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // the same form for every cardinality
    pub(crate) fn maybe<V>(&mut self, slot: Option<V>, _: &'static str) -> Result<Option<V>, Halt> {
        Ok(slot)
    }

    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    pub(crate) fn many<V>(&mut self, slot: Vec<V>, _: &'static str) -> Result<Vec<V>, Halt> {
        Ok(slot)
    }

    pub(crate) fn some<V>(&mut self, slot: Vec<V>, name: &'static str) -> Result<Vec<V>, Halt> {
        if slot.is_empty() {
            return Err(self.halt_here(ReadErrorKind::Missing { name: name.to_owned() }));
        }
        Ok(slot)
    }

    // Events.

    /// An event begins.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<(), Halt> {
        let before = self.mark.text;
        self.mark = self.tokens.mark();
        let limit = u64::try_from(self.options.limits.token_bytes).unwrap_or(u64::MAX);
        if self.mark.text - before > limit {
            self.mark.text = before;
            return Err(self.halt(token_limit(&self.options.limits)));
        }
        Ok(())
    }

    /// A start tag: its declarations, attributes and depth.
    pub(super) fn open(&mut self, empty: bool) -> Result<(), Halt> {
        self.empty = empty;
        self.depth += 1;
        self.elements += 1;
        self.attributes.clear();
        if self.depth > self.options.limits.depth {
            return Err(self.limit(LimitKind::Depth, self.options.limits.depth));
        }
        if self.elements > self.options.limits.entry_elements {
            return Err(self.limit(LimitKind::EntryElements, self.options.limits.entry_elements));
        }
        if self.tag.len() > self.name_length {
            self.open_attributes()?;
        }
        Ok(())
    }

    fn open_attributes(&mut self) -> Result<(), Halt> {
        let text = self.tag.get(self.name_length..).unwrap_or_default();
        let mut found = std::mem::take(&mut self.attributes);
        if let Err(kind) = attributes::parse(text, &mut found) {
            return Err(self.halt(kind));
        }
        for attribute in &found {
            if let Some(prefix) = attribute.declared_prefix() {
                if let Some(detail) = refused_binding(prefix, &attribute.value) {
                    return Err(self.halt(malformed(detail)));
                }
                self.namespaces.bind(prefix, &attribute.value, self.depth);
            }
        }
        found.retain(|attribute| attribute.declared_prefix().is_none());
        let mut expanded: Vec<(&str, &str)> = Vec::new();
        let mut nil = false;
        let mut wrong = None;
        for attribute in &found {
            let Some((prefix, local)) = attribute.name.split_once(':') else { continue };
            let Some(namespace) = self.namespaces.get(prefix) else {
                wrong = Some(format!("the prefix {prefix} is not declared"));
                break;
            };
            if expanded.contains(&(namespace, local)) {
                wrong = Some(format!("the attribute {} stands twice", attribute.name));
                break;
            }
            expanded.push((namespace, local));
            nil |= (namespace, local) == (XSI, "nil");
        }
        if let Some(detail) = wrong {
            return Err(self.halt(ReadErrorKind::Malformed { detail }));
        }
        if nil && self.is_ours()? {
            return Err(self.halt(ReadErrorKind::Nil));
        }
        self.attributes = found;
        Ok(())
    }

    /// An end tag.
    #[inline]
    pub(super) fn close(&mut self) {
        self.namespaces.leave(self.depth);
        self.depth -= 1;
    }

    /// True when the element just begun is of the message's namespace.
    #[inline]
    pub(super) fn is_ours(&mut self) -> Result<bool, Halt> {
        let name = self.tag.get(..self.name_length).unwrap_or_default();
        match name.split_once(':') {
            None if self.namespaces.default_is_ours() => Ok(true),
            None if is_plain_name(name) => Ok(false),
            Some((prefix, _)) if is_qualified_name(name) => match self.namespaces.get(prefix) {
                Some(namespace) => Ok(namespace == NAMESPACE),
                None => {
                    let detail = format!("the prefix {prefix} is not declared");
                    Err(self.halt(ReadErrorKind::Malformed { detail }))
                }
            },
            _ => Err(self.halt(malformed("expected an element name"))),
        }
    }

    pub(super) fn local_name(&self) -> &str {
        let name = self.tag.get(..self.name_length).unwrap_or_default();
        name.split_once(':').map_or(name, |(_, local)| local)
    }

    /// What is neither a tag nor plain: done, or an error.
    pub(super) fn content(&mut self, content: Result<(), ReadErrorKind>) -> Result<(), Halt> {
        match content {
            Ok(()) => Ok(()),
            Err(kind) => Err(self.failed(kind)),
        }
    }

    /// The error of an event, or what is wrong with the input behind it.
    #[cold]
    pub(super) fn failed(&mut self, kind: ReadErrorKind) -> Halt {
        if let Some((kind, position)) = self.tokens.failure() {
            let path = self.path_text();
            return ReadError::new(kind, path, position, std::mem::take(&mut self.findings));
        }
        let end = self.tokens.mark().text;
        if end - self.mark.text > u64::try_from(self.options.limits.token_bytes).unwrap_or(u64::MAX) {
            return self.halt(token_limit(&self.options.limits));
        }
        self.halt(kind)
    }

    // Extras.

    /// The element just begun is not one of the schema here: it is kept and reported.
    #[cold]
    pub(super) fn keep_unknown(&mut self) -> Result<(), Halt> {
        let name = self.tag.get(..self.name_length).unwrap_or_default().to_owned();
        if !is_qualified_name(&name) {
            return Err(self.halt(malformed("expected an element name")));
        }
        let mut path = self.path_text();
        push_step(&mut path, &name, None);
        self.report_at(FindingKind::UnknownElement { name }, path, self.mark);
        self.keep()
    }

    /// Keeps the element just begun as it is.
    fn keep(&mut self) -> Result<(), Halt> {
        let xml = self.capture()?;
        self.keep_part(ExtraPart::Xml(xml.into()));
        Ok(())
    }

    /// Keeps the text gathered between elements, if it is more than white space.
    #[inline]
    fn keep_text(&mut self) {
        if !self.text.is_empty() {
            self.keep_gathered();
        }
    }

    #[cold]
    fn keep_gathered(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !is_blank(&text) {
            self.report(FindingKind::UnexpectedText { found: excerpt(&text) });
            self.keep_part(ExtraPart::Text(text.into()));
        }
    }

    /// Keeps and reports the attributes of the current element; those of XML Schema itself say nothing.
    #[cold]
    fn refuse_attributes(&mut self) -> Result<(), Halt> {
        for attribute in std::mem::take(&mut self.attributes) {
            let namespace = attribute.name.split_once(':').and_then(|(prefix, _)| self.namespaces.get(prefix));
            let local = attribute.name.split_once(':').map_or(attribute.name.as_str(), |(_, local)| local);
            if namespace == Some(XSI) && matches!(local, "schemaLocation" | "noNamespaceSchemaLocation" | "type") {
                continue;
            }
            let namespace = namespace.map(Box::from);
            self.report(FindingKind::UnknownAttribute { name: attribute.name.clone() });
            self.keep_part(ExtraPart::Attribute {
                name: attribute.name.into(),
                namespace,
                value: attribute.value.into(),
            });
        }
        Ok(())
    }

    pub(super) fn keep_part(&mut self, part: ExtraPart) {
        let step = |name: &'static str, index| ExtraStep { name: name.into(), index };
        let inside = self.path.get(self.base..).unwrap_or_default();
        let inside = inside.iter().map(|open| step(open.name, open.index)).collect();
        let after = match part {
            ExtraPart::Attribute { .. } => None,
            _ => self.path.last().and_then(|open| open.last).map(|(name, index)| step(name, index)),
        };
        self.extras.push(Extra { inside, after, part });
    }

    // Findings and errors.

    /// Reports that the element just begun should have stood before another.
    #[cold]
    fn report_late(&mut self, before: &'static str) {
        if let Some(name) = self.path.last().map(|step| step.name) {
            self.report(FindingKind::OutOfOrder { name, before });
        }
    }

    #[cold]
    fn report_fault(&mut self, fault: Fault) {
        let kind = fault_kind(fault, &self.text);
        self.report(kind);
    }

    /// Reports something about the current element.
    #[cold]
    pub(crate) fn report(&mut self, kind: FindingKind) {
        let mark = self.path.last().map_or(self.mark, |step| step.mark);
        let path = self.path_text();
        self.report_at(kind, path, mark);
    }

    #[cold]
    pub(super) fn report_at(&mut self, kind: FindingKind, path: String, mark: Mark) {
        if self.findings.len() < self.options.limits.findings {
            self.findings.push(Finding { kind, path, position: Some(self.tokens.position(mark)) });
        } else if kind.is_schema() && !self.findings.iter().any(|finding| finding.kind.is_schema()) {
            // Strict reading must not overlook a finding for want of room.
            self.findings.pop();
            self.findings.push(Finding { kind, path, position: Some(self.tokens.position(mark)) });
        }
    }

    pub(super) fn path_text(&self) -> String {
        let mut path = String::new();
        for step in &self.path {
            push_step(&mut path, step.name, step.repeats.then_some(step.index));
        }
        path
    }

    /// An error at the current event.
    #[cold]
    pub(super) fn halt(&mut self, kind: ReadErrorKind) -> Halt {
        let position = self.tokens.position(self.mark);
        ReadError::new(kind, self.path_text(), position, std::mem::take(&mut self.findings))
    }

    /// An error of the current element.
    #[cold]
    pub(super) fn halt_here(&mut self, kind: ReadErrorKind) -> Halt {
        let mark = self.path.last().map_or(self.mark, |step| step.mark);
        let position = self.tokens.position(mark);
        ReadError::new(kind, self.path_text(), position, std::mem::take(&mut self.findings))
    }

    #[cold]
    fn unreadable(&mut self, unreadable: Unreadable) -> Halt {
        let found = excerpt(&self.text);
        self.halt_here(ReadErrorKind::Unreadable { expected: unreadable.expected, found })
    }

    fn limit(&mut self, limit: LimitKind, max: usize) -> Halt {
        self.halt(ReadErrorKind::Limit { limit, max: u64::try_from(max).unwrap_or(u64::MAX) })
    }

    /// Refuses what has been found, if the options say so.
    pub(crate) fn refuse_findings(&mut self) -> Result<(), Halt> {
        let refused = self.findings.iter().position(|finding| {
            self.options.deny_findings || (self.options.mode == Mode::Strict && finding.kind.is_schema())
        });
        match refused.and_then(|index| self.findings.get(index)).cloned() {
            Some(finding) => {
                let position = finding.position.unwrap_or_default();
                let findings = std::mem::take(&mut self.findings);
                Err(ReadError::new(ReadErrorKind::Refused(finding.kind), finding.path, position, findings))
            }
            None => Ok(()),
        }
    }

    /// Opens an element that this crate knows without a statement.
    pub(super) fn push_root(&mut self, name: &'static str) {
        self.push(name);
    }

    /// An entry has been read: what follows counts anew.
    pub(crate) fn restart_elements(&mut self) {
        self.elements = 0;
    }

    /// Reads the content of an element whose start tag has been read.
    pub(super) fn node<N: Node>(&mut self) -> Result<N, Halt> {
        N::read(self)
    }
}

/// Adds character data to `text`; comments and processing instructions add nothing.
pub(super) fn take_content(event: Result<Event<'_>, quick_xml::Error>, text: &mut String) -> Result<(), ReadErrorKind> {
    match event {
        Ok(Event::Text(data)) => {
            if data.contains("]]>") {
                return Err(malformed("expected no ]]> in text"));
            }
            push_lines(&data, text);
            Ok(())
        }
        Ok(Event::CData(data)) => {
            push_lines(&data, text);
            Ok(())
        }
        Ok(Event::GeneralRef(reference)) => {
            text.push(attributes::resolve(&reference)?);
            Ok(())
        }
        Ok(Event::Comment(_)) => Ok(()),
        Ok(Event::PI(instruction)) => check_instruction(instruction.target()),
        Ok(Event::Decl(_)) => Err(malformed("expected the XML declaration at the very beginning")),
        Ok(Event::DocType(_)) => Err(ReadErrorKind::DocumentType),
        Ok(Event::Eof) => Err(malformed("expected an end tag, found the end of the document")),
        Ok(Event::Start(_) | Event::Empty(_) | Event::End(_)) => Err(malformed("unexpected tag")),
        Err(error) => Err(ReadErrorKind::Malformed { detail: error.to_string() }),
    }
}

pub(super) fn check_instruction(target: &str) -> Result<(), ReadErrorKind> {
    if is_qualified_name(target) && !target.eq_ignore_ascii_case("xml") {
        Ok(())
    } else {
        Err(malformed("expected a processing instruction with a name other than xml"))
    }
}

/// Appends text with its line ends normalised.
#[inline]
fn push_lines(data: &str, text: &mut String) {
    if memchr::memchr(b'\r', data.as_bytes()).is_none() {
        text.push_str(data);
        return;
    }
    let mut rest = data;
    while let Some((line, after)) = rest.split_once('\r') {
        text.push_str(line);
        text.push('\n');
        rest = after.strip_prefix('\n').unwrap_or(after);
    }
    text.push_str(rest);
}

/// Why XML Namespaces forbid a declaration.
fn refused_binding(prefix: &str, namespace: &str) -> Option<&'static str> {
    match (prefix, namespace) {
        ("xml", XML) => None,
        ("xml", _) | (_, XML) => Some("the prefix xml cannot be declared otherwise"),
        ("xmlns", _) | (_, XMLNS) => Some("the prefix xmlns cannot be declared"),
        ("", _) => None,
        (_, "") => Some("a prefix cannot be taken back"),
        (prefix, _) if !is_plain_name(prefix) => Some("expected a prefix after xmlns:"),
        _ => None,
    }
}
