//! The entries that are kept, as XML in a file without a name.

use super::unwritten;
use crate::failure::Failure;
use crate::output::Destination;
use crate::text::shown_lines;
use bankrail::camt052::{Document, Entry, Extra, Report, WriteError, WriteOptions};
use bankrail::values::HyphenatedUuid;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write as _};
use std::path::PathBuf;
use tempfile::SpooledTempFile;

/// Bytes of entries in memory, before they go to a file.
const MOST_IN_MEMORY: usize = 1 << 20;

/// A document around an entry.
const FRAME: &str = concat!(
    r#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt>"#,
    "<GrpHdr><MsgId>0</MsgId><CreDtTm>1970-01-01T00:00:00Z</CreDtTm></GrpHdr>",
    "<Rpt><Id>0</Id><CreDtTm>1970-01-01T00:00:00Z</CreDtTm><Acct><Id><Othr><Id>0</Id></Othr></Id></Acct>",
    r#"<Ntry><Amt Ccy="XXX">0</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#,
    "</Rpt></BkToCstmrAcctRpt></Document>"
);

/// What is before the entry.
const ACCOUNT_END: &str = "</Acct>";

/// What ends an entry in the file. XML has no such character.
const END: u8 = 0;

/// The entries that are kept.
pub(super) struct Kept {
    options: WriteOptions,
    /// The document around each entry while it is written, and what of its text is before and after
    /// the entry.
    frame: Document,
    before: usize,
    after: usize,
    /// An entry that occurs nowhere else.
    marker: Entry,
    count: usize,
    folder: PathBuf,
    file: BufWriter<SpooledTempFile>,
}

impl Kept {
    /// No entries. A file for many of them is made in this folder.
    pub(super) fn new(options: WriteOptions, folder: PathBuf) -> Result<Self, Failure> {
        let mut frame = Document::parse(FRAME)
            .expect("a constant that is a document")
            .document;
        let marker = frame
            .reports
            .first_mut()
            .and_then(|report| report.entries.pop());
        let mut marker = marker.expect("the entry of the constant");
        marker.reference = Some(HyphenatedUuid::random().to_simple().to_string().into());
        let text = frame
            .to_xml_with(&options)
            .expect("a constant that can be written");
        let before = text
            .find(ACCOUNT_END)
            .map_or(0, |at| at + ACCOUNT_END.len());
        let file = BufWriter::with_capacity(
            1 << 16,
            tempfile::spooled_tempfile_in(MOST_IN_MEMORY, &folder),
        );
        Ok(Self {
            options,
            frame,
            before,
            after: text.len() - before,
            marker,
            count: 0,
            folder,
            file,
        })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Keeps one more, of this document.
    pub(super) fn push(&mut self, name: &str, entry: Entry) -> Result<(), Failure> {
        let text = self.text(entry).map_err(|error| unwritten(name, error))?;
        self.count += 1;
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.write_all(&[END]));
        written.map_err(|error| self.lost(&error))
    }

    /// The text of an entry in a report, with the white space before it.
    fn text(&mut self, entry: Entry) -> Result<String, WriteError> {
        if let Some(report) = self.frame.reports.first_mut() {
            report.entries = vec![entry];
        }
        let mut text = self.frame.to_xml_with(&self.options)?;
        text.truncate(text.len() - self.after);
        text.drain(..self.before);
        Ok(text)
    }

    /// Writes this document, which has a name, with all entries in its report.
    pub(super) fn write_within(
        mut self,
        name: &str,
        mut document: Document,
        to: &mut Destination<'_>,
    ) -> Result<(), Failure> {
        // The marker stands for all entries up to one after which the report has something beyond
        // the schema, and again for those behind.
        let marker = self.marker.clone();
        let marked = self
            .text(marker.clone())
            .map_err(|error| unwritten(name, error))?;
        let mut ends = Vec::new();
        if let Some(report) = document.reports.first_mut() {
            ends = gather(report, self.count);
            report.entries = vec![marker; ends.len()];
        }
        let xml = document
            .to_xml_with(&self.options)
            .map_err(|error| unwritten(name, error))?;
        let mut pieces = xml.split(marked.trim_start());
        let terminal = to.is_terminal();
        let mut write = |text: &[u8]| match terminal {
            true => to.write_all(shown_lines(&String::from_utf8_lossy(text)).as_bytes()),
            false => to.write_all(text),
        };
        write(pieces.next().unwrap_or_default().as_bytes())?;
        let mut file = self.rewound()?;
        let (mut number, mut text) = (0, Vec::new());
        for (end, piece) in ends.into_iter().zip(pieces) {
            // The white space before a marker is there.
            let mut is_marked = true;
            while number < end {
                text.clear();
                file.read_until(END, &mut text)
                    .map_err(|error| self.lost(&error))?;
                let text = text.strip_suffix(&[END]).unwrap_or(&text);
                write(if std::mem::take(&mut is_marked) {
                    text.trim_ascii_start()
                } else {
                    text
                })?;
                number += 1;
            }
            write(piece.as_bytes())?;
        }
        Ok(write(b"\n")?)
    }

    /// The file from its beginning.
    fn rewound(&mut self) -> Result<BufReader<SpooledTempFile>, Failure> {
        let empty = BufWriter::new(tempfile::spooled_tempfile(0));
        let rewound = std::mem::replace(&mut self.file, empty)
            .into_inner()
            .map_err(io::IntoInnerError::into_error);
        let rewound = rewound.and_then(|mut file| file.rewind().map(|()| file));
        Ok(BufReader::with_capacity(
            1 << 16,
            rewound.map_err(|error| self.lost(&error))?,
        ))
    }

    /// The failure of the file.
    fn lost(&self, error: &io::Error) -> Failure {
        Failure::unable(
            format_args!(
                "{}: the entries cannot be kept here until they are written: {error}",
                self.folder.display()
            ),
            "make room, or pass with -o a file where there is room",
        )
    }
}

/// After which entries, of so many, the report has something beyond the schema, and after which it
/// ends: their numbers from 1. What it has there is put after the first, the second, and so on.
fn gather(report: &mut Report, count: usize) -> Vec<usize> {
    let after = |part: &Extra| {
        let step = part
            .after
            .as_ref()
            .filter(|step| part.inside.is_empty() && &*step.name == "Ntry")?;
        Some(step.index + 1).filter(|number| *number <= count)
    };
    let ends: BTreeSet<usize> = report
        .extras
        .parts()
        .iter()
        .filter_map(after)
        .chain((count > 0).then_some(count))
        .collect();
    let ends: Vec<usize> = ends.into_iter().collect();
    let put = |mut part: Extra| {
        let place = after(&part).and_then(|number| ends.binary_search(&number).ok());
        if let Some((step, place)) = part.after.as_mut().zip(place) {
            step.index = place;
        }
        part
    };
    report.extras = report.extras.parts().iter().cloned().map(put).collect();
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_cannot_be_written_names_its_document() {
        let mut kept = Kept::new(
            WriteOptions::default().incomplete(true),
            std::env::temp_dir(),
        )
        .unwrap();
        let mut entry = kept.marker.clone();
        entry.reference = Some("\u{1}".to_owned().into());
        let (line, _) = kept.push("noon.xml", entry).unwrap_err().into_parts();
        let expected = "noon.xml: expected characters that XML 1.0 can carry, found U+0001; mend this document";
        assert_eq!(line.as_deref(), Some(expected));
    }
}
