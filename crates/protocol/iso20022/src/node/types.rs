//! The types of a schema, which `xsi:type` may name in supplementary data.

use super::Node;
use crate::read::{Cursor, Halt, TextTokens, Type};
use std::any::TypeId;

/// The types of a schema, each with the name that the statement of its element gives, if it does.
#[derive(Debug, Default)]
pub struct Types(Vec<(TypeId, Option<&'static str>, Type)>);

impl Types {
    /// The type of a message, and all types below it.
    #[must_use]
    pub fn of<N: Node>() -> Self {
        let mut types = Self::default();
        N::list_types(None, &mut types);
        types
    }

    /// Adds a type; false when it was there.
    pub fn add<N: Node>(&mut self, stated: Option<&'static str>) -> bool {
        let id = TypeId::of::<N>();
        let is_new = self
            .0
            .iter()
            .all(|(other, name, _)| (*other, *name) != (id, stated));
        if is_new {
            self.0.push((id, stated, type_of::<N>()));
        }
        is_new
    }

    /// The type of a name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Type> {
        let found = self.0.iter().find(|(_, stated, own)| match stated {
            Some(stated) => *stated == name,
            None => (own.is_type)(&[], name),
        });
        found.map(|(.., own)| own)
    }
}

/// The type of a node.
#[must_use]
pub const fn type_of<N: Node>() -> Type {
    Type {
        is_type: N::is_type,
        read: judge::<N>,
    }
}

/// Reads the content of an element of a type, which is only judged.
fn judge<N: Node>(from: &mut Cursor<TextTokens<'_>>) -> Result<(), Halt> {
    N::read(from).map(drop)
}
