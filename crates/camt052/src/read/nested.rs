//! Documents of this message within kept markup.

use super::cursor::{Cursor, Halt};
use super::options::{Limits, Mode, ReadOptions};
use super::tokens::{TextTokens, Tokens};
use crate::NAMESPACE;
use crate::model::Document;
use quick_xml::events::Event;

/// Why the schema refuses the content of an envelope, if it does: a document of this message is judged wherever it stands,
/// within foreign elements too, because the envelope's wildcard is lax (XML Schema Part 1, 3.10.4). `xml` is well-formed,
/// with the namespaces it needs.
pub(crate) fn refused_document(xml: &str, limits: Limits) -> Option<String> {
    if !xml.contains("Document") {
        return None;
    }
    // Each document within a document is read once more; this bounds how often.
    let limits = Limits { depth: limits.depth.min(Limits::default().depth), ..limits };
    let options = ReadOptions { mode: Mode::Strict, deny_findings: false, limits };
    let xml = format!("<Envlp xmlns=\"{NAMESPACE}\">{xml}</Envlp>");
    match Cursor::new(TextTokens::new(&xml), options).find_refused() {
        Ok(why) => why,
        Err(why) => Some(why.to_string()),
    }
}

impl<T: Tokens> Cursor<T> {
    /// [`refused_document`] within the bounds of this reading.
    pub(crate) fn refused_document(&self, xml: &str) -> Option<String> {
        refused_document(xml, self.options.limits)
    }

    fn find_refused(&mut self) -> Result<Option<String>, Halt> {
        loop {
            self.advance()?;
            let event = self.tokens.next();
            let empty = matches!(event, Ok(Event::Empty(_)));
            match event {
                Ok(Event::Start(tag) | Event::Empty(tag)) => {
                    self.tag.set(&tag);
                    self.open(empty)?;
                    if self.is_ours()? && self.tag.local_name() == "Document" {
                        let name_end = 1 + self.tag.name().len();
                        let inherits = self.namespaces.get("") == Some(NAMESPACE)
                            && !self.namespaces.declared_at(self.depth).any(str::is_empty);
                        let mut document = self.capture()?;
                        if inherits {
                            // What is captured takes this namespace for granted; a document of its own does not.
                            document.insert_str(name_end, &format!(" xmlns=\"{NAMESPACE}\""));
                        }
                        if let Err(why) = Document::parse_with(document, &self.options) {
                            return Ok(Some(why.to_string()));
                        }
                    } else if std::mem::take(&mut self.empty) {
                        self.close();
                    }
                }
                Ok(Event::End(_)) => self.close(),
                // Markup that is not well-formed is refused elsewhere.
                Ok(Event::Eof) | Err(_) => return Ok(None),
                Ok(_) => {}
            }
        }
    }
}
