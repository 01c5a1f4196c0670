//! `xs:boolean`.

use crate::schema::{Fault, Simple, Unreadable, simple_nodes};
use crate::write::Output;

simple_nodes! { [] bool }

impl Simple for bool {
    fn parse(text: &str) -> Result<Self, Unreadable> {
        match text.trim_matches([' ', '\t', '\r', '\n']) {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(Unreadable { expected: "true, false, 1 or 0" }),
        }
    }

    fn append(&self, out: &mut Output<'_>) {
        out.raw(if *self { "true" } else { "false" });
    }

    fn is_type(name: &str) -> bool {
        matches!(name, "ChargeIncludedIndicator" | "TrueFalseIndicator" | "YesNoIndicator")
    }

    fn fault(&self) -> Option<Fault> {
        None
    }
}
