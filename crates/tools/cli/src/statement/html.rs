//! `bankrail statement html`: writes one page that contains everything and runs only its own
//! search.

mod page;

use super::ToFile;
use super::source::{Source, each};
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::output::{Destination, Output};
use crate::text::shown_lines;
use askama::Template;
use askama::filters::{Escaper as _, Html, HtmlSafe};
use bankrail::camt052::{Finding, StreamItem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use page::Page;
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Display};
use std::io::Write;
use std::path::is_separator;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

pub(super) fn run(arguments: &ToFile, output: &mut Output) -> Result<Outcome, Failure> {
    // A file that cannot be read leaves no page behind.
    let mut to = Destination::open(arguments.output.as_deref(), output)?;
    let files = &arguments.files.files;
    let (heading, file) = match files.as_slice() {
        [file] => ("Account report".to_owned(), local(input::name(file), file)),
        _ => (format!("{} account reports", files.len()), ""),
    };
    write_view(&Begin { heading, file }, &mut to)?;
    let outcome = each(files, |path, source| section(source, path, &mut to))?;
    write!(to, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
    to.finish()?;
    Ok(outcome)
}

#[derive(Template)]
#[template(path = "statement/begin.html")]
struct Begin<'a> {
    heading: String,
    /// The name of the file, if there is only one.
    file: &'a str,
}

/// The findings under a heading.
#[derive(Template)]
#[template(path = "statement/findings.html")]
struct Findings {
    title: &'static str,
    findings: Vec<String>,
}

/// Returns the hash of a source for a content security policy.
fn hash(source: &str) -> String {
    STANDARD.encode(Sha256::digest(source))
}

fn write_view(view: &impl Template, to: &mut impl Write) -> Result<(), Failure> {
    Template::write_into(view, to)?;
    Ok(writeln!(to)?)
}

/// Removes the folders from the name of a file at the beginning of a text, because others may see
/// the page.
fn local<'a>(text: &'a str, path: &str) -> &'a str {
    let folders = path.rfind(is_separator).map_or(0, |at| at + 1);
    text.get(folders..).unwrap_or(text)
}

fn section(mut source: Source<'_>, path: &str, to: &mut impl Write) -> Result<Outcome, Failure> {
    let told = |what: &dyn ToString| local(&what.to_string(), path).to_owned();
    let name = text(told(&source.name));
    writeln!(to, "<section>\n<p class=\"file\">{name}</p>")?;
    if let Some(answer) = source.answer.as_ref() {
        let (account, key) = (&answer.account_id, answer.request_key.to_string());
        let (account, key) = (text(account), text(&key));
        writeln!(
            to,
            "<p>Answer about account {account}, request key {key}.</p>"
        )?;
        let findings: Vec<String> = answer.findings.iter().map(ToString::to_string).collect();
        if !findings.is_empty() {
            write_view(
                &Findings {
                    title: "Findings of the answer",
                    findings,
                },
                to,
            )?;
        }
    }
    let mut page = Page::default();
    // Collects findings before the first report, and between a report's entries and its end.
    let mut elsewhere: Vec<String> = Vec::new();
    let mut failure = None;
    loop {
        let read = match source.next() {
            Ok(Some(read)) => read,
            Ok(None) => break,
            Err(error) => {
                // The page continues with the next member of an archive.
                page.unread_rest(&told(&source.error(&error)), to)?;
                failure = Some(source.failure(&error));
                break;
            }
        };
        // A finding about the parts around entries may come together with an entry.
        let entry = matches!(read.item, Ok(StreamItem::Entry(_)));
        let (own, others): (Vec<Finding>, Vec<Finding>) = read
            .findings
            .into_iter()
            .partition(|finding| entry && finding.path.contains("/Ntry["));
        elsewhere.extend(others.iter().map(|finding| told(&source.finding(finding))));
        match read.item {
            Ok(StreamItem::Start(report)) => page.start(&source, &report, to)?,
            Ok(StreamItem::Entry(entry)) => {
                let own: Vec<String> = own
                    .iter()
                    .map(|finding| told(&source.finding(finding)))
                    .collect();
                page.entry(&entry, &own, to)?;
            }
            Ok(StreamItem::End(_)) => page.end(to)?,
            Err(error) => page.unread(&told(&source.error(&error)))?,
            Ok(_) => {}
        }
    }
    elsewhere.extend(source.further().map(|(more, _)| more.finding));
    if !elsewhere.is_empty() {
        write_view(
            &Findings {
                title: "Findings outside of entries",
                findings: elsewhere,
            },
            to,
        )?;
    }
    writeln!(to, "</section>")?;
    match failure {
        Some(failure) => Err(failure),
        None => Ok(Outcome::of_findings(page.unread > 0)),
    }
}

/// A text as the content of an element. It is isolated, so that right-to-left text changes nothing
/// around it.
fn text(text: impl Display) -> Text {
    Text {
        text: text.to_string(),
        isolated: true,
    }
}

/// Filters with which templates write texts.
#[allow(
    unreachable_pub,
    reason = "the attribute of a filter makes public items"
)]
mod filters {
    use super::{Display, Text};
    use askama::{Result, Values};

    #[askama::filter_fn]
    pub(super) fn text(text: impl Display, _: &dyn Values) -> Result<Text> {
        Ok(super::text(text))
    }

    /// Numbers with commas between their thousands.
    #[askama::filter_fn]
    pub(super) fn grouped(text: impl Display, _: &dyn Values) -> Result<String> {
        Ok(crate::text::grouped(&text.to_string()))
    }

    /// A date or time of the document.
    #[askama::filter_fn]
    pub(super) fn readable(text: impl Display, _: &dyn Values) -> Result<String> {
        Ok(crate::clock::readable(&text.to_string()))
    }

    /// A text as the content of an element that can hold no other, such as `title`.
    #[askama::filter_fn]
    pub(super) fn plain(text: impl Display, _: &dyn Values) -> Result<Text> {
        Ok(Text {
            text: text.to_string(),
            isolated: false,
        })
    }
}

struct Text {
    text: String,
    isolated: bool,
}

impl HtmlSafe for Text {}

impl Display for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (begin, end) = if self.isolated && !self.text.is_empty() {
            ("<bdi>", "</bdi>")
        } else {
            ("", "")
        };
        out.write_str(begin)?;
        Html.write_escaped_str(&mut *out, &shown_lines(&self.text))?;
        out.write_str(end)
    }
}
