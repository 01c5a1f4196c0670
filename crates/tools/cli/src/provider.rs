//! `bankrail provider`: a bank in a box, and what acts on its data.

mod book;
mod control;
mod customers;
mod demo;
mod folder;
mod keys;
mod limits;
mod outbox;
#[cfg(feature = "page")]
mod page;
mod rotation;
mod samples;
mod send;
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
    /// Book on an account
    ///
    /// One entry, or all rows of a CSV file with the columns account, date, kind, amount, currency,
    /// and optionally value_date, reversal, key, reference, end_to_end_id, counterparty, narrative,
    /// virtual_account, virtual_account_issuer, mandate, cheque. What has a reference or key that
    /// the account knows is booked once.
    #[command(after_help = "Examples:\n  \
        bankrail provider book 999001400100101 25.00 --narrative 'rent, week 31'\n  \
        bankrail provider book 999001400100101 15.00 --kind fee --reference CH0007\n  \
        bankrail provider book --csv today.csv")]
    Book(book::Book),
    /// Steer a provider that runs with --control: its clock, limits and faults; show and judge its
    /// calls
    ///
    /// Prints the answer in JSON. The folder of the data says where the provider is, and opens it:
    /// control.json.
    #[command(
        after_help = "Exit status: 0 if it was done or is so; 1 if it was refused or is not so; 2 if nobody answers.\n\n\
        Examples:\n  \
        bankrail provider control set-clock --now 2026-03-02T00:00:00Z --rate 0\n  \
        bankrail provider control step-clock --seconds 86400\n  \
        bankrail provider control add-fault --fault statement-503 --count 2\n  \
        bankrail provider control assert-calls --endpoint statement --times 3"
    )]
    Control(control::Order),
    /// List the customers, add one, give one a new API key
    #[command(subcommand)]
    Customers(customers::Command),
    /// List the keys that sign webhooks, and replace the one in use
    #[command(subcommand)]
    Keys(keys::Command),
    /// List, show, resend and drop messages to deliver; pause and resume endpoints
    #[command(subcommand)]
    Outbox(outbox::Command),
    /// Deliver messages to a registered endpoint, and say what came back
    ///
    /// A running provider delivers them; without one they wait. After a delivery that failed, the
    /// message is delivered again on the schedule, and never to another endpoint.
    #[command(
        after_help = "Exit status: 0 if each message was delivered, or stored with --wait 0; 1 if one was not; 2 for \
        a file that cannot be read and an endpoint that nobody has.\n\n\
        Examples:\n  \
        bankrail provider send democustomer --kind query\n  \
        bankrail provider send democustomer --story mandate\n  \
        bankrail provider send democustomer message.json --wait 0"
    )]
    Send(send::Send),
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
    match command {
        Command::Book(book) => block_on(book::run(book, &folders, output)).map(|()| Outcome::Fine),
        Command::Control(order) => block_on(control::run(order, &folders, output)),
        Command::Customers(command) => customers::run(command, &folders, output),
        Command::Keys(command) => keys::run(command, &folders, output),
        Command::Outbox(command) => block_on(outbox::run(command, &folders, output)),
        Command::Send(send) => block_on(send::run(send, &folders, output)),
    }
}
