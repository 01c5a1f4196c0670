//! `bankrail statement html`: one page that holds everything, and runs nothing but its own search.

mod escape;
mod page;

use super::ToFile;
use super::source::Source;
use crate::failure::{Failure, Outcome};
use crate::output::{Destination, Output};
use bankrail::camt052::{Finding, ReadOptions, StreamItem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use escape::{plain, text};
use page::Page;
use sha2::{Digest as _, Sha256};
use std::io::Write;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

pub(crate) fn run(arguments: &ToFile, output: &mut Output) -> Result<Outcome, Failure> {
    // A file that cannot be read leaves no page behind.
    let mut to = Destination::open(arguments.output.as_deref(), output)?;
    let files = &arguments.files.files;
    head(files, &mut to)?;
    let mut outcome = Outcome::Fine;
    for path in files {
        outcome = outcome.and(section(path, &mut to)?);
    }
    write!(to, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
    to.finish()?;
    Ok(outcome)
}

/// What a policy allows by its hash.
fn hash(source: &str) -> String {
    STANDARD.encode(Sha256::digest(source))
}

fn head(files: &[String], to: &mut impl Write) -> Result<(), Failure> {
    let title = match files {
        [file] => format!("Account report {}", crate::input::name(file)),
        _ => format!("{} account reports", files.len()),
    };
    let (heading, title) = (text(&title), plain(&title));
    Ok(write!(
        to,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-{}'; \
         style-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{heading}</h1>\n</header>\n\
         <div id=\"search\" role=\"search\" hidden>\n<label for=\"query\">Search</label>\n\
         <input id=\"query\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" \
         placeholder=\"name, text, reference, amount, day\">\n\
         <output id=\"shown\" for=\"query\"></output>\n</div>\n<main>\n",
        hash(SCRIPT),
        hash(STYLE),
    )?)
}

fn section(path: &str, to: &mut impl Write) -> Result<Outcome, Failure> {
    let mut source = Source::open(path, ReadOptions::default())?;
    writeln!(to, "<section>\n<h2>{}</h2>", text(source.name()))?;
    if let Some(answer) = source.answer() {
        let (account, key) = (&answer.account_id, answer.request_key.to_string());
        let (account, key) = (text(account), text(&key));
        writeln!(to, "<p>Answer about account {account}, request key {key}.</p>")?;
        let findings: Vec<String> = answer.findings.iter().map(ToString::to_string).collect();
        list("Findings of the answer", &findings, to)?;
    }
    let mut page = Page::default();
    // Before the first report begins, and between its entries and its end.
    let mut elsewhere: Vec<String> = Vec::new();
    while let Some(read) = source.next().map_err(|error| source.failure(&error))? {
        // A finding of what stands around the entries may come with one of them.
        let entry = matches!(read.item, Ok(StreamItem::Entry(_)));
        let (own, others): (Vec<Finding>, Vec<Finding>) =
            read.findings.into_iter().partition(|finding| entry && finding.path.contains("/Ntry["));
        elsewhere.extend(others.iter().map(|finding| source.finding(finding)));
        match read.item {
            Ok(StreamItem::ReportStart(report)) => page.start(&source, &report, to)?,
            Ok(StreamItem::Entry(entry)) => {
                let own: Vec<String> = own.iter().map(|finding| source.finding(finding)).collect();
                page.entry(&entry, &own, to)?;
            }
            Ok(StreamItem::ReportEnd(_)) => page.end(to)?,
            Err(error) => page.unread(&source.error(&error), to)?,
            Ok(_) => {}
        }
    }
    elsewhere.extend(source.further().iter().map(|(name, count)| format!("{count} more of the kind {name}")));
    list("Findings outside of entries", &elsewhere, to)?;
    writeln!(to, "</section>")?;
    Ok(if page.unread > 0 { Outcome::Findings } else { Outcome::Fine })
}

/// A heading and a list, if there is anything to list.
fn list(title: &str, items: &[String], to: &mut impl Write) -> Result<(), Failure> {
    if !items.is_empty() {
        writeln!(to, "<h3 class=\"found\">{title}</h3>")?;
        found(items, to)?;
    }
    Ok(())
}

/// A list of findings.
fn found(items: &[String], to: &mut impl Write) -> Result<(), Failure> {
    write!(to, "<ul class=\"found\">")?;
    for item in items {
        write!(to, "<li>{}</li>", text(item))?;
    }
    Ok(write!(to, "</ul>")?)
}
