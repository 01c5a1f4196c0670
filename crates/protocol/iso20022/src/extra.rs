//! The parts of a document that the schema does not have. The reader keeps them, and the writer
//! puts them back in their place.

use crate::output::Output;
use std::cmp::Ordering;
use std::collections::HashSet;

/// The parts of one sequence that the schema does not have.
///
/// Each part knows its place: the element of the sequence that it is inside of (none: directly in
/// the sequence), and the element that it follows.
///
/// Two values are equal when they have the same parts in the same order at each place. The order of
/// the places does not count, because the elements around the parts give it.
#[derive(Clone, Debug, Default, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
#[allow(clippy::box_collection)] // almost always absent, and then takes 8 bytes instead of 24
pub struct Extras(Option<Box<Vec<Extra>>>);

/// One part of a document that the schema does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Extra {
    /// The path from the sequence down to the element that holds the part; empty for the sequence
    /// itself.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub inside: Vec<ExtraStep>,
    /// The element after which the part stood; `None` at the beginning.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub after: Option<ExtraStep>,
    /// The part.
    pub part: ExtraPart,
}

/// An element of the schema , by its wire name and its number among the elements of that name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ExtraStep {
    /// The wire name.
    pub name: Box<str>,
    /// The number among the elements of the same name, from 0.
    pub index: usize,
}

/// A part that the schema does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum ExtraPart {
    /// Markup as it stood in the document, with the namespace declarations it needs.
    Xml(Box<str>),
    /// Text where the schema allows none.
    Text(Box<str>),
    /// An attribute.
    Attribute {
        /// The name, with its prefix.
        name: Box<str>,
        /// The namespace of a prefixed name.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none")
        )]
        namespace: Option<Box<str>>,
        /// The value.
        value: Box<str>,
    },
}

impl Extra {
    /// Returns the bytes of memory that the part takes while a document is read.
    pub(crate) fn memory(&self) -> usize {
        let step = |step: &ExtraStep| size_of::<ExtraStep>() + step.name.len();
        let part = match &self.part {
            ExtraPart::Xml(text) | ExtraPart::Text(text) => text.len(),
            ExtraPart::Attribute {
                name,
                namespace,
                value,
            } => {
                name.len() + namespace.as_ref().map_or(0, |namespace| namespace.len()) + value.len()
            }
        };
        let place: usize = self.inside.iter().map(step).sum();
        // Counts the part three times: a list that grows by doubling may have room for two, and the
        // list of the sequence holds one.
        3 * size_of::<Self>()
            + place
            + self.after.as_ref().map_or(0, |after| after.name.len())
            + part
    }
}

impl PartialEq for Extras {
    fn eq(&self, other: &Self) -> bool {
        if self.parts() == other.parts() {
            return true;
        }
        // Sorts only when the order of places differs, which is rare.
        let sorted = |extras: &Self| {
            let mut parts: Vec<Extra> = extras.parts().to_vec();
            parts.sort_by(by_place);
            parts
        };
        sorted(self) == sorted(other)
    }
}

impl Extras {
    /// Returns true when there is nothing beyond the schema.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // A list read from JSON may be empty.
        self.0.as_ref().is_none_or(|parts| parts.is_empty())
    }

    /// Returns the parts, in the order of the document.
    #[must_use]
    pub fn parts(&self) -> &[Extra] {
        self.0.as_ref().map_or(&[], |parts| parts.as_slice())
    }

    /// Returns true if there is an element of a name directly in the sequence, such as an entry
    /// that could not be read.
    #[must_use]
    pub fn has_element(&self, name: &str) -> bool {
        let is_named = |xml: &str| element_name(xml).rsplit(':').next() == Some(name);
        self.parts().iter().any(|extra| {
            extra.inside.is_empty() && matches!(&extra.part, ExtraPart::Xml(xml) if is_named(xml))
        })
    }

    /// Drops everything beyond the schema.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// Appends parts.
    pub(crate) fn extend(&mut self, parts: Vec<Extra>) {
        if !parts.is_empty() {
            self.0.get_or_insert_default().extend(parts);
        }
    }

    pub(crate) fn from_parts(parts: Vec<Extra>) -> Self {
        Self(if parts.is_empty() {
            None
        } else {
            Some(Box::new(parts))
        })
    }

    /// Calls `write` with the parts, ordered by place.
    #[cold]
    pub fn with(&self, write: impl FnOnce(KeptParts<'_>)) {
        write(KeptParts {
            parts: &self.by_place(),
            depth: 0,
        });
    }

    /// Returns the parts in the order of their places. This function is not generic, so that the
    /// sort is compiled once and not for each message.
    fn by_place(&self) -> Vec<&Extra> {
        let mut parts: Vec<&Extra> = self.parts().iter().collect();
        // Sorted once, so that each element finds its parts by bisection.
        parts.sort_by(|left, right| by_place(left, right));
        parts
    }
}

impl FromIterator<Extra> for Extras {
    fn from_iter<I: IntoIterator<Item = Extra>>(parts: I) -> Self {
        Self::from_parts(parts.into_iter().collect())
    }
}

/// Orders parts so that those of one place are together, before the parts within the elements
/// there. Within a place, the order of the document stays.
fn by_place(left: &Extra, right: &Extra) -> Ordering {
    (&left.inside, &left.after).cmp(&(&right.inside, &right.after))
}

/// Returns the name of the element that markup begins with.
pub(crate) fn element_name(xml: &str) -> &str {
    let name = xml.trim_start_matches('<');
    let end = name.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
    name.get(..end.unwrap_or(name.len())).unwrap_or_default()
}

/// Returns a step as a sort key; no step sorts before all steps.
fn step(step: Option<&ExtraStep>) -> Option<(&str, usize)> {
    step.map(|step| (&*step.name, step.index))
}

/// Returns the parts with a given key, out of parts that are ordered by it.
fn equal<'a, K: Ord>(
    parts: &'a [&'a Extra],
    key: impl Fn(&'a Extra) -> K,
    wanted: &K,
) -> &'a [&'a Extra] {
    let rest = parts
        .get(parts.partition_point(|part| key(part) < *wanted)..)
        .unwrap_or_default();
    rest.get(..rest.partition_point(|part| key(part) <= *wanted))
        .unwrap_or_default()
}

/// The parts at or below the element being written, `depth` steps below their sequence, ordered by
/// their place.
#[derive(Clone, Copy, Debug)]
pub struct KeptParts<'a> {
    parts: &'a [&'a Extra],
    depth: usize,
}

impl<'a> KeptParts<'a> {
    pub(crate) const NONE: KeptParts<'static> = KeptParts {
        parts: &[],
        depth: 0,
    };

    /// Returns true when there are no parts.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Writes the attributes of this element.
    #[inline]
    pub fn attributes(&self, out: &mut Output<'_>) {
        if !self.is_empty() {
            self.write_attributes(out);
        }
    }

    #[cold]
    fn write_attributes(&self, out: &mut Output<'_>) {
        let mut declared = HashSet::new();
        for part in self.here() {
            let ExtraPart::Attribute {
                name,
                namespace,
                value,
            } = &part.part
            else {
                continue;
            };
            // Two attributes may share a prefix, which may be declared only once.
            if let (Some(namespace), Some((prefix, _))) = (namespace, name.split_once(':'))
                && prefix != "xml"
                && declared.insert(prefix)
            {
                out.attribute_with(&["xmlns:", prefix], namespace);
            }
            out.attribute_with(&[name], value);
        }
    }

    /// Writes the text and markup that stood after one of this element's children, or at its
    /// beginning.
    #[inline]
    pub fn children(&self, after: Option<(&str, usize)>, out: &mut Output<'_>) {
        if !self.is_empty() {
            self.write_children(after, out);
        }
    }

    #[cold]
    fn write_children(&self, after: Option<(&str, usize)>, out: &mut Output<'_>) {
        for part in equal(self.here(), |part| step(part.after.as_ref()), &after) {
            match &part.part {
                ExtraPart::Xml(xml) => out.markup(xml),
                ExtraPart::Text(text) => out.stray_text(text),
                ExtraPart::Attribute { .. } => {}
            }
        }
    }

    /// Writes one child of this element and the parts after it.
    #[cold]
    pub(crate) fn field(
        &self,
        name: &'static str,
        index: usize,
        out: &mut Output<'_>,
        write: impl FnOnce(&mut Output<'_>, KeptParts<'_>),
    ) {
        let parts = self.inside(Some((name, index)));
        write(
            out,
            KeptParts {
                parts,
                depth: self.depth + 1,
            },
        );
        self.children(Some((name, index)), out);
    }

    /// Returns the parts of this element itself.
    fn here(&self) -> &'a [&'a Extra] {
        self.inside(None)
    }

    fn inside(&self, child: Option<(&str, usize)>) -> &'a [&'a Extra] {
        equal(self.parts, |part| step(part.inside.get(self.depth)), &child)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_no_parts_is_empty() {
        let extras = Extras(Some(Box::default()));
        assert!(extras.is_empty());
        assert_eq!(extras, Extras::default());
    }

    /// The memory of a part includes its steps and texts, in a list that has grown.
    #[test]
    fn a_part_takes_the_memory_of_its_names_and_texts() {
        let step = |name: &str| ExtraStep {
            name: name.into(),
            index: 7,
        };
        let attribute = |namespace: Option<&str>| ExtraPart::Attribute {
            name: "a:b".into(),
            namespace: namespace.map(Into::into),
            value: "12345".into(),
        };
        let each = size_of::<ExtraStep>();
        for (inside, after, part, more) in [
            (vec![], None, ExtraPart::Text("".into()), 0),
            (vec![], None, ExtraPart::Text("1234".into()), 4),
            (vec![], None, ExtraPart::Xml("<a/>".into()), 4),
            (vec![], None, attribute(None), 8),
            (vec![], None, attribute(Some("urn:x")), 13),
            (vec![], Some(step("Amt")), ExtraPart::Xml("<a/>".into()), 7),
            (
                vec![step("A"), step("Bcd")],
                None,
                ExtraPart::Text("".into()),
                2 * each + 4,
            ),
            (
                vec![step("A"), step("Bcd")],
                Some(step("Amt")),
                attribute(Some("urn:x")),
                2 * each + 4 + 3 + 13,
            ),
        ] {
            let extra = Extra {
                inside,
                after,
                part,
            };
            assert_eq!(extra.memory(), 3 * size_of::<Extra>() + more, "{extra:?}");
        }
    }
}
