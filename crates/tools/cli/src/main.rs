#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod assertion;
mod biller;
mod clock;
mod conformance;
mod connection;
mod failure;
mod files;
mod input;
mod keys;
mod logging;
mod message;
mod output;
mod payload;
mod provider;
mod statement;
mod text;
mod token;
mod unfinished;

use clap::{ColorChoice, CommandFactory as _, Parser, Subcommand};
use failure::{Failure, Outcome};
use output::Output;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::{Builder, Runtime};

/// Look into account reports, client assertions, sealed messages, webhook messages and keys; get
/// tokens and statements; receive webhooks; be a bank to test with; judge implementations of both
/// sides.
#[derive(Debug, Parser)]
#[command(
    name = "bankrail",
    version = version(),
    propagate_version = true,
    max_term_width = 110,
    after_help = "Exit status: 0 when nothing is wrong, 1 when something has findings or is refused, 2 when the \
        arguments are wrong, a file cannot be read or written, or nobody answers, 3 when conformance did not run every \
        row, 130 after Ctrl-C and 143 after SIGTERM, where provider and biller end with 0.\n\n\
        Each command has examples: bankrail COMMAND --help"
)]
struct Program {
    /// When to use colours: auto, always or never; auto is on terminals without NO_COLOR and
    /// TERM=dumb
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fetch, show, check, convert and merge account reports (camt.052, 053, 054)
    Statement(statement::Arguments),
    /// Make and explain client assertions (RFC 7523)
    Assertion(assertion::Arguments),
    /// Get an access token
    ///
    /// Prints the token alone, and on standard error its expiry, its scope and the request key of
    /// the call. Only 10 token calls an hour are allowed: keep the token and reuse it.
    Token(token::Arguments),
    /// Receive webhooks, poll accounts, and print what arrives
    ///
    /// Serves the receivers that the connection describes, polls its accounts, keeps the histories
    /// of mandates and payments, and prints each message, duplicate, conflict, refusal and new
    /// entry, until Ctrl-C. Its state is in the data folder, which only the owner can read. It may
    /// be killed at any time and started again.
    ///
    /// A message or entry is printed once the transaction that stores it is committed. After a
    /// kill, what was committed and perhaps not printed is printed again, with the same number and
    /// run: nothing is lost, and a reader that skips known pairs of both sees each once, also after
    /// the folder was restored from a backup. Tokens are kept, sealed, and calls are counted in the
    /// data folder, so that a restart needs no new token and exceeds no limit.
    ///
    /// A refusal names its stage: path, method, api_key, content_type, body, headers, envelope,
    /// format, decryption_key, decrypt_or_verify, verifying_key, signed_header, parse, message, age
    /// or inbox. The sender does not learn the stage.
    Biller(biller::Arguments),
    /// List, show and import what a biller has archived (biller --archive)
    #[command(subcommand)]
    Archive(biller::archive::Command),
    /// Seal, open and explain secured payloads (JWS in JWE)
    Payload(payload::Arguments),
    /// Check webhook messages and print samples of them
    Message(message::Arguments),
    /// Make, show and convert RSA keys
    Keys(keys::Arguments),
    /// Be a bank: serve tokens and statements, and deliver webhooks
    ///
    /// Serves over HTTPS until Ctrl-C or SIGTERM. Without --config everything is made up at the
    /// first start and kept in the folder of --data: two customers, the specification's test
    /// accounts with entries of today, keys and certificates. The first lines name all that a
    /// client needs. Each call that is refused prints one line with the reason.
    #[command(after_help = "Limits in a file:\n  \
        [[limits]]\n  \
        call_type = \"token\"   # or statement\n  \
        per_hour = 100        # per_minute, per_second too; or unlimited = true\n\n\
        Exit status: 0 after Ctrl-C or SIGTERM, 2 if the provider cannot start.\n\n\
        Examples:\n  \
        bankrail provider\n  \
        bankrail provider --limits real --strict-clients\n  \
        bankrail provider --fault token-500:0.1 --fault statement-slow:20% \\\n    \
        --seed 7\n  \
        bankrail provider --deliver-to https://localhost:9000/hooks \\\n    \
        --encrypt-to my.pub.pem --roots my-ca.pem")]
    Provider(Box<provider::Provider>),
    /// Judge other implementations by the clauses of the specification
    #[command(subcommand)]
    Conformance(conformance::Command),
    /// Print the completions of a shell
    #[command(after_help = "Examples:\n  \
        bankrail completions bash \\\n    \
        > ~/.local/share/bash-completion/completions/bankrail\n  \
        bankrail completions zsh > ~/.zfunc/_bankrail")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff
    #[command(after_help = "Examples:\n  \
        bankrail man | man -l -\n  \
        bankrail man statement check > bankrail-statement-check.1")]
    Man {
        /// The command; without one, the program as a whole
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
}

fn main() -> ExitCode {
    let program = Program::try_parse().unwrap_or_else(|error| wrong_usage(&error));
    let mut output = Output::standard(program.color);
    let done = run(&program.command, &mut output).and_then(|outcome| {
        // Flushes here, because an error of the flush in `drop` would be lost.
        output.flush()?;
        Ok(outcome)
    });
    match done {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            // Flushes the output from before the failure first.
            let _ = output.flush();
            let (line, status) = failure.into_parts();
            if let Some(line) = line {
                log(line);
            }
            status
        }
    }
}

/// Ends the program because of its arguments, with an error of one line. Help and version are
/// printed in full.
fn wrong_usage(error: &clap::Error) -> ! {
    use clap::error::ErrorKind;
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help || !error.use_stderr() {
        error.exit();
    }
    let text = error.to_string();
    let end = text
        .find("\nUsage:")
        .or_else(|| text.find("\nFor more information"));
    let said = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let said = said
        .trim_start_matches("error: ")
        .replace("\n\n  tip: ", "; ");
    let said: Vec<&str> = said.split_whitespace().collect();
    log(format_args!("{}; see --help", said.join(" ")));
    std::process::exit(2)
}

fn run(command: &Command, output: &mut Output) -> Result<Outcome, Failure> {
    match command {
        Command::Statement(arguments) => statement::run(arguments, output),
        Command::Assertion(arguments) => assertion::run(arguments, output),
        Command::Token(arguments) => token::run(arguments, output).map(|()| Outcome::Fine),
        Command::Biller(arguments) => biller::run(arguments, output),
        Command::Archive(command) => biller::archive::run(command, output),
        Command::Payload(arguments) => payload::run(arguments, output),
        Command::Message(arguments) => message::run(arguments, output),
        Command::Keys(arguments) => keys::run(arguments, output),
        Command::Provider(arguments) => provider::run(arguments, output),
        Command::Conformance(command) => conformance::run(command, output),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Program::command(), "bankrail", &mut text);
            output.write_all(&text)?;
            Ok(Outcome::Fine)
        }
        Command::Man { command } => {
            output.write_all(&manual(command)?)?;
            Ok(Outcome::Fine)
        }
    }
}

/// Returns the manual page of a command.
fn manual(path: &[String]) -> Result<Vec<u8>, Failure> {
    let mut program = Program::command();
    program.build();
    let mut command = &program;
    for name in path {
        command = command.find_subcommand(name).ok_or_else(|| {
            Failure::unable(
                format_args!(
                    "expected a command, found {}",
                    bankrail::values::excerpt(name)
                ),
                "bankrail --help lists the commands",
            )
        })?;
    }
    let name = std::iter::once("bankrail")
        .chain(path.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("-");
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .title(name)
        .render(&mut page)?;
    // Turns the headings below the options into those of manual pages.
    let mut page = String::from_utf8_lossy(&page).into_owned();
    let headings = [
        (".SH EXTRA\n", ".SH NOTES\n"),
        ("\nExit status: ", "\n.SH \"EXIT STATUS\"\n"),
        ("\nExample:\n", "\n.SH EXAMPLES\n"),
        ("\nExamples:\n", "\n.SH EXAMPLES\n"),
    ];
    for (found, wanted) in headings {
        page = page.replace(found, wanted);
    }
    Ok(page.replace(".SH NOTES\n.SH", ".SH").into_bytes())
}

/// Returns the version, with the commit if `build.rs` has found it.
fn version() -> String {
    let commit = option_env!("BANKRAIL_COMMIT")
        .map(|commit| format!(" ({commit})"))
        .unwrap_or_default();
    format!("{}{commit}", env!("CARGO_PKG_VERSION"))
}

/// Prints a line to standard error, without control characters.
fn log(line: impl Display) {
    clear_progress();
    // Without a standard error the line cannot be shown.
    let _ = writeln!(io::stderr(), "bankrail: {}", text::shown(&line.to_string()));
}

/// True while the last line of the terminal is one of progress.
static PROGRESS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Takes the line of progress off standard error, so that something else can be printed.
fn clear_progress() {
    // Relaxed: the mark decides only if a line is cleared.
    if PROGRESS_SHOWN.swap(false, Ordering::Relaxed) {
        // Without a standard error there is no line.
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

/// Shows a line of progress on a terminal, in place of the one before.
fn show_progress(line: &str) {
    if io::stderr().is_terminal() {
        // Relaxed, as in `clear_progress`.
        PROGRESS_SHOWN.store(true, Ordering::Relaxed);
        let _ = write!(io::stderr(), "\r\x1b[K{line}");
    }
}

/// The descriptors that a runtime needs, and some to spare.
#[cfg(unix)]
const RUNTIME_FILES: usize = 8;

/// Makes a runtime, if there are the descriptors that it needs: tokio panics without those for
/// signals.
fn runtime(builder: &mut Builder) -> io::Result<Runtime> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        let error = io::stderr();
        let spare = (0..RUNTIME_FILES).map(|_| error.as_fd().try_clone_to_owned());
        spare.collect::<io::Result<Vec<_>>>()?;
    }
    builder.enable_all().build()
}

/// Runs a command's future to its end.
fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = runtime(&mut Builder::new_multi_thread()).map_err(|error| {
        let what = format!("the program cannot start its threads: {error}");
        Failure::caused(&error, what, "end other programs first")
    })?;
    runtime.block_on(future)
}
