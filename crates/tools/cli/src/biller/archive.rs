//! `bankrail archive`: the pages and refused deliveries that a biller has archived.

use super::folder::{DATABASE, Folder, failed};
use super::journal::{Journal, Printer};
use super::poll;
use crate::block_on;
use crate::failure::{Failure, Outcome, causes};
use crate::logging;
use crate::output::Output;
use crate::text::{counted, shown, shown_lines};
use bankrail::client::{Archive, ArchiveOptions, PolledAccount};
use bankrail::mailbox::ArchiveRecord;
use bankrail::statement::{AccountId, StatementReply};
use clap::{Args, Subcommand};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::level_filters::LevelFilter;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the records, oldest first: number, time, kind, account or receiver, key of the call,
    /// bytes, and for refused deliveries the reason
    #[command(after_help = "Examples:\n  \
        bankrail archive list\n  \
        bankrail archive list --data biller")]
    List(Data),
    /// Print the XML of a page, or the body of a refused delivery, as it was received
    #[command(after_help = "Examples:\n  \
        bankrail archive show 1 > page.xml\n  \
        bankrail archive show 12 | bankrail payload explain -")]
    Show {
        #[command(flatten)]
        data: Data,
        /// The number of the record
        number: u64,
    },
    /// Import the pages into a new folder, and print their entries as bankrail biller does
    #[command(
        after_help = "Exit status: 1 if an answer was left out because it is no statement.\n\n\
        Examples:\n  \
        bankrail archive import --into again --json > entries.jsonl"
    )]
    Import {
        #[command(flatten)]
        data: Data,
        /// The folder to make; a biller can use it afterwards
        #[arg(long, value_name = "FOLDER")]
        into: PathBuf,
        /// Print each line as a JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Data {
    /// The data folder of the biller, which may be running
    #[arg(long, value_name = "FOLDER", default_value = "biller")]
    data: PathBuf,
}

pub(crate) fn run(command: &Command, output: &mut Output) -> Result<Outcome, Failure> {
    logging::start(LevelFilter::WARN, &[], output.log_colors());
    block_on(async {
        match command {
            Command::List(Data { data }) => list(&open(data)?, output).await,
            Command::Show {
                data: Data { data },
                number,
            } => show(&open(data)?, *number, output).await,
            Command::Import {
                data: Data { data },
                into,
                json,
            } => import(&open(data)?, into, *json, output).await,
        }
    })
}

/// Opens the archive of a data folder that has one.
fn open(data: &Path) -> Result<Archive, Failure> {
    let folder = Folder::with_archive(data)?;
    folder.archive(&folder.store()?, ArchiveOptions::new())
}

async fn list(archive: &Archive, output: &mut Output) -> Result<Outcome, Failure> {
    for ArchiveRecord {
        number,
        label,
        bytes,
        ..
    } in archive.all_records().await.map_err(failed)?
    {
        let call = label
            .call
            .map_or_else(|| "-".to_owned(), |call| call.to_string());
        let reason = if label.kind == Archive::PAGE {
            String::new()
        } else {
            reason(archive, number).await
        };
        let line = format!(
            "{number:>6}  {}  {:<16}  {}  {call}  {bytes:>9}  {reason}",
            label.at, label.kind, label.subject
        );
        output.line(shown(line.trim_end()))?;
    }
    Ok(Outcome::Fine)
}

/// Returns the reason why a delivery was refused.
async fn reason(archive: &Archive, number: u64) -> String {
    match archive.find(number).await {
        Ok(found) => found.map(|found| found.note).unwrap_or_default(),
        Err(error) => causes(&error),
    }
}

async fn show(archive: &Archive, number: u64, output: &mut Output) -> Result<Outcome, Failure> {
    let Some(found) = archive.find(number).await.map_err(failed)? else {
        return Err(Failure::refused(
            format_args!("expected the number of a record, found {number}"),
            "bankrail archive list prints the numbers",
        ));
    };
    let body = match StatementReply::parse(200, &found.body) {
        Ok(StatementReply::Statement(page)) if found.record.label.kind == Archive::PAGE => {
            page.payload.into_bytes()
        }
        _ => found.body,
    };
    if output.is_terminal() {
        output.line(shown_lines(&String::from_utf8_lossy(&body)))?;
    } else {
        output.write_all(&body)?;
    }
    Ok(Outcome::Fine)
}

async fn import(
    archive: &Archive,
    into: &Path,
    json: bool,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    // Entries that the store knows already would be left out.
    if into.join(DATABASE).exists() {
        let what = format_args!(
            "{}: expected a new folder, found one of a biller",
            into.display()
        );
        return Err(Failure::unable(what, "pass another folder with --into"));
    }
    let pages = archive.all_records().await.map_err(failed)?;
    let pages = pages
        .iter()
        .filter(|record| record.label.kind == Archive::PAGE);
    let accounts: BTreeSet<AccountId> = pages
        .filter_map(|page| page.label.subject.parse().ok())
        .collect();
    let folder = Folder::open(into.to_owned())?;
    let store = Arc::new(folder.store()?);
    let journal = Journal::open((*store).clone()).await?;
    let (_teller, mut printer) = Printer::new(journal.clone(), json);
    let mut left_out = Vec::new();
    for account in accounts {
        let replay = archive
            .replay(&account, Default::default())
            .await
            .map_err(failed)?;
        let poller = poll::poller(
            &replay,
            &store,
            [PolledAccount::new(account)],
            journal.clone(),
        );
        let imported = printer.run(replay.import(&poller), output).await?;
        let imported = imported.map_err(|error| {
            Failure::unable(
                causes(&error),
                "remove the folder of --into, and import again once the fault is fixed",
            )
        })?;
        crate::log(format_args!(
            "{} taken in",
            counted(imported.pages, "page", "pages")
        ));
        left_out.extend(imported.unreadable);
    }
    store.close().await;
    if left_out.is_empty() {
        return Ok(Outcome::Fine);
    }
    let numbers = left_out
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    crate::log(format_args!(
        "left out, because they are no statements: {numbers}; see bankrail archive show"
    ));
    Ok(Outcome::Findings)
}
