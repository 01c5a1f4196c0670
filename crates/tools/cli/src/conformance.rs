//! `bankrail conformance`: judges other implementations by the specification.

mod provider;
mod receiver;

use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::output::{Destination, Output, Style};
use crate::text::{shown, shown_json, shown_lines};
use bankrail::http::names::API_KEY;
use bankrail::http::tls::TlsRoots;
use bankrail::values::excerpt;
use bankrail_conformance::{JudgeError, Judgement, RowSelection, Verdict};
use clap::Subcommand;
use http::HeaderName;
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge a customer's receivers by the clauses of the specification that can be seen from
    /// outside
    ///
    /// Plays the provider: delivers about 1,300 good and hostile messages over HTTPS, and prints a
    /// row for each clause. A row has the number in docs/conformance.md, under the heading of
    /// SPEC.md, and the verdict; a failure also has the expected and the found value. Receivers may
    /// use any language and library.
    ///
    /// Each run invents new mandates, payments and cases, which receivers store: judge a test
    /// installation.
    ///
    /// A row fails if a sentence of SPEC.md is broken. Rows under "Beyond SPEC.md" cover what it
    /// leaves open, such as the API key: a difference from what is known of live services is
    /// "noted", and fails with --strict. A difference in what nothing settles is noted and never
    /// fails. A receiver that repeats the first acknowledgement's id for a duplicate shows that it
    /// recognised the message. The last lines name what to mend first, and which options would
    /// judge more rows. "not run": the row depends on another that failed, or on a receiver whose
    /// address was not given.
    #[command(
        after_help = "The file of --config is TOML. Names of files in it are relative to its folder, and arguments \
        come before what is in it. Keys in it do not appear in the list of processes:\n\n  \
        url = \"https://localhost:9443\"         # the paths of the receivers are below it\n  \
        # query = \"https://…\"                  # or that of one: outcome, notification, payment, query\n  \
        sign = \"keys/signing.pem\"              # the provider's private key\n  \
        # sign_kid = \"2026\"                    # its name in the signed header\n  \
        # sign_4096 = \"keys/large.pem\"         # another key of the provider, of 4096 bits\n  \
        # sign_4096_kid = \"2026-large\"\n  \
        encrypt_to = \"keys/encryption.pub.pem\" # the receivers' public key\n  \
        # encrypt_kid = \"customer-1\"\n  \
        roots = \"ca.pem\"                       # instead of the authorities of the system\n  \
        # client_certificate = \"client.pem\"    # for receivers that ask for one\n  \
        # proxy = \"http://proxy.example:3128\"\n  \
        # no_proxy = \".bank.internal\"\n  \
        api_key = \"…\"                          # or BANKRAIL_API_KEY; without it none is sent\n  \
        # api_key_header = \"apikey\"\n  \
        # handled = \"handled.jsonl\"\n\n\
        --handled names what the receivers list as handled, in the order of handling: one JSON object a line, or an \
        array of them. Objects without message_id and events other than message are ignored. \
        Without --handled, the effects of messages are not seen:\n\n  \
        message_id  the X-Message-Id of the delivery that was handled\n  \
        about       the mandate_identification, instruction_identification or uetr that it is about, or several\n  \
        state       the state of that mandate or payment after it: its code, such as ACSC or CNCD\n  \
        effect      repeated, if it was known and changed nothing\n  \
        event       message; a journal may have others\n\n\
        bankrail biller --json prints such a list.\n\n\
        Exit status: 0 if no row failed, 1 if one did, 2 if the receivers do not answer or the arguments are wrong, 3 \
        if no row failed and some were not run (0 with --allow-not-run).\n\n\
        Examples:\n  \
        bankrail conformance receiver https://localhost:9443 \\\n    \
        --sign provider/signing.pem --encrypt-to encryption.pub.pem \\\n    \
        --roots ca.pem --api-key @receiver-key\n  \
        bankrail conformance receiver --config receiver.toml --strict \\\n    \
        --junit receivers.xml --html receivers.html"
    )]
    Receiver(Box<receiver::Receiver>),
    /// Judge a provider by the clauses of the specification that can be seen from outside
    ///
    /// Calls the provider's two endpoints over HTTPS as a customer does, rightly and wrongly, and
    /// prints a row for each clause. A row has the number in docs/conformance.md, under the heading
    /// of SPEC.md, and the verdict; a failure also has the expected and the found value. Endpoints
    /// may use any language and library.
    ///
    /// Every call counts against the customer's limits, so the calls are bounded by --budget: 10
    /// for tokens and 25 for statements unless it says otherwise, the most important ones first.
    /// Token requests go on as the customer of --second-connection, who has a budget too. What the
    /// budgets did not last for reads "not run". Run it again an hour later with --rest-of, or
    /// agree on higher limits with the provider. A call that is answered 429 is repeated after its
    /// Retry-After if that is within --wait.
    ///
    /// The last lines name what to mend first, and which options would judge more rows, with the
    /// calls and the minutes that each costs. Without a token the rows that need one are not run.
    ///
    /// A row fails if a sentence of SPEC.md is broken. A difference from what is known of live
    /// services, where SPEC.md leaves it open, is "noted", and fails with --strict. A difference in
    /// what nothing settles is noted and never fails. "not seen": this customer's accounts or
    /// options show nothing to judge it by.
    ///
    /// Use a test customer. Its accounts should have entries of today; one account should have fast
    /// payments, and one credits to virtual accounts. No secret, account number or name is printed;
    /// wrong amounts are.
    #[command(
        after_help = "A booking of --book is one JSON object. It is booked when the command ends with 0 or the answer \
        is a success. Six are ordered for today on each account that the budget allows, two of \
        them identical, and the account's statement is asked for two to four times more:\n\n  \
        account       the account, one of those that are judged\n  \
        amount        the amount in its currency, without a sign, such as 12.50\n  \
        kind          fast_payment_in, fast_payment_out, transfer_in or transfer_out\n  \
        narrative     the remittance text\n  \
        counterparty  the name of the other party\n\n\
        An order of --clock is the object {\"seconds\": N}: the provider's clock is stepped ahead \
        by N seconds. Limits, tokens and statements follow that clock; assertions are judged by \
        the real time.\n\n\
        Exit status: 0 if no row failed, 1 if one did, 2 if the provider cannot be reached or the \
        arguments are wrong, 3 if no row failed and some were not run for want of budget (0 with --allow-not-run).\n\n\
        Examples:\n  \
        bankrail conformance provider --connection demo/first \\\n    \
        --second-connection demo/second\n  \
        bankrail conformance provider --connection connection.toml \\\n    \
        --only S8 --only S20 --junit report.xml\n  \
        bankrail conformance provider --connection demo/first \\\n    \
        --book 'bankrail provider control book --from -'\n  \
        bankrail conformance provider --connection demo/first --only S25 \\\n    \
        --limits --clock 'bankrail provider control step-clock --from -'\n  \
        bankrail conformance provider --connection connection.toml --json > first.json\n  \
        bankrail conformance provider --connection connection.toml \\\n    \
        --rest-of first.json\n  \
        bankrail conformance provider --connection connection.toml \\\n    \
        --budget tokens=60,statements=100,tokens-per-second=20\n  \
        bankrail conformance provider https://bank.example --customer CODE \\\n    \
        --key signing.pem --api-key @api-key --account 012003123456789"
    )]
    Provider(Box<provider::Provider>),
}

pub(crate) fn run(command: &Command, output: &mut Output) -> Result<Outcome, Failure> {
    match command {
        Command::Receiver(arguments) => receiver::run(arguments, output),
        Command::Provider(arguments) => provider::run(arguments, output),
    }
}

/// The form in which a judgement is printed, and permission to be incomplete.
#[derive(clap::Args, Debug)]
struct Printing {
    /// End with 0 even if rows were not run
    #[arg(long)]
    allow_not_run: bool,
    /// Write a JUnit XML file too; - for standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write an HTML page too, one file that loads nothing; - for standard output, in place of the
    /// table
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
    /// Also fail rows for rules that only public documentation of live services has, and not
    /// SPEC.md
    #[arg(long)]
    strict: bool,
    /// Make the same ids, texts and amounts as the run whose report has this seed. Receivers know
    /// the messages of that run
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u32>,
    /// The longest time for one answer, for an order, and for receivers to list what they have
    /// handled, for machines and networks that are slow [default: 30 for a provider, 10 for
    /// receivers]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
}

impl Printing {
    /// Prints the judgement. Returns [`Outcome::Findings`] if a row failed, otherwise
    /// [`Outcome::NotRun`] if a required row was not run.
    fn print(&self, judgement: &Judgement, output: &mut Output) -> Result<Outcome, Failure> {
        let files = [&self.junit, &self.html];
        let is_output = |path: &&PathBuf| path.as_os_str() == "-";
        // Only one of the outputs can go to standard output.
        let taken = files.into_iter().flatten().filter(is_output).count();
        if taken > 1 {
            return Err(Failure::unable(
                "--junit and --html: expected one of them on standard output",
                "name a file",
            ));
        }
        for (path, report) in files
            .into_iter()
            .zip([judgement.to_junit(), judgement.to_html()])
        {
            let Some(path) = path else { continue };
            let mut to = Destination::open(Some(path), output)?;
            to.write_all(shown_lines(&report).as_bytes())?;
            to.finish()?;
        }
        if taken == 0 && self.json {
            output.line(shown_json(&judgement.to_json()))?;
        } else if taken == 0 {
            print_table(judgement, output)?;
        }
        Ok(match judgement.passed() {
            false => Outcome::Findings,
            true if !self.allow_not_run && !judgement.is_complete() => Outcome::NotRun,
            true => Outcome::Fine,
        })
    }
}

/// Prints a line for each row under its heading, and the number of rows of each verdict.
fn print_table(judgement: &Judgement, output: &mut Output) -> Result<(), Failure> {
    let mut heading = "";
    for row in judgement.rows() {
        // A line at the end has the reason.
        if judgement.blocked().is_some() && matches!(row.verdict, Verdict::NotRun(_)) {
            continue;
        }
        if row.heading != heading {
            heading = row.heading;
            output.line(output.paint(Style::Bold, heading))?;
        }
        let name = format!("{:9}", row.verdict.name());
        let word = match row.verdict {
            Verdict::Passed => output.paint(Style::Green, &name),
            Verdict::Failed(_) => output.paint(Style::Red, &name.to_uppercase()),
            Verdict::NotSeen(_) | Verdict::NotRun(_) => output.paint(Style::Dim, &name),
            _ => name,
        };
        output.line(format_args!("  {:7}{word}{}", row.id, shown(&row.title)))?;
        if !row.verdict.detail().is_empty() {
            output.line(format_args!("{:18}{}", "", shown(row.verdict.detail())))?;
        }
    }
    let style = if judgement.passed() {
        Style::Green
    } else {
        Style::Red
    };
    output.line(output.paint(style, &shown(&judgement.summary())))?;
    if let Some(line) = judgement.mend_first() {
        output.line(output.paint(style, &shown(&line)))?;
    }
    let mut more = judgement.more().iter();
    more.try_for_each(|line| output.line(output.paint(Style::Dim, line)))
}

/// Returns the failure of a command whose judge came to no judgement. `unreachable` is the advice
/// for when nobody answers, `only` has the selected rows.
fn failure(error: &JudgeError, unreachable: &str, only: &[RowSelection]) -> Failure {
    let next = match error {
        JudgeError::Address => "give one such as https://bank.example",
        JudgeError::NoAddress => {
            "name the address that the four are below, or pass --outcome and others"
        }
        JudgeError::NoAccount => "--account names one whose statements may be asked for",
        JudgeError::KeySize { .. } => {
            return Failure::refused(
                format_args!("--sign-4096: {error}"),
                "pass a key of 2048 bits with --sign",
            );
        }
        JudgeError::Tls(_) => "pass certificates as PEM with --roots",
        JudgeError::Unreachable { .. } => unreachable,
        JudgeError::NoToken { .. } => "run it again an hour later",
        JudgeError::Handled { .. } => "name a file, or an address that answers 200, with --handled",
        JudgeError::NoRows if !only.is_empty() => {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            return Failure::unable(
                format_args!("--only {}: {error}", only.join(", ")),
                "docs/conformance.md has the numbers of all rows",
            );
        }
        JudgeError::NoRows => "correct --rest-of",
        JudgeError::ApiKey | JudgeError::Request(_) => "check the keys",
        _ => "try again",
    };
    Failure::unable(causes(error), next)
}

/// Returns the certificate authorities in a PEM file, or those of the system without a file; with
/// `system`, both.
fn roots(path: Option<&str>, system: bool) -> Result<TlsRoots, Failure> {
    let Some(path) = path else {
        return Ok(TlsRoots::Platform);
    };
    let pem = input::read(path, MAX_ROOTS_BYTES)?.to_vec();
    Ok(if system {
        TlsRoots::PlatformAndPem(pem)
    } else {
        TlsRoots::OnlyPem(pem)
    })
}

/// The maximum number of bytes of a file of certificates.
const MAX_ROOTS_BYTES: usize = 1 << 20;

/// Returns the header of the API key.
fn api_key_header(name: Option<&str>) -> Result<HeaderName, Failure> {
    let Some(name) = name else { return Ok(API_KEY) };
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        let what = format!(
            "--api-key-header: expected the name of a header, found {}",
            excerpt(name)
        );
        Failure::unable(what, "pass the name that is expected, such as apikey")
    })
}

/// Returns the value of a setting, or the failure that it is missing.
fn needed<T>(found: Option<T>, what: &str, next: &str) -> Result<T, Failure> {
    found.ok_or_else(|| Failure::unable(format_args!("{what}, found none"), next))
}
