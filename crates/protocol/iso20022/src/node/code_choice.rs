//! Codes that a later version of the schema has in a choice: `Cd` with the code, or `Prtry`.

use super::{Node, SchemaType, Simple, check_field, check_simple, simple_faults};
use super::{write_field_kept, write_kept, write_simple};
use crate::check::Checker;
use crate::extra::Kept;
use crate::field::{Field, Tag};
use crate::output::Output;
use crate::read::{Cursor, Halt, Odd, Scanner};
use crate::value::Text;

/// A list of codes that is a choice between a code and a proprietary text since some version.
pub trait CodeChoice: Simple + 'static {
    /// The first version with the choice.
    const SINCE: u8;
    /// Makes the value of a proprietary text.
    fn from_proprietary(text: Text<35>) -> Self;
    /// Returns the proprietary text, if it is one.
    fn proprietary(&self) -> Option<&Text<35>>;
}

const CODE: &Tag = &Tag {
    wire: "Cd",
    start: "<Cd",
    open: "<Cd>",
    close: "</Cd>",
};
const PROPRIETARY: &Tag = &Tag {
    wire: "Prtry",
    start: "<Prtry",
    open: "<Prtry>",
    close: "</Prtry>",
};
const CODE_ROW: &Field = &row(CODE);
const PROPRIETARY_ROWS: &[Field] = &[row(PROPRIETARY)];
const FIELDS: &[Field] = &[row(CODE), row(PROPRIETARY)];

const fn row(tag: &Tag) -> Field {
    Field {
        wire: tag.wire,
        min: 1,
        max: 1,
        since: 0,
        until: u8::MAX,
        as_of: 0,
    }
}

/// Reads a code, or a choice between a code and a proprietary text.
pub fn read_code_choice<C: CodeChoice>(from: &mut Cursor<'_>) -> Result<C, Halt> {
    if from.schema_version() < C::SINCE {
        return from.leaf(C::parse, simple_faults);
    }
    let mut chosen = None;
    from.begin()?;
    while let Some(index) = from.alternative(FIELDS)? {
        match (&chosen, index) {
            (None, 0) => chosen = Some(from.leaf(C::parse, simple_faults)?),
            (None, _) => chosen = Some(C::from_proprietary(Text::read(from)?)),
            (Some(_), _) => from.refuse_second(FIELDS, index)?,
        }
    }
    let chosen = chosen.ok_or_else(|| from.missing("Cd|Prtry"))?;
    from.leave();
    Ok(chosen)
}

/// Reads the same as the writer writes it.
#[inline]
pub fn scan_code_choice<C: CodeChoice>(from: &mut Scanner<'_>) -> Result<C, Odd> {
    let is_choice = from.version() >= C::SINCE;
    if is_choice {
        from.gap();
        if !from.enter(CODE, false) {
            return from.one(PROPRIETARY).map(C::from_proprietary);
        }
    }
    let code = from.leaf()?;
    if is_choice {
        from.expect(CODE.close)?;
        from.gap();
    }
    Ok(code)
}

/// Writes a code, or a choice between a code and a proprietary text. Inlined, so that the tags of
/// the code are constants.
#[inline(always)]
pub fn write_code_choice<C: CodeChoice + Node>(
    value: &C,
    tag: &'static Tag,
    out: &mut Output<'_>,
    kept: Kept<'_>,
) {
    if out.version() < C::SINCE {
        write_simple(value, tag, out, kept);
    } else {
        write_choice(value, tag, out, kept);
    }
}

fn write_choice<C: CodeChoice + Node>(
    value: &C,
    tag: &'static Tag,
    out: &mut Output<'_>,
    kept: Kept<'_>,
) {
    let content = |out: &mut Output<'_>| match value.proprietary() {
        Some(text) => write_field_kept(text, PROPRIETARY, out, kept),
        None => kept.field(CODE.wire, 0, out, |out, inside| {
            write_simple(value, CODE, out, inside);
        }),
    };
    write_kept(tag, out, kept, content);
}

/// Reports the findings of a code, or of a choice between a code and a proprietary text.
pub fn check_code_choice<C: CodeChoice>(value: &C, to: &mut Checker) {
    let is_choice = to.version() >= C::SINCE;
    match value.proprietary() {
        Some(text) if is_choice => check_field(text, PROPRIETARY_ROWS, to),
        Some(_) => to.not_in_version(&row(PROPRIETARY)),
        None if is_choice => {
            to.enter(CODE_ROW, 0);
            check_simple(value, to);
            to.leave();
        }
        None => check_simple(value, to),
    }
}

/// Returns the type of the choice in the schema; before it, its first element stands for it.
pub fn code_choice_type<C: CodeChoice>(name: &'static str) -> SchemaType {
    SchemaType {
        name,
        is_choice: true,
        bare_until: C::SINCE - 1,
        elements: const {
            &[
                (row(CODE), <C as Simple>::schema_type as fn() -> _),
                (row(PROPRIETARY), <Text<35> as Node>::schema_type),
            ]
        },
        ..SchemaType::simple::<C>(&[])
    }
}
