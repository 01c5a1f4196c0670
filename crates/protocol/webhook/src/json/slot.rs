//! The kinds of members that the derive [`Wire`](super::Wire) makes of a field's type and
//! arguments.

/// The functions that read a member of each kind.
pub(crate) mod read {
    use crate::Amended;
    use crate::amended::Clearable;
    use crate::error::MessageError;
    use crate::finding::Rule;
    use crate::json::{Context, Wire};
    use bankrail_values::json::{JsonObject, JsonValue};

    pub(crate) fn required<T: Wire>(
        members: &JsonObject<'_>,
        name: &str,
        at: &mut Context,
    ) -> Result<T, MessageError> {
        at.within(name, |at| match members.get(name) {
            None => Err(MessageError::Missing {
                pointer: at.pointer(),
            }),
            Some(value) => T::read(value, at),
        })
    }

    /// Returns the value of a member that is present, read by `read`. `null` counts as absent and
    /// is a finding.
    fn present<T>(
        members: &JsonObject<'_>,
        name: &str,
        at: &mut Context,
        read: impl FnOnce(&JsonValue<'_>, &mut Context) -> Result<T, MessageError>,
    ) -> Result<Option<T>, MessageError> {
        let Some(value) = members.get(name) else {
            return Ok(None);
        };
        at.within(name, |at| {
            if *value == JsonValue::Null {
                at.find(Rule::Null, "no member rather than null", "null");
                return Ok(None);
            }
            read(value, at).map(Some)
        })
    }

    pub(crate) fn optional<T: Wire>(
        members: &JsonObject<'_>,
        name: &str,
        at: &mut Context,
    ) -> Result<Option<T>, MessageError> {
        present(members, name, at, T::read)
    }

    pub(crate) fn amended<T: Wire + Clearable>(
        members: &JsonObject<'_>,
        name: &str,
        at: &mut Context,
    ) -> Result<Amended<T>, MessageError> {
        let read = |value: &JsonValue<'_>, at: &mut Context| {
            T::cleared(value).map_or_else(|| T::read(value, at).map(Amended::Changed), Ok)
        };
        Ok(present(members, name, at, read)?.unwrap_or(Amended::Absent))
    }

    pub(crate) use {optional as expected, required as fixed};
}

/// The functions that write a member of each kind.
pub(crate) mod write {
    use crate::Amended;
    use crate::amended::Clearable;
    use crate::json::{ObjectOut, Wire};

    pub(crate) fn required<'n, T: Wire>(value: &'n T, name: &'n str, out: &mut ObjectOut<'_, 'n>) {
        out.member(name, |out| value.write(out));
    }

    pub(crate) fn optional<'n, T: Wire>(
        value: &'n Option<T>,
        name: &'n str,
        out: &mut ObjectOut<'_, 'n>,
    ) {
        if let Some(value) = value {
            required(value, name, out);
        }
    }

    pub(crate) fn amended<'n, T: Wire + Clearable>(
        value: &'n Amended<T>,
        name: &'n str,
        out: &mut ObjectOut<'_, 'n>,
    ) {
        match value {
            Amended::Absent => {}
            Amended::Changed(value) => required(value, name, out),
            Amended::Cleared => out.member(name, |out| out.raw(T::CLEARED)),
            Amended::ClearedByDash => out.member(name, |out| out.raw(r#""-""#)),
        }
    }

    pub(crate) use {optional as expected, required as fixed};
}

/// The functions that check a member of each kind.
pub(crate) mod check {
    use crate::Amended;
    use crate::amended::Clearable;
    use crate::finding::Rule;
    use crate::json::{Bound, Context, Output, Wire};

    pub(crate) fn required<T: Wire>(
        value: &T,
        name: &str,
        bound: Option<&Bound>,
        at: &mut Context,
    ) {
        at.within(name, |at| value.check(bound, at));
    }

    pub(crate) fn optional<T: Wire>(
        value: &Option<T>,
        name: &str,
        bound: Option<&Bound>,
        at: &mut Context,
    ) {
        if let Some(value) = value {
            required(value, name, bound, at);
        }
    }

    pub(crate) fn expected<T: Wire>(
        value: &Option<T>,
        name: &str,
        bound: Option<&Bound>,
        at: &mut Context,
    ) {
        match value {
            Some(value) => required(value, name, bound, at),
            None => at.within(name, |at| at.find(Rule::DefaultRequired, "a value", "none")),
        }
    }

    pub(crate) fn amended<T: Wire + Clearable>(
        value: &Amended<T>,
        name: &str,
        bound: Option<&Bound>,
        at: &mut Context,
    ) {
        let Amended::Changed(value) = value else {
            return;
        };
        required(value, name, bound, at);
        // A value and its mark are each written in one way. A time has two marks, but never writes
        // the dash.
        let mut written = Output::plain();
        value.write(&mut written);
        if written.finish() == T::CLEARED {
            at.within(name, |at| {
                at.find(
                    Rule::ReadsAsCleared,
                    "a value that is not the mark for cleared",
                    "the mark",
                )
            });
        }
    }

    pub(crate) use required as fixed;
}
