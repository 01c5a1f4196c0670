//! The parts around a document: wrappers, and the application header.

use super::events::take_content;
use super::tokens::{TextTokens, Tokens};
use quick_xml::events::Event;

/// The parts around a document that has wrappers or an application header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Around {
    /// The application header: the last one between the previous document and this one.
    pub header: Option<AppHeader>,
    /// All markup from the start of the input, or from the end of the previous document, up to this
    /// document, verbatim: the start tags of wrappers, their headers, `AppHdr`.
    pub before: String,
}

/// An application header, `AppHdr`: the Business Application Header (head.001.001.01 to .03), or
/// the older one of SWIFT. Its elements are read by their names in any namespace, and are not
/// checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppHeader {
    /// The markup of the header, verbatim, with the namespace declarations that it needs.
    pub xml: String,
    /// The sender (`Fr`, `From`): the BIC, or the first other identification.
    pub from: Option<String>,
    /// The receiver (`To`): the BIC, or the first other identification.
    pub to: Option<String>,
    /// The identification of the business message (`BizMsgIdr`, `MsgRef`).
    pub message_id: Option<String>,
    /// The message and its version, such as `camt.053.001.08` (`MsgDefIdr`, `MsgName`). A header
    /// that contradicts the document is reported as
    /// [`FindingKind::HeaderMessage`](crate::FindingKind::HeaderMessage).
    pub message: Option<String>,
    /// The service that the message is exchanged in (`BizSvc`, `SvcName`).
    pub service: Option<String>,
    /// The time at which the message was made (`CreDt`, `CreationDate`, `CrDate`).
    pub created_at: Option<String>,
    /// The mark of a possible duplicate (`PssblDplct`).
    pub possible_duplicate: Option<String>,
}

impl AppHeader {
    /// Reads a well-formed header.
    pub(crate) fn of(xml: String) -> Self {
        let mut header = Self::default();
        let mut tokens = TextTokens::new(&xml);
        let (mut open, mut text) = (Vec::new(), String::new());
        loop {
            match tokens.next() {
                Ok(Event::Start(tag)) => {
                    let name = tag.name();
                    let local = name.as_ref().rsplit(':').next();
                    open.push(local.unwrap_or_default().to_owned());
                    text.clear();
                }
                Ok(Event::End(_)) => {
                    header.take(&open, text.trim());
                    open.pop();
                    text.clear();
                }
                Ok(Event::Eof) | Err(_) => break,
                // Errors are those of markup that is not well-formed.
                other => {
                    let _ = take_content(other, &mut text);
                }
            }
        }
        header.xml = xml;
        header
    }

    /// Takes the text of the innermost of the open elements.
    fn take(&mut self, open: &[String], text: &str) {
        let part = open.get(1).map_or("", String::as_str);
        let leaf = open.last().map_or("", String::as_str);
        let slot = match (part, leaf, open.len()) {
            ("Fr" | "From", "BICFI" | "AnyBIC" | "LEI" | "MmbId" | "Id", _) => &mut self.from,
            ("To", "BICFI" | "AnyBIC" | "LEI" | "MmbId" | "Id", _) => &mut self.to,
            ("BizMsgIdr" | "MsgRef", _, 2) => &mut self.message_id,
            ("MsgDefIdr" | "MsgName", _, 2) => &mut self.message,
            ("BizSvc" | "SvcName", _, 2) => &mut self.service,
            ("CreDt" | "CreationDate" | "CrDate", _, 2) => &mut self.created_at,
            ("PssblDplct", _, 2) => &mut self.possible_duplicate,
            _ => return,
        };
        if slot.is_none() && !text.is_empty() {
            *slot = Some(text.to_owned());
        }
    }
}
