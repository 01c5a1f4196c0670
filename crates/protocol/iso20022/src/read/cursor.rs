//! The cursor: walks a document along the tables of a message, keeps and reports what these do not
//! know.

mod ahead;
mod content;
mod document;
mod unknown;
mod without;

pub use ahead::Ahead;

use super::around::Around;
use super::error::{Halt, ReadError, ReadErrorKind};
use super::events::{EventsOver, Token};
use super::findings::{Findings, FurtherFindings};
use super::keep::{Keeper, Sequence};
use super::ReadOptions;
use super::path::{Path, Step, Used};
use super::tokens::{Mark, Tokens};
use crate::extra::{ExtraPart, Extras};
use crate::field::{Field, alternatives};
use crate::finding::{Finding, FindingKind, Position};
use crate::version::Version;
use crate::watch::{Memory, Watch};
use std::borrow::Cow;
use std::fmt;

/// The names of a message and its nesting. The document element holds the message, the message
/// holds groups, and a group holds units. In a bank's report the groups are reports and the units
/// are entries.
#[derive(Debug)]
pub struct Shape {
    /// The namespace of the message; with versions, all of it but the two digits of the version.
    pub namespace: &'static str,
    /// The oldest and the newest known version, if the message has versions.
    pub versions: Option<[u8; 2]>,
    /// The document element.
    pub document: &'static str,
    /// The message's element, the only one in the document element.
    pub root: &'static [Field],
    /// The groups, directly in the message.
    pub group: &'static str,
    /// The units, directly in a group.
    pub unit: &'static str,
    /// The maximum nesting of elements.
    pub depth: usize,
}

/// The elements around a group: the document element and the message's.
const AROUND: usize = 2;

impl Shape {
    const NONE: Self = Self {
        namespace: "",
        versions: None,
        document: "",
        root: &[],
        group: "",
        unit: "",
        depth: 0,
    };

    /// Returns the namespace of a version.
    pub(crate) fn namespace(&self, version: Version) -> Cow<'static, str> {
        match self.versions {
            None => self.namespace.into(),
            Some(_) => format!("{}{version}", self.namespace).into(),
        }
    }

    /// Returns the namespaces of the known versions among some, for an error text.
    pub(crate) fn namespaces(&self, [first, last]: [Version; 2]) -> String {
        let Some(known) = self.versions.map(|known| known.map(Version::new)) else {
            return self.namespace.to_owned();
        };
        let namespace = self.namespace(first.max(known[0]));
        if first == last {
            namespace.into_owned()
        } else {
            format!("{namespace} to .{}", last.min(known[1]))
        }
    }

    /// Returns the version of a namespace, if it is one of the message and one of these.
    pub(crate) fn version_of(
        &self,
        namespace: &str,
        [first, last]: [Version; 2],
    ) -> Option<Version> {
        let Some([oldest, _]) = self.versions else {
            return (namespace == self.namespace).then(Version::default);
        };
        let digits = namespace.strip_prefix(self.namespace)?;
        let is_two = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
        let version = digits.parse().ok().filter(|_| is_two).map(Version::new)?;
        (version.number() >= oldest && (first..=last).contains(&version)).then_some(version)
    }

    /// Returns the number of a version, or of the newest known one if that is older.
    pub(crate) fn known(&self, version: Version) -> u8 {
        let newest = self.versions.map_or(u8::MAX, |[_, newest]| newest);
        version.number().min(newest)
    }

    /// Returns the finding of a version that is newer than the newest known one.
    pub(crate) fn newer(&self, version: Version) -> Option<FindingKind> {
        let known = Version::new(self.known(version));
        let found = version;
        (known < found).then_some(FindingKind::NewerVersion { known, found })
    }

    /// Returns the name of the message's element.
    pub(crate) fn root_name(&self) -> &'static str {
        self.root.first().map_or("", |root| root.wire)
    }

    /// True for an element that is counted apart: a group or a unit. `around` is the number of
    /// elements around it.
    fn is_counted_apart(&self, around: usize, name: &str) -> bool {
        self.is_group(around, name) || self.is_unit(around, name)
    }

    fn is_group(&self, around: usize, name: &str) -> bool {
        around == AROUND && name == self.group
    }

    fn is_unit(&self, around: usize, name: &str) -> bool {
        around == AROUND + 1 && name == self.unit
    }
}

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
    path: Path,
    findings: Findings,
    keeper: Keeper,
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
    /// The names of elements that the fast reader left, each with how often in a row.
    left: Vec<(&'static str, u64)>,
    /// Last, because only the last field may have a type without a known size.
    events: EventsOver<T>,
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
            path: Path::default(),
            findings: Findings::new(options),
            keeper: Keeper::new(options.limits.kept_bytes),
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
    pub(crate) fn read_as_of(&mut self, field: Field) -> u8 {
        let version = self.events.version();
        self.events.set_version(field.version_in(version));
        version
    }

    /// Reads on by a version of the schema.
    #[inline]
    pub(crate) fn set_schema_version(&mut self, version: u8) {
        self.events.set_version(version);
    }

    /// Returns the version of the schema that the document is read by.
    #[inline]
    pub fn schema_version(&self) -> u8 {
        self.events.version()
    }

    /// Begins the content of an element that has no attributes in the schema.
    #[inline]
    pub fn begin(&mut self) -> Result<(), Halt> {
        if self.events.attributes().is_empty() {
            Ok(())
        } else {
            self.refuse_attributes()
        }
    }

    /// Takes the parts kept in the sequence that ends.
    #[inline]
    pub fn extras(&mut self) -> Extras {
        self.keeper.take()
    }

    /// Sets the number of the element whose start tag has just been read.
    pub fn set_index(&mut self, index: usize) {
        self.path.set_index(index);
    }

    /// Reads up to the next child of a sequence.
    pub(crate) fn child(
        &mut self,
        fields: &'static [Field],
        at: &mut usize,
    ) -> Result<Child, Halt> {
        let version = self.events.version();
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
                self.path.set_late(fields.get(*at).map(|field| field.wire));
            } else {
                *at = index;
            }
        }
        Ok(child)
    }

    /// Reads up to the next alternative of a choice and returns its index; `None` at the end tag.
    pub fn alternative(&mut self, fields: &'static [Field]) -> Result<Option<usize>, Halt> {
        let version = self.events.version();
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
            find(self.events.tag().local_name())
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
        let open = self.path.len();
        open <= AROUND || (open == AROUND + 1 && self.path.name_at(AROUND) == self.shape.group)
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
        let outer = self
            .shape
            .is_counted_apart(self.path.len(), name)
            .then(|| Used {
                elements: self.events.count_from(0).saturating_sub(1),
                kept: self.keeper.count_from(0),
            });
        let extras = self.keeper.count();
        self.path.push(Step {
            name,
            index: 0,
            repeats: false,
            mark: self.events.mark(),
            last: None,
            extras,
            outer,
        });
    }

    /// Ends the element, which becomes the last child of its parent.
    #[inline]
    pub(crate) fn leave(&mut self) {
        if let Some(used) = self.path.leave().and_then(|step| step.outer) {
            self.restore(used);
        }
    }

    /// Counts on from what had been used before an element that is counted apart.
    fn restore(&mut self, Used { elements, kept }: Used) {
        self.events.count_from(elements);
        self.keeper.count_from(kept);
    }

    /// Begins a sequence; what is returned belongs to the end of it.
    pub(crate) fn enter_record(&mut self) -> Result<Sequence, Halt> {
        let outer = self.keeper.enter(self.path.len());
        self.begin()?;
        Ok(outer)
    }

    /// Ends a sequence.
    pub(crate) fn leave_record(&mut self, outer: Sequence) {
        self.keeper.leave(outer);
        self.leave();
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
        let child = if in_child { self.path.pop() } else { None };
        self.findings.set_silent(true);
        // An error ends the stream, so path and silence need not be restored after it.
        let preview = finish(self)?;
        self.findings.set_silent(false);
        // `finish` took the parts, which the end of the sequence has to have as well.
        self.keeper.put_back(extras(&preview));
        if let Some(child) = child {
            self.path.push(child);
        }
        Ok(preview)
    }

    /// Elements of a name are handed out one by one, so that their list may stay empty.
    pub(crate) fn hand_out(&mut self, name: &'static str) {
        self.handed_out = Some(name);
    }

    /// True when elements of a name are handed out one by one.
    pub(crate) fn hands_out(&self, name: &str) -> bool {
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
            None if self.keeper.holds_element(&self.path) => {
                self.report(FindingKind::Missing {
                    name: alternatives(fields, self.events.version()),
                });
                unknown
            }
            None => return Err(self.missing(alternatives(fields, self.events.version()))),
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
        self.path.take_late();
        self.report_excess(name, FindingKind::Repeated { name, max: 1 });
        self.path.pop();
        let last = self.path.set_last(Some((name, 0)));
        let kept = self.keep();
        self.path.set_last(last);
        kept
    }

    /// Reports that the element just begun is a second alternative, and keeps it as markup.
    #[cold]
    pub fn refuse_second(&mut self, fields: &[Field], index: usize) -> Result<(), Halt> {
        if let Some(field) = fields.get(index) {
            let kind = FindingKind::SecondChoice { name: field.wire };
            self.report_excess(field.wire, kind);
        }
        self.path.pop();
        self.keep()
    }

    /// Reports an element for which there is no room: as unknown where it is not kept.
    fn report_excess(&mut self, name: &str, kind: FindingKind) {
        let unknown = || FindingKind::UnknownElement { name: name.into() };
        self.report(if self.findings.drops_unknown() {
            unknown()
        } else {
            kind
        });
    }

    /// Reports that the element just begun should have stood before another, if so.
    #[inline]
    pub(crate) fn report_if_late(&mut self) {
        if let Some(before) = self.path.take_late()
            && let Some(name) = self.path.last().map(|step| step.name)
        {
            self.report(FindingKind::OutOfOrder { name, before });
        }
    }

    /// Reports something about the current element.
    #[cold]
    pub(crate) fn report(&mut self, kind: FindingKind) {
        if self.findings.make_room(&kind) {
            let position = self.events.position(self.here());
            self.found(kind, self.path.text(), position);
        }
    }

    #[cold]
    fn report_at(&mut self, kind: FindingKind, path: String, mark: Mark) {
        if self.findings.make_room(&kind) {
            let position = self.events.position(mark);
            self.found(kind, path, position);
        }
    }

    fn found(&mut self, kind: FindingKind, path: String, position: Position) {
        let finding = Finding {
            kind,
            path,
            position: Some(position),
        };
        self.events.add_held(finding.memory());
        self.findings.push(finding);
    }

    /// Returns an error of the current element.
    #[cold]
    fn halt_here(&mut self, kind: ReadErrorKind) -> Halt {
        let position = self.events.position(self.here());
        Halt::new(kind, position)
    }

    /// Returns the error of a current element without a mandatory part.
    #[cold]
    pub(crate) fn missing(&mut self, name: impl Into<String>) -> Halt {
        self.halt_here(ReadErrorKind::Missing { name: name.into() })
    }

    /// Returns the place where the current element starts.
    fn here(&self) -> Mark {
        self.path
            .last()
            .map_or(self.events.mark(), |step| step.mark)
    }

    /// Returns an error for the first finding that the options refuse a document for.
    pub(crate) fn refuse_findings(&mut self) -> Result<(), Halt> {
        match self.findings.first_refused().cloned() {
            Some(Finding {
                kind,
                path,
                position,
            }) => {
                // A finding of a reader always has a position, so the default is never used.
                Err(Halt::new(ReadErrorKind::Refused(kind), position.unwrap_or_default()).at(path))
            }
            None => Ok(()),
        }
    }

    /// Makes the error where reading stopped, with the findings before it.
    #[cold]
    pub(crate) fn error(&mut self, halt: Halt) -> ReadError {
        let (kind, position, path) = halt.into_parts();
        let path = path.unwrap_or_else(|| self.path.text());
        let found = self.findings.take();
        ReadError::new(kind, path, position, found, self.findings.further().clone())
    }

    /// Keeps a part, unless that is too much.
    fn keep_part(&mut self, part: ExtraPart) -> Result<(), Halt> {
        if self.findings.drops_unknown() {
            return Ok(());
        }
        let kept = self.keeper.keep(part, &self.path);
        let bytes = self.events.bounded(kept)?;
        self.events.hold(bytes)
    }

    /// Counts memory that the document takes.
    #[inline]
    pub fn hold(&mut self, bytes: usize) -> Result<(), Halt> {
        self.events.hold(bytes)
    }

    /// Bytes of memory that the document has taken so far.
    pub(crate) fn held(&self) -> u64 {
        self.events.held()
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
    /// Takes the findings since the last call.
    pub(crate) fn take_findings(&mut self) -> Vec<Finding> {
        self.findings.take()
    }

    /// Returns the parts around the document.
    pub(crate) fn around(&self) -> Option<&Around> {
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
        self.findings.take_further()
    }

    /// Returns the findings for which there was no room.
    pub(crate) fn further_findings(&self) -> &FurtherFindings {
        self.findings.further()
    }
}

// For a reference, because only a type of known size becomes `dyn Watch`.
impl Watch for &mut Cursor<'_> {
    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }

    fn report(&mut self, kind: FindingKind) {
        Cursor::report(self, kind);
    }
}

impl<T: ?Sized> fmt::Debug for CursorOver<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Cursor")
            .field("path", &self.path.text())
            .finish_non_exhaustive()
    }
}
