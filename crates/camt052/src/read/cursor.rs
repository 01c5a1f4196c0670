//! The cursor: walks a document as the statements of the schema direct, keeps what they do not know, and reports.

use super::attributes::Attribute;
use super::error::{ReadError, ReadErrorKind};
use super::namespaces::Namespaces;
use super::options::ReadOptions;
use super::start::StartTag;
use super::tokens::{Mark, Tokens};
use crate::beyond::Tally;
use crate::check::alternatives;
use crate::extra::{Extra, ExtraPart, Extras};
use crate::finding::{Finding, FindingKind};
use crate::schema::{Field, MANY, Node, Slot, Tag};

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
    pub(super) repeats: bool,
    pub(super) mark: Mark,
    /// The last child that the schema knows.
    pub(super) last: Option<(&'static str, usize)>,
    /// How many parts beyond the schema there were before it.
    pub(super) extras: usize,
    /// What had been used outside of it, when it is counted by itself.
    pub(super) outer: Option<Used>,
}

/// How much an entry has used of its limits, or all of a report but its entries, or all of a message but its reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    pub(super) elements: usize,
    /// Octets kept beyond the schema.
    pub(super) kept: usize,
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
    pub(super) tag: StartTag,
    /// The attributes of the last start tag, declarations left out.
    pub(super) attributes: Vec<Attribute>,
    /// It was an empty element: its end comes next.
    pub(super) empty: bool,
    pub(super) text: String,
    /// Room for an element without its prefix.
    pub(super) plain: String,
    pub(super) findings: Vec<Finding>,
    /// Findings beyond those there is room for.
    pub(super) further: u64,
    /// Nothing is reported: it will be found again.
    pub(super) silent: bool,
    /// Parts beyond the schema that no sequence has taken yet.
    pub(super) extras: Vec<Extra>,
    /// The path's length at the innermost sequence, and the first of its extras.
    pub(super) base: usize,
    pub(super) first_extra: usize,
    /// What has been used of the limits here.
    pub(super) used: Used,
    /// Octets of the namespaces that kept parts, in all of the document, have taken from around them.
    pub(super) taken: usize,
    /// Documents within foreign markup are judged, and nothing is kept of what is around them.
    pub(super) judging: bool,
    /// The element just begun should have stood before this one.
    pub(super) late: Option<&'static str>,
    /// What has been counted in the report so far.
    pub(crate) tally: Tally,
    /// How often the fast reader was let try, and what came of it.
    #[cfg(test)]
    pub(super) scanning: bool,
    #[cfg(test)]
    pub(super) scanned: usize,
    #[cfg(test)]
    pub(super) declined: usize,
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
            tag: StartTag::default(),
            attributes: Vec::new(),
            empty: false,
            text: String::new(),
            plain: String::new(),
            findings: Vec::new(),
            further: 0,
            silent: false,
            extras: Vec::new(),
            base: 0,
            first_extra: 0,
            used: Used::default(),
            taken: 0,
            judging: false,
            late: None,
            tally: Tally::default(),
            #[cfg(test)]
            scanning: true,
            #[cfg(test)]
            scanned: 0,
            #[cfg(test)]
            declined: 0,
        }
    }

    /// Reads a sequence.
    pub(crate) fn record<R: Record + Node>(&mut self) -> Result<R, Halt> {
        if let Some(record) = self.scan_content::<R>() {
            // What follows is the end tag.
            self.next_start()?;
            record.settle(self);
            self.leave();
            return Ok(record);
        }
        let outer = self.enter_record()?;
        let mut slots = R::Slots::default();
        let mut at = 0;
        while let Some(index) = self.child(R::FIELDS, &mut at)? {
            R::take(&mut slots, index, self)?;
        }
        let record = R::finish(slots, self)?;
        record.settle(self);
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
    pub(crate) fn take<S: Slot>(&mut self, slot: &mut S, field: Field, tag: &'static Tag) -> Result<(), Halt> {
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
        let in_order = self.late.is_none();
        self.report_if_late();
        slot.fill(self)?;
        if in_order && field.max == MANY {
            slot.fill_ahead(tag, self);
        }
        Ok(())
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
    pub(super) fn next_child(
        &mut self,
        find: impl Fn(&str) -> Option<usize>,
        fields: &'static [Field],
    ) -> Result<Option<usize>, Halt> {
        loop {
            if !self.next_start()? {
                return Ok(None);
            }
            let found = if self.seems_ours()? { find(self.tag.local_name()) } else { None };
            match found.and_then(|index| Some((index, fields.get(index)?))) {
                Some((index, field)) => {
                    self.refuse_nil()?;
                    self.push(field.wire);
                    return Ok(Some(index));
                }
                None => self.keep_unknown()?,
            }
        }
    }

    pub(super) fn push(&mut self, name: &'static str) {
        let outer = matches!(name, "Ntry" | "Rpt").then(|| {
            let Used { elements, kept } = std::mem::take(&mut self.used);
            Used { elements: elements.saturating_sub(1), kept }
        });
        let extras = self.extras.len();
        self.path.push(Step { name, index: 0, repeats: false, mark: self.mark, last: None, extras, outer });
    }

    /// The element ends: it is the last child of its parent.
    #[inline]
    pub(crate) fn leave(&mut self) {
        let Some(step) = self.path.pop() else { return };
        if let Some(outer) = step.outer {
            self.used = outer;
        }
        if let Some(parent) = self.path.last_mut() {
            parent.last = Some((step.name, step.index));
        }
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
    pub(super) fn holds_unknown(&self) -> bool {
        let depth = self.path.len() - self.base;
        let before = self.path.last().map_or(0, |step| step.extras);
        let own = self.extras.get(before..).unwrap_or_default();
        own.iter().any(|extra| extra.inside.len() == depth && matches!(extra.part, ExtraPart::Xml(_)))
    }

    /// The element just begun stands once too often: it is kept as it is, behind the first, which it must not precede when
    /// all is written in the order of the schema.
    #[cold]
    pub(crate) fn refuse_repeated(&mut self, name: &'static str) -> Result<(), Halt> {
        self.report(FindingKind::Repeated { name, max: 1 });
        self.path.pop();
        let last = self.path.last_mut().and_then(|parent| parent.last.replace((name, 0)));
        let kept = self.keep();
        if let Some(parent) = self.path.last_mut() {
            parent.last = last;
        }
        kept
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

    /// Reads the content of an element whose start tag has been read.
    pub(super) fn node<N: Node>(&mut self) -> Result<N, Halt> {
        N::read(self)
    }
}
