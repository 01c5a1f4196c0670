//! Documents of this message within kept markup.

use super::cursor::{Cursor, Halt};
use super::error::{ReadError, ReadErrorKind};
use super::events::take_content;
use super::names::is_blank;
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
    // Each document within a document takes room on the stack.
    let limits = Limits { depth: limits.depth.min(Limits::default().depth), ..limits };
    let options = ReadOptions { mode: Mode::Strict, deny_findings: false, limits };
    let xml = format!("<Envlp xmlns=\"{NAMESPACE}\">{xml}</Envlp>");
    let mut cursor = Cursor::new(TextTokens::new(&xml), options);
    cursor.judging = true;
    cursor.judge_envelope().err().map(|refused| why(&refused))
}

fn why(refused: &ReadError) -> String {
    match refused.kind() {
        ReadErrorKind::Refused(finding) => format!("{finding} ({})", refused.path()),
        kind => format!("{kind} ({})", refused.path()),
    }
}

impl<T: Tokens> Cursor<T> {
    /// [`refused_document`] within the bounds of this reading.
    pub(crate) fn refused_document(&self, xml: &str) -> Option<String> {
        refused_document(xml, self.options.limits)
    }

    pub(crate) fn is_judging(&self) -> bool {
        self.judging
    }

    /// What is found is an error at once when nothing else is asked for.
    pub(super) fn refuse_while_judging(&mut self) -> Result<(), Halt> {
        if self.judging { self.refuse_findings() } else { Ok(()) }
    }

    fn judge_envelope(&mut self) -> Result<(), Halt> {
        self.advance()?;
        if let Ok(Event::Start(tag)) = self.tokens.next() {
            self.tag.set(&tag);
            self.open(false)?;
            self.judge_content()?;
        }
        Ok(())
    }

    /// Reads everything between the start tag just read and its end tag, and judges the documents in it, in one pass however
    /// deep they stand; how many elements there are at the top, and whether there is text beside them.
    pub(crate) fn judge_content(&mut self) -> Result<(usize, bool), Halt> {
        let (mut elements, mut stray) = (0, false);
        let outer = self.depth;
        if std::mem::take(&mut self.empty) {
            self.close();
            return Ok((elements, stray));
        }
        loop {
            self.advance()?;
            let event = self.tokens.next();
            let empty = matches!(event, Ok(Event::Empty(_)));
            match event {
                Ok(Event::Start(tag) | Event::Empty(tag)) => {
                    elements += usize::from(self.depth == outer);
                    self.tag.set(&tag);
                    self.open(empty)?;
                    if self.is_ours()? && self.tag.local_name() == "Document" {
                        self.judge_document()?;
                    } else if std::mem::take(&mut self.empty) {
                        self.close();
                    }
                }
                Ok(Event::End(_)) => {
                    self.close();
                    if self.depth < outer {
                        return Ok((elements, stray));
                    }
                }
                other => {
                    self.text.clear();
                    let content = take_content(other, &mut self.text);
                    self.content(content)?;
                    stray |= self.depth == outer && !is_blank(&self.text);
                }
            }
        }
    }

    /// A document whose start tag has just been read, as if it stood alone.
    fn judge_document(&mut self) -> Result<(), Halt> {
        let (path, tally) = (std::mem::take(&mut self.path), std::mem::take(&mut self.tally));
        let (base, first_extra) = (std::mem::take(&mut self.base), self.first_extra);
        self.first_extra = self.extras.len();
        self.check_root()?;
        self.open_message()?;
        self.node::<Document>()?;
        self.leave_document()?;
        (self.path, self.tally) = (path, tally);
        (self.base, self.first_extra) = (base, first_extra);
        self.refuse_findings()
    }
}
