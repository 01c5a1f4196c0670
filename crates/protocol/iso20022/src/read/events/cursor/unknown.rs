//! Elements, texts and attributes that the schema does not have at their place: reported and kept.

use super::Cursor;
use crate::extra::ExtraPart;
use crate::finding::{FindingKind, push_step, shown};
use crate::read::Mode;
use crate::read::attributes::malformed;
use crate::read::error::{Halt, ReadErrorKind};
use crate::read::namespaces::XSI;
use crate::xml::{is_blank, is_qualified_name, is_space};
use bankrail_values::excerpt;

impl Cursor<'_> {
    /// Keeps and reports the element just begun, which the schema does not have here.
    #[cold]
    pub(crate) fn keep_unknown(&mut self) -> Result<(), Halt> {
        // `seems_ours` leaves this check to its callers, which need it for unknown names only.
        if !is_qualified_name(self.events.tag.name()) {
            return Err(self.events.halt(malformed("expected an element name")));
        }
        let name = shown(self.events.tag.name());
        let mut path = self.path();
        push_step(&mut path, &name, None);
        self.report_at(FindingKind::UnknownElement { name }, path, self.events.mark);
        self.keep()
    }

    /// Reads the content of an envelope up to its end tag and returns its markup. Content that is
    /// not exactly one element is reported.
    pub(crate) fn any_element(&mut self) -> Result<String, Halt> {
        let (xml, top) = self.events.capture_content()?;
        if top != (1, false) {
            self.report(FindingKind::Envelope);
        }
        Ok(xml)
    }

    /// Keeps the element just begun as markup.
    pub(crate) fn keep(&mut self) -> Result<(), Halt> {
        let xml = self.events.capture()?;
        self.keep_part(ExtraPart::Xml(xml.into()))
    }

    /// Keeps the text gathered between elements, if it is more than white space.
    #[inline]
    pub(crate) fn keep_text(&mut self) -> Result<(), Halt> {
        if self.text.is_empty() {
            Ok(())
        } else {
            self.keep_gathered()
        }
    }

    #[cold]
    fn keep_gathered(&mut self) -> Result<(), Halt> {
        let text = std::mem::take(&mut self.text);
        // White space written as references or CDATA has been gathered like other text.
        if is_blank(&text) {
            return Ok(());
        }
        self.report(FindingKind::UnexpectedText {
            found: excerpt(&text),
        });
        self.keep_part(ExtraPart::Text(text.into()))
    }

    /// Reports and keeps the attributes of the current element, except for the hints where schemas
    /// are.
    #[cold]
    pub(crate) fn refuse_attributes(&mut self) -> Result<(), Halt> {
        for attribute in std::mem::take(&mut self.events.attributes) {
            let (prefix, local) = attribute
                .name
                .split_once(':')
                .unwrap_or(("", &attribute.name));
            // Without a prefix an attribute is in no namespace, even where there is a default one.
            let namespace = if prefix.is_empty() {
                None
            } else {
                self.events.namespaces.get(prefix)
            };
            // Every element may have these hints for a validator. `xsi:type` is not resolved and
            // counts as unknown, so that no document is accepted that the schema refuses.
            if namespace == Some(XSI)
                && matches!(local, "schemaLocation" | "noNamespaceSchemaLocation")
            {
                continue;
            }
            // The schema allows no element to be nil, and so in strict reading not even `false`.
            if namespace == Some(XSI) && local == "nil" {
                match attribute.value.trim_matches(is_space) {
                    "true" | "1" => {
                        let found = "xsi:nil".to_owned();
                        let expected = "content";
                        return Err(self.halt_here(ReadErrorKind::Unreadable { expected, found }));
                    }
                    "false" | "0" if self.options.mode == Mode::Tolerant => continue,
                    _ => {}
                }
            }
            let namespace: Option<Box<str>> = namespace.map(Box::from);
            self.report(FindingKind::UnknownAttribute {
                name: shown(&attribute.name),
            });
            self.keep_part(ExtraPart::Attribute {
                name: attribute.name.into(),
                namespace,
                value: attribute.value.into(),
            })?;
        }
        Ok(())
    }
}
