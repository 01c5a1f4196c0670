//! `bankrail provider`: a bank in a box, and what acts on its data.

mod control;
mod customers;
mod demo;
mod folder;
mod keys;
mod limits;
#[cfg(feature = "page")]
mod page;
mod rotation;
mod samples;
mod serve;
mod today;

use crate::asynchronous::block_on;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use clap::{Args, Subcommand};
use folder::Folders;
use std::path::PathBuf;

/// `bankrail provider`, with or without a command.
#[derive(Args, Debug)]
pub(crate) struct Provider {
    /// The folder of the provider's data; without --config also of its keys and customers
    ///
    /// It is made if it does not exist: with demo customers, test accounts, keys and certificates.
    /// Without it: the folder of --config, or bankrail-data.
    #[arg(long, global = true, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// A folder with customers/*.toml, signing.pem, server.pem, server-key.pem and cursor.key of
    /// your own
    #[arg(long, global = true, value_name = "FOLDER")]
    config: Option<PathBuf>,
    #[command(flatten)]
    serve: serve::Given,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Book, add customers, send and resend messages, rotate keys; steer a provider that runs: its
    /// clock, limits, faults and calls
    ///
    /// Prints the answer in JSON. A provider that runs with --control does it: control.json in the
    /// folder of the data has its address and token. Otherwise operations on bookings, messages,
    /// customers and keys are carried out on the folder, and a provider that runs without --control
    /// follows within a second.
    #[command(
        after_help = "Exit status: 0 if it was done or is so; 1 if it was refused or is not so; 2 if nobody answers.\n\n\
        Examples:\n  \
        bankrail provider control book --account 999001400100101 --amount 25.00\n  \
        bankrail provider control send --endpoint democustomer --story mandate --wait 20\n  \
        bankrail provider control set-clock --now 2026-03-02T00:00:00.000Z --rate 0\n  \
        bankrail provider control step-clock --seconds 86400\n  \
        bankrail provider control add-fault --fault statement-503 --count 2\n  \
        bankrail provider control assert-calls --endpoint statement --times 3"
    )]
    Control(control::Order),
}

pub(crate) fn run(arguments: &Provider, output: &mut Output) -> Result<Outcome, Failure> {
    let folders = Folders::of(arguments.data.as_deref(), arguments.config.as_deref());
    let Some(command) = &arguments.command else {
        return block_on(serve::run(&arguments.serve.arguments, &folders, output));
    };
    if let Some(option) = &arguments.serve.option {
        return Err(Failure::unable(
            format_args!("{option}: expected with serving alone, found with a command"),
            "leave it out, or pass it to bankrail provider without a command",
        ));
    }
    folders.check()?;
    let Command::Control(order) = command;
    block_on(control::run(
        order,
        &arguments.serve.arguments,
        &folders,
        output,
    ))
}
