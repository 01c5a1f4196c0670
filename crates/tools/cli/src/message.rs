//! `bankrail message`: the webhook messages.

mod check;
mod sample;

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use bankrail::webhook::MessageKind;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what is wrong with messages
    ///
    /// Reads a message as a receiver does, and prints one line for each finding: file, JSON
    /// pointer, rule, and what was expected and found. For a refused message, each reason is a
    /// line. Without --kind the kind is detected.
    #[command(
        after_help = "Exit status: 0 without findings, 1 with findings or for a message that is refused, 2 for a \
        file that cannot be read.\n\n\
        Examples:\n  \
        bankrail message check message.json\n  \
        bankrail payload open --decrypt decryption.pem \\\n    \
        --verify sender.pub.pem body.json |\n    \
        bankrail message check --kind query -"
    )]
    Check(Check),
    /// Print a valid message with fresh identifiers and times
    ///
    /// Names, accounts and amounts are made up. --list prints the samples of a kind.
    #[command(after_help = "Examples:\n  \
        bankrail message sample payment_outcome\n  \
        bankrail message sample --list mandate_outcome\n  \
        bankrail message sample mandate_notification MCRC --headers")]
    Sample(Sample),
}

/// The names of the kinds, as values of an argument.
fn kinds() -> impl TypedValueParser<Value = MessageKind> {
    PossibleValuesParser::new(MessageKind::ALL.map(MessageKind::as_str))
        .try_map(|name| name.parse::<MessageKind>())
}

#[derive(Args, Debug)]
struct Check {
    /// Messages in JSON; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The kind of message that the receiver takes
    #[arg(long, value_parser = kinds())]
    kind: Option<MessageKind>,
    /// Print one line of JSON for each file
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Sample {
    /// The kind of message
    #[arg(value_parser = kinds())]
    kind: MessageKind,
    /// The name of a sample; by default the kind's first sample
    name: Option<String>,
    /// Print the names of the kind's samples
    #[arg(long, conflicts_with_all = ["name", "headers"])]
    list: bool,
    /// Print the headers of its delivery and an empty line before it
    #[arg(long)]
    headers: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments, output),
        Command::Sample(arguments) => sample::run(arguments, output).map(|()| Outcome::Fine),
    }
}
