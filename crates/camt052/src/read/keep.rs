//! What the schema does not have: kept and reported.

use super::attributes::malformed;
use super::cursor::{Cursor, Halt};
use super::error::LimitKind;
use super::names::{is_blank, is_qualified_name, is_space};
use super::namespaces::XSI;
use super::tokens::Tokens;
use crate::NAMESPACE;
use crate::check::push_step;
use crate::extra::{Extra, ExtraPart, ExtraStep};
use crate::finding::{FindingKind, shown};
use crate::model::Document;
use crate::schema::Node;
use bankrail_values::excerpt;

/// Octets of namespaces, for each octet of the document, beyond `kept_bytes`.
const TAKEN: usize = 4;

impl<T: Tokens> Cursor<T> {
    /// The element just begun is not one of the schema here: it is kept and reported.
    #[cold]
    pub(super) fn keep_unknown(&mut self) -> Result<(), Halt> {
        if !is_qualified_name(self.tag.name()) {
            return Err(self.halt(malformed("expected an element name")));
        }
        let name = shown(self.tag.name());
        let mut path = self.path_text();
        push_step(&mut path, &name, None);
        self.report_at(FindingKind::UnknownElement { name }, path, self.mark);
        self.keep()
    }

    /// Keeps the element just begun as it is.
    pub(super) fn keep(&mut self) -> Result<(), Halt> {
        self.refuse_while_judging()?;
        let xml = self.capture()?;
        self.keep_part(ExtraPart::Xml(xml.into()))
    }

    /// Keeps the text gathered between elements, if it is more than white space.
    #[inline]
    pub(super) fn keep_text(&mut self) -> Result<(), Halt> {
        if self.text.is_empty() { Ok(()) } else { self.keep_gathered() }
    }

    #[cold]
    pub(super) fn keep_gathered(&mut self) -> Result<(), Halt> {
        let text = std::mem::take(&mut self.text);
        if is_blank(&text) {
            return Ok(());
        }
        self.report(FindingKind::UnexpectedText { found: excerpt(&text) });
        self.keep_part(ExtraPart::Text(text.into()))
    }

    /// Keeps and reports the attributes of the current element; those of XML Schema itself say nothing.
    #[cold]
    pub(super) fn refuse_attributes(&mut self) -> Result<(), Halt> {
        for attribute in std::mem::take(&mut self.attributes) {
            let namespace = attribute.name.split_once(':').and_then(|(prefix, _)| self.namespaces.get(prefix));
            let local = attribute.name.split_once(':').map_or(attribute.name.as_str(), |(_, local)| local);
            if namespace == Some(XSI)
                && match local {
                    "schemaLocation" | "noNamespaceSchemaLocation" => true,
                    "type" => self.is_own_type(&attribute.value),
                    _ => false,
                }
            {
                continue;
            }
            let namespace: Option<Box<str>> = namespace.map(Box::from);
            self.report(FindingKind::UnknownAttribute { name: shown(&attribute.name) });
            self.refuse_while_judging()?;
            self.take_namespaces(namespace.as_ref().map_or(0, |namespace| namespace.len()))?;
            self.keep_part(ExtraPart::Attribute {
                name: attribute.name.into(),
                namespace,
                value: attribute.value.into(),
            })?;
        }
        Ok(())
    }

    /// True when `xsi:type` names the type that the current element has anyhow.
    fn is_own_type(&self, value: &str) -> bool {
        let name = value.trim_matches(is_space);
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let path: Vec<&str> = self.path.iter().map(|step| step.name).collect();
        self.namespaces.get(prefix) == Some(NAMESPACE)
            && match path.as_slice() {
                ["Document"] => local == "Document",
                [_, _, below @ ..] => Document::is_type(below, local),
                _ => false,
            }
    }

    pub(super) fn keep_part(&mut self, part: ExtraPart) -> Result<(), Halt> {
        let step = |name: &'static str, index| ExtraStep { name: name.into(), index };
        let inside = self.path.get(self.base..).unwrap_or_default();
        let inside = inside.iter().map(|open| step(open.name, open.index)).collect();
        let after = match part {
            ExtraPart::Attribute { .. } => None,
            _ => self.path.last().and_then(|open| open.last).map(|(name, index)| step(name, index)),
        };
        let extra = Extra { inside, after, part };
        self.hold(extra.octets())?;
        self.extras.push(extra);
        Ok(())
    }

    /// Counts octets that are kept beyond the schema.
    pub(super) fn hold(&mut self, octets: usize) -> Result<(), Halt> {
        self.bound_kept(octets)?;
        self.used.kept += octets;
        Ok(())
    }

    /// Counts octets of namespaces declared elsewhere: a short prefix takes a long one along, in each entry again.
    pub(super) fn take_namespaces(&mut self, octets: usize) -> Result<(), Halt> {
        self.taken = self.taken.saturating_add(octets);
        let most = self.options.limits.kept_bytes;
        let read = usize::try_from(self.mark.text).unwrap_or(usize::MAX);
        if self.taken > most.saturating_add(read.saturating_mul(TAKEN)) {
            return Err(self.limit(LimitKind::KeptBytes, most));
        }
        Ok(())
    }

    /// An error when so many more octets are too many.
    #[inline]
    pub(super) fn bound_kept(&mut self, octets: usize) -> Result<(), Halt> {
        let most = self.options.limits.kept_bytes;
        if octets > most.saturating_sub(self.used.kept) { Err(self.limit(LimitKind::KeptBytes, most)) } else { Ok(()) }
    }
}
