//! The cursor: walks a document along the tables of a message, keeps and reports what these do not
//! know.

mod ahead;
mod content;
mod document;
mod record;
mod report;
mod unknown;
mod without;

pub use ahead::Ahead;

use super::{EventsOver, Token, Used};
use crate::extra::{Extra, ExtraPart, ExtraStep, Extras};
use crate::field::{Field, alternatives};
use crate::finding::{Finding, FindingKind, FurtherFindings, push_step};
use crate::read::ReadOptions;
use crate::read::around::Around;
use crate::read::error::Halt;
use crate::read::shape::{AROUND, Shape};
use crate::read::tokens::{Mark, Tokens};
use crate::version::Version;
use crate::watch::Memory;
use std::fmt;

/// The next child of a sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Child {
    /// The start tag of an element of the schema: its index among the fields.
    Field(usize),
    /// An element beyond the schema, which has been kept.
    Unknown,
    /// The end tag.
    End,
}

/// Reads a document: its events, the open elements, what was found and what is kept.
///
/// The readers of all elements take the one type [`Cursor`], so that each is compiled once and not
/// for each source of tokens.
pub struct CursorOver<T: ?Sized> {
    shape: &'static Shape,
    /// The version of the document.
    version: Version,
    /// The version of the schema that the document, or the current part of it, is read by.
    schema: u8,
    options: ReadOptions,
    /// The open elements that the schema knows, outermost first.
    open: Vec<Step>,
    /// The element that the one just begun should have stood before.
    late: Option<&'static str>,
    /// Parts beyond the schema that no sequence has taken.
    parts: Vec<Extra>,
    /// The innermost sequence.
    sequence: Sequence,
    /// The findings, as many of each kind as there is room for.
    found: Vec<Finding>,
    /// The number of findings of each kind in `found`.
    kept: FurtherFindings,
    /// Findings beyond those there is room for.
    further: FurtherFindings,
    /// True while nothing is reported, because it will be found again.
    silent: bool,
    /// The memory of the message's rules.
    memory: Memory,
    /// The text being gathered.
    text: String,
    /// Room for an element without its prefix.
    plain: String,
    /// The parts around the document, and before it.
    around: Option<Box<Around>>,
    /// The document may have others after it.
    among_others: bool,
    /// Reading has ended, so that no document follows.
    ended: bool,
    /// Elements of this name are handed out one by one, so that their list may stay empty.
    handed_out: Option<&'static str>,
    /// The fast reader is asked first. Tests read without it.
    fast: bool,
    /// Elements that the fast reader took, and those that it was asked for and left to the reader
    /// over events.
    scanned: (usize, usize),
    /// The names of elements that the fast reader left, each with its number of times in a row.
    left: Vec<(&'static str, u64)>,
    /// Last, because only the last field may have a type without a known size.
    events: EventsOver<T>,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Step {
    name: &'static str,
    /// Its number among those of the same name, from 0.
    index: usize,
    /// True when the schema allows several; then the number is part of the path.
    repeats: bool,
    /// Where its start tag begins.
    mark: Mark,
    /// The last child that the schema knows.
    last: Option<(&'static str, usize)>,
    /// The number of parts beyond the schema that had been kept before it.
    extras: usize,
    /// The sequence around it.
    sequence: Sequence,
    /// For an element that is counted apart: what had been used of the limits outside of it.
    outer: Option<Used>,
}

/// Where a sequence begins: the number of elements around it, and of parts kept before it.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    base: usize,
    first: usize,
}

/// A cursor over any source of tokens.
pub type Cursor<'t> = CursorOver<dyn Tokens + 't>;

impl<T: Tokens> CursorOver<T> {
    /// Makes a cursor over a document of one of some messages, of which there is at least one.
    pub(crate) fn new(tokens: T, options: ReadOptions, shapes: &[&'static Shape]) -> Self {
        let shape = shapes.first().copied().unwrap_or(&Shape::NONE);
        Self {
            shape,
            version: Version::default(),
            schema: Version::default().number(),
            options,
            open: Vec::new(),
            late: None,
            parts: Vec::new(),
            sequence: Sequence::default(),
            found: Vec::new(),
            kept: FurtherFindings::default(),
            further: FurtherFindings::default(),
            silent: false,
            memory: Memory::default(),
            text: String::new(),
            plain: String::new(),
            around: None,
            among_others: false,
            ended: false,
            handed_out: None,
            fast: true,
            scanned: (0, 0),
            left: Vec::new(),
            events: EventsOver::new(tokens, options.limits, shape.namespace(Version::default())),
        }
    }

    /// Returns the cursor as the readers of elements take it.
    #[inline]
    pub(crate) fn erased<'t>(&mut self) -> &mut Cursor<'t>
    where
        T: 't,
    {
        self
    }
}

impl<T: ?Sized> CursorOver<T> {
    /// Returns the names of the message.
    pub fn shape(&self) -> &'static Shape {
        self.shape
    }

    /// Returns the version of the document, once its document element has been read.
    #[inline]
    pub fn version(&self) -> Version {
        self.version
    }
}

impl Cursor<'_> {
    /// Reads on by the version that the content of a field is of; returns the version before.
    #[inline]
    fn read_as_of(&mut self, field: Field) -> u8 {
        let schema = field.version_in(self.schema);
        std::mem::replace(&mut self.schema, schema)
    }

    /// Returns the version of the schema that the document is read by.
    #[inline]
    pub fn schema_version(&self) -> u8 {
        self.schema
    }

    /// Begins the content of an element that has no attributes in the schema.
    #[inline]
    pub fn begin(&mut self) -> Result<(), Halt> {
        if self.events.attributes.is_empty() {
            Ok(())
        } else {
            self.refuse_attributes()
        }
    }

    /// Takes the parts kept in the sequence that ends.
    #[inline]
    pub fn extras(&mut self) -> Extras {
        if self.parts.len() == self.sequence.first {
            return Extras::default();
        }
        Extras::from_parts(self.parts.drain(self.sequence.first..).collect())
    }

    /// Sets the number of the element whose start tag has just been read.
    pub fn set_index(&mut self, index: usize) {
        if let Some(step) = self.open.last_mut() {
            step.index = index;
            step.repeats = true;
        }
    }

    /// Reads up to the next child of a sequence.
    pub(crate) fn child(
        &mut self,
        fields: &'static [Field],
        at: &mut usize,
    ) -> Result<Child, Halt> {
        let version = self.schema;
        let child = self.next_child(
            |name| {
                // In a document in order the next field stands at `at` or after it; only a late one
                // is before.
                let ahead = fields
                    .get(*at..)
                    .unwrap_or_default()
                    .iter()
                    .position(|field| field.wire == name && field.is_in(version));
                ahead.map(|index| index + *at).or_else(|| {
                    fields
                        .iter()
                        .position(|field| field.wire == name && field.is_in(version))
                })
            },
            fields,
        )?;
        if let Child::Field(index) = child {
            // `at` stays, so that every element that comes after one it should precede is reported.
            if index < *at {
                self.late = fields.get(*at).map(|field| field.wire);
            } else {
                *at = index;
            }
        }
        Ok(child)
    }

    /// Reads up to the next alternative of a choice and returns its index; `None` at the end tag.
    pub fn alternative(&mut self, fields: &'static [Field]) -> Result<Option<usize>, Halt> {
        let version = self.schema;
        loop {
            match self.next_child(
                |name| {
                    fields
                        .iter()
                        .position(|field| field.wire == name && field.is_in(version))
                },
                fields,
            )? {
                Child::Field(index) => return Ok(Some(index)),
                Child::Unknown => {}
                Child::End => return Ok(None),
            }
        }
    }

    #[inline]
    fn next_child(
        &mut self,
        find: impl Fn(&str) -> Option<usize>,
        fields: &'static [Field],
    ) -> Result<Child, Halt> {
        if !self.next_start()? {
            return Ok(Child::End);
        }
        let found = if self.events.seems_ours()? {
            find(self.events.tag.local_name())
        } else {
            None
        };
        let Some((index, field)) = found.and_then(|index| Some((index, fields.get(index)?))) else {
            self.keep_unknown()?;
            return Ok(Child::Unknown);
        };
        self.push(field.wire);
        Ok(Child::Field(index))
    }

    /// True when what comes next is a child of the message or of a group, or stands around the
    /// message.
    fn is_outer(&self) -> bool {
        let open = self.open.len();
        open <= AROUND || (open == AROUND + 1 && self.name_at(AROUND) == self.shape.group)
    }

    /// Reads on to the next start tag within element-only content; false at the end tag.
    fn next_start(&mut self) -> Result<bool, Halt> {
        self.events.begin_text(&mut self.text);
        // A child of the message or of a group may have to be kept as it stands.
        let outer = self.is_outer();
        loop {
            if outer {
                // For each event again, so that only the text from the start tag on is held.
                self.events.remember();
            }
            match self.events.next(&mut self.text, true)? {
                Token::Start => {
                    self.keep_text()?;
                    self.events.open()?;
                    return Ok(true);
                }
                Token::End => {
                    self.keep_text()?;
                    self.events.close();
                    return Ok(false);
                }
                Token::Content => self.events.bound_text(&self.text)?,
            }
        }
    }

    /// Begins an element of the schema.
    fn push(&mut self, name: &'static str) {
        // The element itself belongs to what is around it.
        let mut outer = None;
        if self.shape.is_counted_apart(self.open.len(), name) {
            let mut used = self.events.count_from(Used::default());
            used.elements = used.elements.saturating_sub(1);
            outer = Some(used);
        }
        self.open.push(Step {
            name,
            index: 0,
            repeats: false,
            mark: self.events.mark,
            last: None,
            extras: self.parts.len(),
            sequence: self.sequence,
            outer,
        });
    }

    /// Ends the element, which becomes the last child of its parent.
    #[inline]
    pub(crate) fn leave(&mut self) {
        let Some(step) = self.open.pop() else { return };
        self.set_last(Some((step.name, step.index)));
        self.sequence = step.sequence;
        if let Some(used) = step.outer {
            self.events.count_from(used);
        }
    }

    /// Sets the last child of the current element; returns the one before.
    #[inline]
    fn set_last(&mut self, last: Option<(&'static str, usize)>) -> Option<(&'static str, usize)> {
        self.open
            .last_mut()
            .and_then(|step| std::mem::replace(&mut step.last, last))
    }

    /// Returns the name of the element around which so many are open.
    fn name_at(&self, around: usize) -> &'static str {
        self.open.get(around).map_or("", |step| step.name)
    }

    /// Begins a sequence, the content of the current element.
    pub(crate) fn enter_record(&mut self) -> Result<(), Halt> {
        self.sequence = Sequence {
            base: self.open.len(),
            first: self.parts.len(),
        };
        self.begin()
    }

    /// Returns the part read so far of a sequence that goes on, perhaps with a child whose start
    /// tag has just been read. Nothing is reported, because the end of the sequence reports it.
    pub(crate) fn preview<V>(
        &mut self,
        in_child: bool,
        finish: impl FnOnce(&mut Self) -> Result<V, Halt>,
        extras: fn(&V) -> &Extras,
    ) -> Result<V, Halt> {
        // The child has not been read, and `finish` reports on the innermost open element.
        let child = if in_child { self.open.pop() } else { None };
        self.silent = true;
        // An error ends the stream, so path and silence need not be restored after it.
        let preview = finish(self)?;
        self.silent = false;
        // `finish` took the parts, which the end of the sequence has to have as well.
        self.parts.extend_from_slice(extras(&preview).parts());
        self.open.extend(child);
        Ok(preview)
    }

    /// Elements of a name are handed out one by one, so that their list may stay empty.
    pub(crate) fn hand_out(&mut self, name: &'static str) {
        self.handed_out = Some(name);
    }

    /// True when elements of a name are handed out one by one.
    fn hands_out(&self, name: &str) -> bool {
        self.handed_out == Some(name)
    }

    /// Switches the fast reader off or on, for tests.
    pub(crate) fn set_fast(&mut self, fast: bool) {
        self.fast = fast;
    }

    /// Returns the number of elements that the fast reader took, and of those that it left to the
    /// reader over events.
    pub(crate) fn scanned(&self) -> (usize, usize) {
        self.scanned
    }

    /// Returns the result of a choice: an error without any alternative, unknown or not.
    pub fn chosen<C>(
        &mut self,
        chosen: Option<C>,
        fields: &[Field],
        unknown: C,
    ) -> Result<C, Halt> {
        let choice = match chosen {
            Some(choice) => choice,
            None if self.holds_element() => {
                self.report(FindingKind::Missing {
                    name: alternatives(fields, self.schema),
                });
                unknown
            }
            None => return Err(self.missing(alternatives(fields, self.schema))),
        };
        self.leave();
        Ok(choice)
    }

    /// Reports that the element just begun exceeds its maximum number. The element is kept as
    /// markup after the first one, so that it stays there when the document is written in the order
    /// of the schema.
    #[cold]
    pub fn refuse_repeated(&mut self, name: &'static str) -> Result<(), Halt> {
        // Reported as repeated, it is not reported as late, too.
        self.late = None;
        self.report_excess(name, FindingKind::Repeated { name, max: 1 });
        self.open.pop();
        let last = self.set_last(Some((name, 0)));
        let kept = self.keep();
        self.set_last(last);
        kept
    }

    /// Reports that the element just begun is a second alternative, and keeps it as markup.
    #[cold]
    pub fn refuse_second(&mut self, fields: &[Field], index: usize) -> Result<(), Halt> {
        if let Some(field) = fields.get(index) {
            let kind = FindingKind::SecondChoice { name: field.wire };
            self.report_excess(field.wire, kind);
        }
        self.open.pop();
        self.keep()
    }

    /// Reports an element for which there is no room: as unknown where it is not kept.
    fn report_excess(&mut self, name: &str, kind: FindingKind) {
        let unknown = || FindingKind::UnknownElement { name: name.into() };
        self.report(if self.options.drop_unknown {
            unknown()
        } else {
            kind
        });
    }

    /// Reports that the element just begun should have stood before another, if so.
    #[inline]
    pub(crate) fn report_if_late(&mut self) {
        if let Some(before) = self.late.take()
            && let Some(name) = self.open.last().map(|step| step.name)
        {
            self.report(FindingKind::OutOfOrder { name, before });
        }
    }

    /// Keeps a part at its place, unless that is too much.
    fn keep_part(&mut self, part: ExtraPart) -> Result<(), Halt> {
        if self.options.drop_unknown {
            return Ok(());
        }
        let place = |(name, index): (&str, usize)| ExtraStep {
            name: name.into(),
            index,
        };
        let inside = self.open.get(self.sequence.base..).unwrap_or_default();
        // Attributes are kept before the element has any child, so that there is none for them.
        let after = self.open.last().and_then(|step| step.last);
        let extra = Extra {
            inside: inside
                .iter()
                .map(|step| place((step.name, step.index)))
                .collect(),
            after: after.map(place),
            part,
        };
        let memory = extra.memory();
        // Before the part is stored, so that no part goes beyond the bound.
        self.events.keep_bytes(memory)?;
        self.parts.push(extra);
        self.events.hold(memory)
    }

    /// True when markup was kept directly inside the current element.
    fn holds_element(&self) -> bool {
        let depth = self.open.len() - self.sequence.base;
        let before = self.open.last().map_or(0, |step| step.extras);
        let own = self.parts.get(before..).unwrap_or_default();
        own.iter()
            .any(|extra| extra.inside.len() == depth && matches!(extra.part, ExtraPart::Xml(_)))
    }

    /// Counts memory that the document takes.
    #[inline]
    pub fn hold(&mut self, bytes: usize) -> Result<(), Halt> {
        self.events.hold(bytes)
    }

    /// Bytes of memory that the document has taken so far.
    pub(crate) fn held(&self) -> u64 {
        self.events.held
    }

    /// True when there is room for one more element in a list, or the memory for it may be taken.
    #[inline]
    pub(crate) fn has_room<V>(&self, items: &Vec<V>) -> bool {
        self.events.has_room(items)
    }

    /// Makes room for one more element in a list.
    #[inline]
    pub(crate) fn make_room<V>(&mut self, items: &mut Vec<V>) -> Result<(), Halt> {
        self.events.make_room(items)
    }
}

impl<T: ?Sized> CursorOver<T> {
    /// Returns the path of the current element, as findings and errors have it.
    fn path(&self) -> String {
        self.path_to(self.open.len())
    }

    /// Returns the path of the element that is so deep.
    fn path_to(&self, depth: usize) -> String {
        let mut path = String::new();
        for step in self.open.get(..depth).unwrap_or_default() {
            push_step(&mut path, step.name, step.repeats.then_some(step.index));
        }
        path
    }

    /// Takes the findings since the last call.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        // They leave their room to further ones.
        self.kept = FurtherFindings::default();
        std::mem::take(&mut self.found)
    }

    /// Returns the parts around the document.
    pub fn around(&self) -> Option<&Around> {
        self.around.as_deref()
    }

    /// Takes the parts around the document.
    pub(crate) fn take_around(&mut self) -> Option<Box<Around>> {
        self.around.take()
    }

    /// Notes that reading has ended, so that no document follows.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Takes the number of the findings for which there was no room.
    pub(crate) fn take_further_findings(&mut self) -> FurtherFindings {
        std::mem::take(&mut self.further)
    }

    /// Returns the findings for which there was no room.
    pub fn further_findings(&self) -> &FurtherFindings {
        &self.further
    }
}

impl<T: ?Sized> fmt::Debug for CursorOver<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Cursor")
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}
