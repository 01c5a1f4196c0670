//! Units one after the other, in memory bounded by the largest unit and by the parts outside of units.

use super::Message;
use crate::field::Field;
use crate::finding::Finding;
use crate::node::{Node, Record};
use crate::read::{Child, Cursor, Decoded, FurtherFindings, Halt, ReadError, ReadOptions, Sequence, StreamTokens};
use std::fmt;
use std::io::BufRead;

/// Reads a message group by group and unit by unit. `message!` gives it the names of the message.
pub struct UnitReader<M: Message, R> {
    cursor: Cursor<StreamTokens<R>>,
    state: State,
    message: M::Slots,
    message_at: usize,
    groups: usize,
    /// Bytes of memory that the document had taken when the group began.
    held: u64,
    group: <M::Group as Record>::Slots,
    group_at: usize,
    units: usize,
    /// What belongs to the ends of the message and of the group.
    outer: [Sequence; 2],
}

/// A part of a message read in order.
#[allow(clippy::exhaustive_enums)] // the engine's own
#[derive(Debug)]
pub enum Part<M: Message> {
    /// A group begins: the parts before its units.
    GroupStart(Box<M::Group>),
    /// A unit of the group.
    Unit(Box<M::Unit>),
    /// The group ends: all of its parts except its units.
    GroupEnd(Box<M::Group>),
    /// The message ends: all of its parts except its groups.
    MessageEnd(Box<M>),
    /// A unit could not be read; reading goes on after it.
    Unread(Box<ReadError>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Begin,
    Message,
    /// Within a group; `started` when its start has been handed out, `unit` when the start tag of one has been read.
    Group {
        started: bool,
        unit: bool,
    },
    /// Handed out the start of a group that has ended.
    GroupEnds,
    Done,
}

impl<M: Message, R: BufRead> UnitReader<M, R> {
    /// Reads with these options.
    pub fn new(source: R, options: ReadOptions) -> Self {
        Self {
            cursor: Cursor::new(StreamTokens::new(Decoded::new(source, &options)), options, M::SHAPE),
            state: State::Begin,
            message: Default::default(),
            message_at: 0,
            groups: 0,
            held: 0,
            group: Default::default(),
            group_at: 0,
            units: 0,
            outer: Default::default(),
        }
    }

    /// The next part; `None` after the end of the message.
    pub fn next_part(&mut self) -> Result<Option<Part<M>>, ReadError> {
        let part = self.advance().and_then(|part| {
            self.cursor.refuse_findings()?;
            Ok(part)
        });
        part.map_err(|halt| {
            self.state = State::Done;
            self.cursor.error(halt)
        })
    }

    fn advance(&mut self) -> Result<Option<Part<M>>, Halt> {
        loop {
            match self.state {
                State::Done => return Ok(None),
                State::Begin => {
                    self.cursor.open_document()?;
                    self.cursor.open_message()?;
                    self.outer[0] = self.cursor.enter_record()?;
                    self.state = State::Message;
                }
                State::Message => {
                    if let Some(part) = self.message()? {
                        return Ok(Some(part));
                    }
                }
                State::Group { started, unit } => {
                    if let Some(part) = self.group(started, unit)? {
                        return Ok(Some(part));
                    }
                }
                State::GroupEnds => return self.group_end().map(Some),
            }
        }
    }

    /// Within the message, up to the start tag of a group.
    fn message(&mut self) -> Result<Option<Part<M>>, Halt> {
        let cursor = &mut self.cursor;
        cursor.read_ahead::<M>(&mut self.message, &mut self.message_at, "")?;
        let index = match cursor.child(M::FIELDS, &mut self.message_at)? {
            Child::Field(index) => index,
            Child::Unknown => return Ok(None),
            Child::End => return self.message_end().map(Some),
        };
        if !is(M::FIELDS, index, M::SHAPE.group) {
            M::take(&mut self.message, index, cursor)?;
            return Ok(None);
        }
        cursor.set_index(self.groups);
        cursor.report_if_late();
        self.groups += 1;
        self.held = cursor.events.held;
        self.group = Default::default();
        self.group_at = 0;
        self.units = 0;
        self.outer[1] = cursor.enter_record()?;
        self.state = State::Group { started: false, unit: false };
        Ok(None)
    }

    /// Within a group.
    fn group(&mut self, started: bool, unit: bool) -> Result<Option<Part<M>>, Halt> {
        let fields = <M::Group as Record>::FIELDS;
        let cursor = &mut self.cursor;
        if unit {
            self.state = State::Group { started: true, unit: false };
            let place = cursor.place();
            return match M::Unit::read(cursor) {
                Ok(unit) => Ok(Some(Part::Unit(Box::new(unit)))),
                Err(halt) => {
                    self.units -= 1;
                    cursor.go_on(halt, place).map(|error| Some(Part::Unread(error)))
                }
            };
        }
        let next = cursor.read_ahead::<M::Group>(&mut self.group, &mut self.group_at, M::SHAPE.unit)?;
        if let Some((index, ahead)) = next.filter(|(index, _)| is(fields, *index, M::SHAPE.unit)) {
            if !started {
                self.state = State::Group { started: true, unit: false };
                return self.group_start().map(Some);
            }
            let mut unit = None;
            let keep = |read| unit = Some(Box::new(read));
            if cursor.scan_element(M::UNIT, Some(self.units), ahead, keep).is_ok() {
                self.group_at = index;
                self.units += 1;
                return Ok(unit.map(Part::Unit));
            }
        }
        let index = match cursor.child(fields, &mut self.group_at)? {
            Child::Field(index) => index,
            Child::Unknown => return Ok(None),
            Child::End => {
                self.state = State::GroupEnds;
                return if started { Ok(None) } else { self.group_start().map(Some) };
            }
        };
        if !is(fields, index, M::SHAPE.unit) {
            M::Group::take(&mut self.group, index, cursor)?;
            return Ok(None);
        }
        cursor.set_index(self.units);
        cursor.report_if_late();
        self.units += 1;
        self.state = State::Group { started: true, unit: true };
        if started { Ok(None) } else { self.group_start().map(Some) }
    }

    /// What has been read of a group so far; what is missing although the schema demands it is reported at its end.
    fn group_start(&mut self) -> Result<Part<M>, Halt> {
        let unit = matches!(self.state, State::Group { unit: true, .. });
        let open = if unit { self.cursor.path.pop() } else { None };
        // What is handed out now is handed out again at the end.
        let held = self.cursor.events.held - self.held;
        self.cursor.hold(usize::try_from(held).unwrap_or(usize::MAX))?;
        self.cursor.findings.set_silent(true);
        let group = M::Group::finish(self.group.clone(), &mut self.cursor)?;
        self.cursor.findings.set_silent(false);
        self.cursor.keeper.put_back(group.extras());
        if let Some(open) = open {
            self.cursor.path.push(open);
        }
        Ok(Part::GroupStart(Box::new(group)))
    }

    fn group_end(&mut self) -> Result<Part<M>, Halt> {
        let group = M::Group::finish(std::mem::take(&mut self.group), &mut self.cursor)?;
        group.settle(&mut self.cursor);
        self.cursor.leave_record(self.outer[1]);
        self.state = State::Message;
        Ok(Part::GroupEnd(Box::new(group)))
    }

    fn message_end(&mut self) -> Result<Part<M>, Halt> {
        let cursor = &mut self.cursor;
        cursor.handed_out = (self.groups > 0).then_some(M::SHAPE.group);
        let mut message = M::finish(std::mem::take(&mut self.message), cursor)?;
        cursor.leave_record(self.outer[0]);
        message.extras_mut().extend(cursor.close_document()?);
        self.state = State::Done;
        Ok(Part::MessageEnd(Box::new(message)))
    }
}

impl<M: Message, R> UnitReader<M, R> {
    /// The header, from its end to that of the message, with which it is handed out.
    pub fn header(&self) -> Option<&M::Header> {
        M::header(&self.message)
    }

    /// The findings since the last call.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        self.cursor.findings.take()
    }

    /// The findings for which there was no room.
    pub fn further_findings(&self) -> &FurtherFindings {
        self.cursor.findings.further()
    }
}

/// True when the field at an index has a name.
fn is(fields: &[Field], index: usize, name: &str) -> bool {
    fields.get(index).is_some_and(|field| field.wire == name)
}

impl<M: Message, R> fmt::Debug for UnitReader<M, R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("UnitReader")
            .field("state", &self.state)
            .field("groups", &self.groups)
            .field("units", &self.units)
            .finish_non_exhaustive()
    }
}
