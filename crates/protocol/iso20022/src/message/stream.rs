//! Reads a message unit by unit, in memory bounded by the largest unit and by the parts outside of
//! units.

use super::Message;
use crate::field::Field;
use crate::finding::{Finding, FurtherFindings};
use crate::node::{Node, Record};
use crate::read::{
    Child, Cursor, CursorOver, Decoded, Halt, ReadError, ReadOptions, Shape, StreamTokens,
};
use crate::version::Version;
use std::fmt;
use std::io::BufRead;

/// Reads a message group by group and unit by unit. The crate of a message has an alias of this
/// type, such as `EntryReader`.
///
/// An error with [`ReadError::unread`] is about a single unit, and reading continues after that
/// unit. After any other error the reader returns `None`.
pub struct UnitReader<M: Message, R> {
    input: Documents<R>,
    progress: Progress<M>,
}

/// The parts of a document read so far. The type does not depend on the source, so that reading is
/// compiled once for a message.
pub struct Progress<M: Message> {
    state: State,
    message: M::Slots,
    message_at: usize,
    groups: usize,
    /// The bytes of memory that the document had taken when the group began.
    held: u64,
    group: <M::Group as Record>::Slots,
    group_at: usize,
    units: usize,
    /// True after the start of the group has been handed out.
    started: bool,
}

/// A part of a document that a reader has read. The crate of a message has an alias of this type
/// for its document.
///
/// The contents are boxed, because a part would otherwise be as large as its largest variant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamItem<M: Message> {
    /// The start of a group, such as a report, with the parts before its first entry.
    Start(Box<M::Group>),
    /// A unit of the group, such as an entry.
    Entry(Box<M::Unit>),
    /// The end of a group: the whole group except its units.
    End(Box<M::Group>),
    /// The end of the message: the whole message except its groups.
    MessageEnd(Box<M>),
}

impl<M: Message> StreamItem<M> {
    /// Converts the part into that of another message with the same units.
    #[must_use]
    pub fn convert<N>(self) -> StreamItem<N>
    where
        N: Message<Unit = M::Unit> + From<M>,
        N::Group: From<M::Group>,
    {
        match self {
            Self::Start(start) => StreamItem::Start(Box::new((*start).into())),
            Self::Entry(entry) => StreamItem::Entry(entry),
            Self::End(end) => StreamItem::End(Box::new((*end).into())),
            Self::MessageEnd(end) => StreamItem::MessageEnd(Box::new((*end).into())),
        }
    }
}

/// A part, or a unit that could not be read.
type Part<M> = Result<StreamItem<M>, Box<ReadError>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Begin,
    /// The start tag of the document element has been read.
    Opened,
    Message,
    /// Reading is within a group.
    Group,
    /// The start tag of a unit has been read.
    Unit,
    /// The end tag of a group has been read.
    GroupEnds,
    Done,
}

impl<M: Message, R: BufRead> UnitReader<M, R> {
    /// Makes a reader of a document from a source.
    pub fn new(source: R, options: ReadOptions) -> Self {
        Self {
            input: Documents::open(source, &options, &[M::SHAPE]),
            progress: Progress::new(State::Begin),
        }
    }

    /// Reads the next part; `None` after the end of the message.
    ///
    /// # Errors
    /// [`ReadError`]. After the error of a unit that cannot be read, the next call continues with
    /// the next unit; after any other error the reader is at its end.
    pub fn next_item(&mut self) -> Result<Option<StreamItem<M>>, ReadError> {
        self.input.next_part(&mut self.progress)
    }
}

/// An input with documents of several messages, one after the other, possibly in wrappers.
pub type Documents<R> = CursorOver<StreamTokens<R>>;

impl<R: BufRead> Documents<R> {
    /// Opens a source.
    pub fn open(source: R, options: &ReadOptions, shapes: &[&'static Shape]) -> Self {
        let tokens = StreamTokens::new(Decoded::new(source, options));
        Self::new(tokens, *options, shapes)
    }

    /// Reads the start tag of the next document; returns false if there is none. All parts of the
    /// previous document must have been read.
    pub fn next_document(&mut self, shapes: &[&'static Shape]) -> Result<bool, ReadError> {
        self.erased().find_document(shapes)
    }

    /// Reads the next part of the document; `None` after its end.
    pub fn next_part<M: Message>(
        &mut self,
        progress: &mut Progress<M>,
    ) -> Result<Option<StreamItem<M>>, ReadError> {
        progress.next(self.erased())
    }
}

impl<M: Message> Default for Progress<M> {
    /// Reading begins after the start tag of the document element.
    fn default() -> Self {
        Self::new(State::Opened)
    }
}

impl<M: Message> Progress<M> {
    /// Returns the header; `None` before its end, and again after the end of the message.
    pub fn header(&self) -> Option<&M::Header> {
        M::header(&self.message)
    }

    fn new(state: State) -> Self {
        Self {
            state,
            message: Default::default(),
            message_at: 0,
            groups: 0,
            held: 0,
            group: Default::default(),
            group_at: 0,
            units: 0,
            started: false,
        }
    }

    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<StreamItem<M>>, ReadError> {
        let part = self
            .advance(cursor)
            // Strict reading returns no part that has a refused finding.
            .and_then(|part| cursor.refuse_findings().map(|()| part));
        match part {
            Ok(Some(Err(unread))) => Err(*unread),
            Ok(part) => Ok(part.and_then(Result::ok)),
            Err(halt) => {
                // Reading cannot continue, because the place in the document is unknown after such
                // an error.
                self.state = State::Done;
                cursor.end();
                Err(cursor.error(halt))
            }
        }
    }

    fn advance(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Part<M>>, Halt> {
        loop {
            match self.state {
                State::Done => return Ok(None),
                State::Begin => {
                    cursor.find_message(&[M::SHAPE])?;
                    self.state = State::Opened;
                }
                State::Opened => {
                    cursor.open_message()?;
                    cursor.enter_record()?;
                    self.state = State::Message;
                }
                State::Message => {
                    if let Some(part) = self.message(cursor)? {
                        return Ok(Some(part));
                    }
                }
                State::Group => {
                    if let Some(part) = self.group(cursor)? {
                        return Ok(Some(part));
                    }
                }
                State::Unit => return self.unit(cursor).map(Some),
                State::GroupEnds => return self.group_end(cursor),
            }
        }
    }

    /// Reads in the message up to the start tag of a group.
    fn message(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Part<M>>, Halt> {
        cursor.read_ahead::<M>(&mut self.message, &mut self.message_at, "")?;
        let index = match cursor.child(M::FIELDS, &mut self.message_at)? {
            Child::Field(index) => index,
            Child::Unknown => return Ok(None),
            Child::End => return self.message_end(cursor),
        };
        if !is(M::FIELDS, index, M::SHAPE.group) {
            M::take(&mut self.message, index, cursor)?;
            return Ok(None);
        }
        cursor.set_index(self.groups);
        cursor.report_if_late();
        self.groups += 1;
        self.held = cursor.held();
        self.group = Default::default();
        self.group_at = 0;
        self.units = 0;
        cursor.enter_record()?;
        self.started = false;
        self.state = State::Group;
        Ok(None)
    }

    /// Reads in a group up to the start tag of a unit.
    fn group(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Part<M>>, Halt> {
        let fields = <M::Group as Record>::FIELDS;
        let next =
            cursor.read_ahead::<M::Group>(&mut self.group, &mut self.group_at, M::SHAPE.unit)?;
        if let Some((index, ahead)) = next.filter(|(index, _)| is(fields, *index, M::SHAPE.unit)) {
            // The start of the group comes first; the unit is read on the next call.
            if !self.started {
                return self.group_start(cursor, false);
            }
            let mut unit: Option<M::Unit> = None;
            if cursor
                .scan_element(&mut unit, M::UNIT, Some(self.units), ahead)
                .is_ok()
            {
                self.group_at = index;
                self.units += 1;
                return Ok(unit.map(|unit| Ok(StreamItem::Entry(Box::new(unit)))));
            }
        }
        let in_unit = match cursor.child(fields, &mut self.group_at)? {
            Child::Unknown => return Ok(None),
            Child::End => {
                self.state = State::GroupEnds;
                false
            }
            Child::Field(index) if !is(fields, index, M::SHAPE.unit) => {
                M::Group::take(&mut self.group, index, cursor)?;
                return Ok(None);
            }
            Child::Field(_) => {
                cursor.set_index(self.units);
                cursor.report_if_late();
                self.units += 1;
                self.state = State::Unit;
                true
            }
        };
        if self.started {
            Ok(None)
        } else {
            self.group_start(cursor, in_unit)
        }
    }

    /// Reads a unit with the reader over events.
    fn unit(&mut self, cursor: &mut Cursor<'_>) -> Result<Part<M>, Halt> {
        // Sets the state before reading, because reading continues from here after a unit that
        // cannot be read.
        self.state = State::Group;
        let place = cursor.place();
        match M::Unit::read(cursor) {
            Ok(unit) => Ok(Ok(StreamItem::Entry(Box::new(unit)))),
            Err(halt) => {
                // The number of a unit counts the units read before, as in a whole document.
                self.units -= 1;
                cursor.go_on(halt, place).map(Err)
            }
        }
    }

    /// Hands out the part of a group that has been read so far. Missing parts that the schema
    /// demands are reported at the end of the group. `in_unit` is true when the start tag of a unit
    /// has just been read.
    fn group_start(
        &mut self,
        cursor: &mut Cursor<'_>,
        in_unit: bool,
    ) -> Result<Option<Part<M>>, Halt> {
        self.started = true;
        // These parts are handed out again at the end of the group, so their memory counts twice.
        let held = cursor.held() - self.held;
        cursor.hold(usize::try_from(held).unwrap_or(usize::MAX))?;
        let group = self.group.clone();
        let group = cursor.preview(
            in_unit,
            |cursor| M::Group::finish(group, cursor),
            Record::extras,
        )?;
        Ok(Some(Ok(StreamItem::Start(Box::new(group)))))
    }

    fn group_end(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Part<M>>, Halt> {
        let group = M::Group::finish(std::mem::take(&mut self.group), cursor)?;
        group.settle(&mut &mut *cursor);
        cursor.leave();
        self.state = State::Message;
        Ok(Some(Ok(StreamItem::End(Box::new(group)))))
    }

    fn message_end(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Part<M>>, Halt> {
        // If there is no group at all, the list was not handed out but is missing, which is
        // reported.
        if self.groups > 0 {
            cursor.hand_out(M::SHAPE.group);
        }
        let mut message = M::finish(std::mem::take(&mut self.message), cursor)?;
        cursor.leave();
        message.extras_mut().extend(cursor.close_document()?);
        self.state = State::Done;
        Ok(Some(Ok(StreamItem::MessageEnd(Box::new(message)))))
    }
}

impl<M: Message, R: BufRead> Iterator for UnitReader<M, R> {
    type Item = Result<StreamItem<M>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_item().transpose()
    }
}

impl<M: Message, R> UnitReader<M, R> {
    /// Returns the header; `None` before its end, and again after the end of the message, which
    /// contains it.
    #[must_use]
    pub fn header(&self) -> Option<&M::Header> {
        self.progress.header()
    }

    /// Returns the version of the document; the default version before anything was read.
    #[must_use]
    pub fn version(&self) -> Version {
        self.input.version()
    }

    /// Returns the findings since the last call.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        self.input.take_findings()
    }

    /// Returns the number of findings of each kind since the start for which
    /// [`ReadLimits::max_findings`](crate::ReadLimits::max_findings) had no room.
    #[must_use]
    pub fn further_findings(&self) -> &FurtherFindings {
        self.input.further_findings()
    }
}

/// Returns true when the field at an index has a name.
fn is(fields: &[Field], index: usize, name: &str) -> bool {
    fields.get(index).is_some_and(|field| field.wire == name)
}

impl<M: Message, R> fmt::Debug for UnitReader<M, R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.progress.fmt(out)
    }
}

impl<M: Message> fmt::Debug for Progress<M> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("UnitReader")
            .field("state", &self.state)
            .field("groups", &self.groups)
            .field("units", &self.units)
            .finish_non_exhaustive()
    }
}
