//! `xs:boolean`.

use crate::field::{Fault, Unreadable};
use crate::node::Simple;
use crate::output::Output;
use crate::xml::is_space;

crate::__simple_nodes! { [] bool }

impl Simple for bool {
    fn parse(text: &str) -> Result<Self, Unreadable> {
        match text.trim_matches(is_space) {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(Unreadable {
                expected: "true, false, 1 or 0",
            }),
        }
    }

    fn append(&self, out: &mut Output<'_>) {
        out.raw(if *self { "true" } else { "false" });
    }

    fn fault(&self, _version: u8) -> Option<Fault> {
        None
    }
}
