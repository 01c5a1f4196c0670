//! `bankrail statement`: account reports, and the shown parts of their entries.

mod check;
mod csv;
mod fetch;
mod html;
mod merge;
mod show;
mod source;
mod tally;

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use bankrail::camt052::{
    Account, AccountIdentification, Balance, BankTransactionCode, BankTransactionDomain, Direction,
    Entry, EntryLine,
};
use bankrail::statement::AccountId;
use bankrail::values::Decimal;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The maximum number of bytes of a statement endpoint's JSON answer. XML is read entry by entry
/// without such a bound.
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
    #[arg(value_name = "ACCOUNT")]
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
struct ToFile {
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

/// An entry or a transaction in columns. All texts are the document's, unescaped.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Row {
    pub(crate) booked: String,
    value_date: String,
    status: String,
    /// With its sign; `None` for an unknown direction, or a transaction without an amount.
    #[serde(skip)]
    signed: Option<Decimal>,
    /// As written, with the sign, `±` where that is unknown; empty without one.
    pub(crate) amount: String,
    pub(crate) currency: String,
    code: String,
    pub(crate) counterparty: String,
    /// The party behind the counterparty, unless it is the counterparty.
    #[serde(default)]
    ultimate: String,
    /// All of the entry and of its transactions.
    references: Vec<Reference>,
    pub(crate) narrative: String,
}

/// A reference, such as `AcctSvcrRef`.
#[derive(Debug, Deserialize, Serialize)]
struct Reference {
    name: String,
    value: String,
}

impl Row {
    pub(crate) fn of(entry: &Entry, account: Option<&Account>) -> Self {
        let mut lines = entry.lines_on(account);
        let line = lines.find(|line| line.counterparty_name().is_some());
        let (counterparty, ultimate) = line.as_ref().map(parties).unwrap_or_default();
        Self {
            booked: text(entry.booking_date.as_ref()),
            value_date: text(entry.value_date.as_ref()),
            status: format!(
                "{}{}",
                entry.status,
                if entry.reversal == Some(true) {
                    " reversal"
                } else {
                    ""
                }
            ),
            signed: entry.signed_amount(),
            amount: signed(entry.amount.value(), &entry.direction),
            currency: text(entry.amount.currency()),
            code: entry
                .bank_transaction_code
                .as_ref()
                .map(code)
                .unwrap_or_default(),
            counterparty,
            ultimate,
            references: owned(entry.references()),
            narrative: entry.narrative(),
        }
    }

    /// Makes the row of one of several transactions of an entry, without what the entry has in
    /// common.
    fn of_line(line: &EntryLine<'_>) -> Self {
        let amount = line.amount();
        let (counterparty, ultimate) = parties(line);
        Self {
            signed: line.signed_amount(),
            amount: amount
                .map(|amount| signed(amount.value(), line.direction()))
                .unwrap_or_default(),
            currency: text(amount.and_then(|amount| amount.currency())),
            counterparty,
            ultimate,
            references: line
                .transaction
                .map(|transaction| owned(transaction.references()))
                .unwrap_or_default(),
            narrative: line.narrative(),
            ..Self::default()
        }
    }

    /// References as `NAME VALUE`, separated by commas.
    fn reference_text(&self) -> String {
        let each: Vec<String> = self
            .references
            .iter()
            .map(|of| format!("{} {}", of.name, of.value))
            .collect();
        each.join(", ")
    }

    /// The counterparty and the party behind it.
    fn parties(&self) -> String {
        if self.ultimate.is_empty() {
            self.counterparty.clone()
        } else {
            format!("{} (for {})", self.counterparty, self.ultimate)
        }
    }
}

/// The names of the counterparty and of the party behind it.
fn parties(line: &EntryLine<'_>) -> (String, String) {
    let counterparty = line.counterparty_name().unwrap_or_default().to_owned();
    let ultimate = line.ultimate_counterparty();
    let mut ultimate = text(ultimate.and_then(|party| party.name.as_ref()));
    if ultimate == counterparty {
        ultimate.clear();
    }
    (counterparty, ultimate)
}

/// The transactions of an entry that has several.
fn parts<'a>(entry: &'a Entry, account: Option<&'a Account>) -> impl Iterator<Item = Row> + 'a {
    let several = entry.transactions().nth(1).is_some();
    entry
        .lines_on(account)
        .filter(move |_| several)
        .map(|line| Row::of_line(&line))
}

fn owned<'a>(references: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Reference> {
    references
        .map(|(name, value)| Reference {
            name: name.to_owned(),
            value: value.to_owned(),
        })
        .collect()
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The kind of a balance, its amount and its day.
fn balance(balance: &Balance) -> [String; 3] {
    let sub_kind = balance
        .kind
        .sub_kind
        .as_ref()
        .map_or_else(String::new, |kind| format!("/{kind}"));
    let (amount, currency) = (
        signed(balance.amount.value(), &balance.direction),
        text(balance.amount.currency()),
    );
    [
        format!("{}{sub_kind}", balance.kind.code),
        format!("{amount} {currency}"),
        text(balance.date.as_ref()),
    ]
}

/// `+5.00`, `-5.00`, or `±5.00` for an unknown direction.
fn signed(value: Decimal, direction: &Direction) -> String {
    let sign = match direction {
        Direction::Credit => '+',
        Direction::Debit => '-',
        _ => '±',
    };
    format!("{sign}{value}")
}

/// `PMNT/RCDT/DMCT`, or the bank's own code.
fn code(code: &BankTransactionCode) -> String {
    let domain = code.domain.as_ref().map(domain_text);
    let own = code.proprietary.as_ref().map(|own| own.code.to_string());
    [domain, own]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// `PMNT/RCDT/DMCT`.
fn domain_text(domain: &BankTransactionDomain) -> String {
    let family = &domain.family;
    format!("{}/{}/{}", domain.code, family.code, family.sub_family)
}

/// The standard code of an entry.
fn domain(entry: &Entry) -> Option<&BankTransactionDomain> {
    entry.bank_transaction_code.as_ref()?.domain.as_ref()
}

/// `Payments / Received Credit Transfers / Domestic Credit Transfer`: those names of domain, family
/// and sub-family that the standard's list has.
fn code_names(domain: &BankTransactionDomain) -> String {
    let names = [
        domain.name(),
        domain.family_name(),
        domain.sub_family_name(),
    ];
    names.into_iter().flatten().collect::<Vec<_>>().join(" / ")
}

/// The text of an account's identification.
fn account_text(id: &AccountIdentification) -> &str {
    id.as_str().unwrap_or_default()
}

/// Number and issuer of the virtual account that a credit was paid to.
fn virtual_account<'a>(line: &EntryLine<'a>) -> Option<(&'a str, &'a str)> {
    let credit = line.entry.direction == Direction::Credit;
    let account = line.own_account().filter(|_| credit)?.id.other()?;
    let issuer = account.issuer.as_ref().map_or("", |issuer| issuer.as_str());
    Some((account.id.as_str(), issuer))
}
