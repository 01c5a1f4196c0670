//! The cursor: walks a document along the tables of a message, and keeps and reports the parts that
//! the tables do not have.

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

/// The state of reading a document: its events, the open elements, the findings and the kept parts.
///
/// The readers of all elements take the type [`Cursor`], so that each reader is compiled once and
/// not for each source of tokens.
pub struct CursorOver<T: ?Sized> {
    shape: &'static Shape,
    /// The version of the document.
    version: Version,
    /// The version of the schema that the document, or the current part of it, is read by.
    schema: u8,
    options: ReadOptions,
    /// The open elements that the schema knows, outermost first.
    open: Vec<Step>,
    /// The element that the current element should have preceded.
    late: Option<&'static str>,
    /// Parts beyond the schema that no sequence has taken.
    parts: Vec<Extra>,
    /// The innermost sequence.
    sequence: Sequence,
    /// The findings, as many of each kind as there is room for.
    found: Vec<Finding>,
    /// The number of findings of each kind in `found`.
    kept: FurtherFindings,
    /// The number of findings of each kind that there was no room for.
    further: FurtherFindings,
    /// True while nothing is reported, because the same findings will be made again.
    silent: bool,
    /// The memory of the message's rules.
    memory: Memory,
    /// The text being gathered.
    text: String,
    /// Reused memory for an element without its prefix.
    plain: String,
    /// The parts around the document, and before it.
    around: Option<Box<Around>>,
    /// True if other documents may follow this one.
    among_others: bool,
    /// True after reading has ended, so that no document follows.
    ended: bool,
    /// The name of the elements that are handed out one by one, so that their list may be empty.
    handed_out: Option<&'static str>,
    /// True if the fast reader is tried first. Tests also read without it.
    fast: bool,
    /// The numbers of elements that the fast reader took, and that it declined and left to the
    /// reader over events.
    scanned: (usize, usize),
    /// The names of elements that the fast reader declined, each with the number of times in a row.
    left: Vec<(&'static str, u64)>,
    /// The events are the last field, because only that may have a type without a known size.
    events: EventsOver<T>,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Step {
    name: &'static str,
    /// The number of the element among those of the same name, from 0.
    index: usize,
    /// True when the schema allows several occurrences; the number is then part of the path.
    repeats: bool,
    /// The place where the start tag begins.
    mark: Mark,
    /// The last child that the schema knows.
    last: Option<(&'static str, usize)>,
    /// The number of parts beyond the schema that had been kept before the element.
    extras: usize,
    /// The sequence around it.
    sequence: Sequence,
    /// The use of the limits outside of the element, if the element is counted separately.
    outer: Option<Used>,
}

/// The beginning of a sequence: the number of elements around it, and of parts kept before it.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    base: usize,
    first: usize,
}

/// A cursor over any source of tokens.
pub type Cursor<'t> = CursorOver<dyn Tokens + 't>;

impl<T: Tokens> CursorOver<T> {
    /// Makes a cursor over a document of one of the messages in `shapes`, which must not be empty.
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

    /// Returns the cursor as the type that the readers of elements take.
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
    /// Switches to the version that the content of a field is written in; returns the previous
    /// version.
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
                // is before `at`.
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
            // `at` stays, so that every late element is reported.
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

    /// Returns true when the next element is a child of the message or of a group, or is around the
    /// message.
    fn is_outer(&self) -> bool {
        let open = self.open.len();
        open <= AROUND || (open == AROUND + 1 && self.name_at(AROUND) == self.shape.group)
    }

    /// Reads on to the next start tag within element-only content; false at the end tag.
    fn next_start(&mut self) -> Result<bool, Halt> {
        self.events.begin_text(&mut self.text);
        // A child of the message or of a group may have to be kept verbatim.
        let outer = self.is_outer();
        loop {
            if outer {
                // Remembers anew for each event, so that only the text from the start tag on is
                // held.
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
        // The element itself counts in the part around it.
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

    /// Returns the name of the element around which `around` elements are open.
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

    /// Returns what has been read so far of a sequence that continues. `in_child` is true if the
    /// start tag of a child has just been read. Nothing is reported, because the end of the
    /// sequence reports it.
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
        // `finish` took the parts, but the end of the sequence needs them as well.
        self.parts.extend_from_slice(extras(&preview).parts());
        self.open.extend(child);
        Ok(preview)
    }

    /// Sets the name of the elements that are handed out one by one, so that their list may be
    /// empty.
    pub(crate) fn hand_out(&mut self, name: &'static str) {
        self.handed_out = Some(name);
    }

    /// Returns true when elements of a name are handed out one by one.
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

    /// Returns the result of a choice. If there was no alternative, it is `unknown` where the
    /// element has other content, and an error where it has none or without `unknown`.
    pub fn chosen<C>(
        &mut self,
        chosen: Option<C>,
        fields: &[Field],
        unknown: Option<C>,
    ) -> Result<C, Halt> {
        let choice = match chosen {
            Some(choice) => choice,
            None => {
                let name = alternatives(fields, self.schema);
                let Some(unknown) = unknown.filter(|_| self.holds_element()) else {
                    return Err(self.missing(name));
                };
                self.report(FindingKind::Missing { name });
                unknown
            }
        };
        self.leave();
        Ok(choice)
    }

    /// Reports that the element just begun exceeds its maximum number. The element is kept as
    /// markup after the first one, so that it is written there when the document is put into the
    /// order of the schema.
    #[cold]
    pub fn refuse_repeated(&mut self, name: &'static str) -> Result<(), Halt> {
        // The element is reported as repeated, and not also as late.
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

    /// Reports an element in excess with `kind`, or as unknown if unknown elements are dropped.
    fn report_excess(&mut self, name: &str, kind: FindingKind) {
        let unknown = || FindingKind::UnknownElement { name: name.into() };
        self.report(if self.options.drop_unknown {
            unknown()
        } else {
            kind
        });
    }

    /// Reports the element just begun if it should have preceded another one.
    #[inline]
    pub(crate) fn report_if_late(&mut self) {
        if let Some(before) = self.late.take()
            && let Some(name) = self.open.last().map(|step| step.name)
        {
            self.report(FindingKind::OutOfOrder { name, before });
        }
    }

    /// Keeps a part at its place, or returns an error if it exceeds a limit.
    fn keep_part(&mut self, part: ExtraPart) -> Result<(), Halt> {
        if self.options.drop_unknown {
            return Ok(());
        }
        let place = |(name, index): (&str, usize)| ExtraStep {
            name: name.into(),
            index,
        };
        let inside = self.open.get(self.sequence.base..).unwrap_or_default();
        // Attributes are kept before the element has any child, so `after` is `None` for them.
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
        // Counts the part before it is stored, so that none exceeds the bound.
        self.events.keep_bytes(memory)?;
        self.parts.push(extra);
        self.events.hold(memory)
    }

    /// Returns true when markup was kept directly inside the current element.
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

    /// Returns the bytes of memory that the document has taken so far.
    pub(crate) fn held(&self) -> u64 {
        self.events.held
    }

    /// Returns true when there is room for one more element in a list, or the memory for it may be
    /// taken.
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

    /// Returns the path of the open element at a depth.
    fn path_to(&self, depth: usize) -> String {
        let mut path = String::new();
        for step in self.open.get(..depth).unwrap_or_default() {
            push_step(&mut path, step.name, step.repeats.then_some(step.index));
        }
        path
    }

    /// Takes the findings since the last call.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        // Frees their room for further findings.
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
