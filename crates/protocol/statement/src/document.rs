//! Reading and checking the document inside a received answer.

use crate::{
    MaxEntries, ReceivedNextPage, ReceivedStatement, ReplyError, ReplyFinding, SortOrder,
    StatementRequest,
};
use bankrail_camt052::{
    AccountIdentification, DateOrDateTime, Document, Entry, IsoDate, Parsed, ReadError,
    ReadOptions, Version,
};
use bankrail_values::excerpt;

impl ReceivedStatement {
    /// Reads the payload tolerantly. The document must be of version 06. Deviations from the rules
    /// of the message are in the findings of the result.
    ///
    /// # Errors
    /// [`ReadError`] if the payload is not a readable camt.052.001.06 document.
    pub fn document(&self) -> Result<Parsed, ReadError> {
        self.document_with(&ReadOptions::default())
    }

    /// Reads the payload with the given options. The document must be of
    /// version 06, or of one that [`ReadOptions::versions`] allows.
    ///
    /// # Errors
    /// [`ReadError`] if the payload is not a readable camt.052.001.06 document, or has something
    /// that the options refuse.
    pub fn document_with(&self, options: &ReadOptions) -> Result<Parsed, ReadError> {
        let version = Version::default();
        Document::parse_with(&self.payload, &options.versions_or(version..=version))
    }

    /// Compares the document with the answer around it and with the request, and adds differences
    /// to the findings.
    ///
    /// - Another spelling of the account identifier (with the same letters and digits), or an
    ///   IBAN in its place, is a finding.
    /// - The number of reports, the number of entries and the order of their booking dates are
    ///   compared too.
    ///
    /// # Errors
    /// [`ReplyError::OtherAccount`] if the document is about another account. Its entries must not
    /// be imported.
    pub fn check_document(
        &mut self,
        document: &Document,
        request: &StatementRequest,
    ) -> Result<(), ReplyError> {
        if document.reports.len() != 1 {
            self.findings.push(ReplyFinding::ReportCount {
                found: document.reports.len(),
            });
        }
        for report in &document.reports {
            match &report.account.id {
                AccountIdentification::Iban(iban) if iban.as_str() != self.account_id => {
                    self.other_account(iban.as_str())
                }
                AccountIdentification::Other(other)
                    if !is_respelled(other.id.as_str(), &self.account_id) =>
                {
                    return Err(ReplyError::OtherAccount {
                        found: excerpt(other.id.as_str()),
                    });
                }
                AccountIdentification::Other(other) if other.id.as_str() != self.account_id => {
                    self.other_account(other.id.as_str())
                }
                _ => {}
            }
        }
        let entries = document.reports.iter().flat_map(|report| &report.entries);
        let count = entries.clone().count();
        let mut reports = document.reports.iter();
        // An entry that could not be read is markup here, but counts as an entry of the page.
        let any_kept = reports.any(|report| report.extras.has_element("Ntry"));
        if count == 0 && !any_kept && self.next_page != ReceivedNextPage::None {
            self.findings.push(ReplyFinding::MoreWithoutEntries);
        }
        let limit = request.entries_at_most().min(MaxEntries::MAX.get().into());
        if count > limit {
            self.findings.push(ReplyFinding::TooManyEntries {
                limit,
                found: count,
            });
        }
        let expected = self.order().unwrap_or_else(|| request.order());
        if let Some(at) = first_out_of_order(entries, expected) {
            self.findings
                .push(ReplyFinding::OutOfOrder { expected, at });
        }
        Ok(())
    }

    fn other_account(&mut self, found: &str) {
        self.findings.push(ReplyFinding::PayloadAccount {
            found: excerpt(found),
        });
    }
}

/// Returns true if both texts have the same letters and digits; other characters do not count.
fn is_respelled(found: &str, expected: &str) -> bool {
    let letters = |text: &'_ str| {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .collect::<String>()
    };
    found == expected || letters(found) == letters(expected)
}

/// Returns the position, counted from 1, of the first entry that is booked earlier (forward) or
/// later (backward) than the one before it.
fn first_out_of_order<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    order: SortOrder,
) -> Option<usize> {
    let mut last: Option<Moment> = None;
    for (index, entry) in entries.enumerate() {
        let Some(moment) = entry.booking_date.as_ref().and_then(moment) else {
            continue;
        };
        if let Some(last) = last {
            // If one of both has no time of day, only the days can be compared.
            let same = if last.1.is_some() && moment.1.is_some() {
                (last, moment)
            } else {
                ((last.0, None), (moment.0, None))
            };
            let wrong = match order {
                SortOrder::Forward => same.1 < same.0,
                SortOrder::Backward => same.1 > same.0,
            };
            if wrong {
                return Some(index + 1);
            }
        }
        last = Some(moment);
    }
    None
}

/// A day, and the time of day if it is known.
type Moment = ((i32, u8, u8), Option<(u8, u8, u8, u32)>);

fn moment(date: &DateOrDateTime) -> Option<Moment> {
    let day = |date: IsoDate| (date.year(), date.month(), date.day());
    match date {
        DateOrDateTime::Date(date) => Some((day(*date), None)),
        DateOrDateTime::DateTime(at) => Some((
            day(at.date()),
            Some((at.hour(), at.minute(), at.second(), at.nanosecond())),
        )),
        _ => None,
    }
}
