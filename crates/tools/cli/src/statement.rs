//! `bankrail statement`: account reports.

mod check;
mod csv;
mod fetch;
mod html;
mod merge;
pub(crate) mod row;
mod show;
mod source;
mod tally;

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use bankrail::statement::AccountId;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The bytes of a statement endpoint's JSON answer that are read. XML is read entry by entry and
/// has no such bound.
const MAX_JSON_BYTES: usize = 64 << 20;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fetch the statement of an account
    ///
    /// Asks for a token and walks through all pages. A statement of one page is written as it was
    /// received. Several pages become one document with new identifications and totals, as by
    /// statement merge --pages. With --json, the answer of each page is written as one line.
    #[command(
        after_help = "Exit status: 0 with a statement, 1 if the provider refuses, 2 for wrong \
            arguments, unreadable files and a provider that cannot be reached.\n\n\
        Examples:\n  \
        bankrail statement fetch --connection connection.toml 012003123456789 |\n    \
        bankrail statement show -\n  \
        bankrail statement fetch --connection connection.toml --narrative --wait \\\n    \
        -o today.xml 012003123456789"
    )]
    Fetch(Fetch),
    /// Print account reports as a table
    ///
    /// Prints the account, its balances, each entry, the totals and the findings. An entry of
    /// several transactions is followed by a line for each of them. After the totals come the names
    /// of the bank transaction codes. On a terminal long texts are cut to fit.
    #[command(
        after_help = "Exit status: 0, also for a document with findings; 1 for a document that is refused or an entry that \
        cannot be read, 2 for a file that cannot be read.\n\n\
        Examples:\n  \
        bankrail statement show report.xml\n  \
        bankrail statement show answer.json | less\n  \
        bankrail statement show --json report.xml | jq -r .amount\n  \
        unzip -p day.zip report.xml | bankrail statement show -"
    )]
    Show(Show),
    /// List what is wrong with account reports
    ///
    /// Prints one line for each finding: file, line, column, element and what is wrong with it. For
    /// a JSON answer, line and column are those of the XML in it. Files of any size are read in
    /// bounded memory.
    ///
    /// Bank transaction codes that are not in the standard's list, edition 7.0, are notes, one for
    /// each code: they may be of a later edition, and do not change the exit status.
    #[command(
        after_help = "Exit status: 0 without findings, also with notes; 1 with findings or for a document that is \
        refused, 2 for a file that cannot be read.\n\n\
        Examples:\n  \
        bankrail statement check report.xml\n  \
        bankrail statement check --strict *.xml"
    )]
    Check(Check),
    /// Write one self-contained page with all entries
    ///
    /// The page has balances, booked and pending entries apart with sums of their own, and findings
    /// where they belong. Where the document has an opening balance, each booked entry has the
    /// balance after it. It loads nothing, sends nothing, and has its own search.
    #[command(
        after_help = "Exit status: 0, also for a document with findings; 1 for a document that is refused or an entry that \
        cannot be read, 2 for a file that cannot be read.\n\n\
        Examples:\n  \
        bankrail statement html report.xml -o report.html\n  \
        bankrail statement html monday.xml tuesday.xml > days.html"
    )]
    Html(ToFile),
    /// Write one row for each entry
    ///
    /// Columns, named in the first row:
    ///   file, account, report: where the entry stands; report is Rpt/Id
    ///   number: of the entry in its report, from 1
    ///   line: of the transaction in its entry, from 1, with --transactions; 0 for an
    ///     entry without transactions
    ///   booked, value_date, status, reversal: BookgDt, ValDt, Sts, and true for a reversal
    ///   amount, currency: the amount with its sign, debits negative
    ///   account_amount: the amount in the currency of the account, if the document has it
    ///   entry_amount: the amount of the whole entry, in its first row alone, so that
    ///     the sum over all rows is the movement of the account; the amounts of
    ///     transactions may be missing, in other currencies, or before charges
    ///   direction: CRDT or DBIT, or another code, whose amount is left empty
    ///   domain, family, sub_family, proprietary_code: BkTxCd
    ///   servicer_reference, end_to_end_id: the first of the entry
    ///   references: all, as name=value, separated by semicolons
    ///   counterparty, counterparty_account: of the first transaction that names one
    ///   ultimate_counterparty: the party behind the counterparty
    ///   virtual_account, virtual_account_issuer: CdtrAcct/Id/Othr of a credit
    ///   transactions: how many TxDtls
    ///   narrative: all texts of the entry or transaction, with reasons of returns
    ///   code_names: the names of domain, family and sub-family, separated by slashes
    ///
    /// Rows end with CR LF and are quoted by RFC 4180. A text that a
    /// spreadsheet would take for a formula, because it begins with = + - @, a tab
    /// or a line end, is preceded by an apostrophe. Control characters other than line
    /// ends and tabs, and those that change the direction of text, are written as
    /// \u{202e}. Files of any size are read in bounded memory.
    #[command(
        verbatim_doc_comment,
        after_help = "Exit status: 0, also for a document with findings; 1 for a document that is refused or an entry that \
        cannot be read, 2 for a file that cannot be read.\n\n\
        Examples:\n  \
        bankrail statement csv report.xml > report.csv\n  \
        bankrail statement csv --delimiter ';' -o all.csv *.xml\n  \
        bankrail statement csv --transactions day.zip"
    )]
    Csv(Csv),
    /// Write the entries of several documents as one document
    ///
    /// The documents must be of one account and one currency. Each entry is written once; entries
    /// that are left out as repeated are listed on standard error. Totals are recomputed.
    ///
    /// An entry with a reference of the bank is the same wherever that reference occurs with the
    /// same amount, day, direction and status. Entries without a reference are distinguished by
    /// content, and counted: the second coffee of a day differs from the first. Each file is a
    /// separate statement that may overlap with the others, unless the file before is a JSON answer
    /// that promises more. With --pages all files are the pages of one statement, in this order.
    ///
    /// Page numbers of the documents are not compared: a page that is missing is not found here.
    /// Pages of statements with such numbers are merged by the library's merge_pages.
    ///
    /// Header and report are those of the newest document with new identifications. Page numbers,
    /// and totals per bank transaction code, are left out. The newest balance of each kind is kept,
    /// and the oldest opening balance.
    ///
    /// All entries are in memory until the totals are known.
    #[command(
        after_help = "Exit status: 0 for documents that were merged, 1 for documents that are refused, 2 for a \
        file that cannot be read.\n\n\
        Examples:\n  \
        bankrail statement merge morning.xml noon.xml > day.xml\n  \
        bankrail statement merge --pages page1.json page2.json page3.json -o day.xml"
    )]
    Merge(Merge),
}

#[derive(Args, Debug)]
struct Fetch {
    /// The account
    #[arg(value_name = "ACCOUNT", value_parser = |text: &str| AccountId::parse(text))]
    account: AccountId,
    /// The file connection.toml, or its folder
    #[arg(long, value_name = "FILE")]
    connection: PathBuf,
    /// Ask for parties and texts of fast payments, or with =false for none; by default the provider
    /// decides
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    narrative: Option<bool>,
    /// A token to use, or @FILE for the first line of FILE; one that the provider refuses is
    /// replaced
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Wait when a limit is reached, then go on
    #[arg(long)]
    wait: bool,
    /// Write the answer of each page as one line of JSON
    #[arg(long)]
    json: bool,
    /// The file to write, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Files {
    /// camt.052, 053 or 054 documents, alone, several or in envelopes, or JSON answers of the
    /// statement endpoint; but for merge also ZIP and gzip archives of them, whose members are read
    /// like files; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

#[derive(Args, Debug)]
struct Show {
    #[command(flatten)]
    files: Files,
    /// Print one JSON object in a line for each report, entry and finding
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Check {
    #[command(flatten)]
    files: Files,
    /// Read strictly: the first violation of the schema refuses a document
    #[arg(long)]
    strict: bool,
    /// Print one line of JSON for each finding, and one for each file
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ToFile {
    #[command(flatten)]
    files: Files,
    /// The file to write, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Csv {
    #[command(flatten)]
    to: ToFile,
    /// The separator of columns: one ASCII character, or tab
    #[arg(long, default_value = ",", value_parser = csv::delimiter)]
    delimiter: char,
    /// Write one row for each transaction, and for each entry without transactions
    #[arg(long)]
    transactions: bool,
}

#[derive(Args, Debug)]
struct Merge {
    #[command(flatten)]
    to: ToFile,
    /// The files are the pages of one statement, in this order
    #[arg(long)]
    pages: bool,
    /// Write each element on a separate line
    #[arg(long)]
    indent: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Fetch(arguments) => fetch::run(arguments, output).map(|()| Outcome::Fine),
        Command::Show(arguments) => show::run(arguments, output),
        Command::Check(arguments) => check::run(arguments, output),
        Command::Html(arguments) => html::run(arguments, output),
        Command::Csv(arguments) => csv::run(arguments, output),
        Command::Merge(arguments) => merge::run(arguments, output).map(|()| Outcome::Fine),
    }
}
