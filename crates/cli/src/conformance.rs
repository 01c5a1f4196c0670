//! `bankrail conformance`: judges other implementations by the specification.

mod only;
mod receiver;
mod report;
mod row;

use crate::failure::{Failure, Outcome};
use crate::output::Output;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge a customer's receivers by the clauses of the specification that can be seen from outside
    ///
    /// Plays the provider: delivers some 500 messages over HTTPS, good ones and hostile ones, and prints a row for each
    /// clause: its number in docs/conformance.md under the heading of SPEC.md, the verdict, and for a failure what was
    /// expected and what was found. Nothing is assumed about the language or the library behind the receivers.
    ///
    /// Mandates, payments and cases are made up anew in each run, and receivers store them: judge a test installation.
    ///
    /// Rows under "Beyond SPEC.md" are about what it does not say, such as whether a receiver reads a message before it
    /// acknowledges it. Where a receiver differs there from what is sensible, that is "noted", and fails with --strict.
    /// "not run": the row depends on another that failed, or on a receiver whose address was not given.
    #[command(
        after_help = "The file of --config is TOML. Names of files in it are relative to its folder, and arguments come \
        before what is in it. Keys in it do not stand in the list of processes:\n\n  \
        url = \"https://localhost:9443\"         # the paths of the receivers are below it\n  \
        # query = \"https://…\"                  # or that of one: outcome, notification, payment, query\n  \
        sign = \"keys/signing.pem\"              # the provider's private key\n  \
        # sign_kid = \"2026\"                    # its name in the signed header\n  \
        # sign_4096 = \"keys/large.pem\"         # another key of the provider, of 4096 bits\n  \
        # sign_4096_kid = \"2026-large\"\n  \
        encrypt_to = \"keys/encryption.pub.pem\" # the receivers' public key\n  \
        # encrypt_kid = \"customer-1\"\n  \
        roots = \"ca.pem\"                       # instead of the authorities of the system\n  \
        api_key = \"…\"                          # or BANKRAIL_API_KEY; without it none is sent\n  \
        # api_key_header = \"apikey\"\n\n\
        Exit status: 0 if no row failed, 1 if one did, 2 if the receivers do not answer or the arguments are wrong, 3 \
        if no row failed and some were not run (0 with --allow-not-run).\n\n\
        Examples:\n  \
        bankrail conformance receiver https://localhost:9443 --sign provider/signing.pem \\\n    \
        --encrypt-to encryption.pub.pem --roots ca.pem --api-key KEY\n  \
        bankrail conformance receiver --config receiver.toml --strict --junit receivers.xml"
    )]
    Receiver(Box<receiver::Receiver>),
}

pub(crate) fn run(command: &Command, output: &mut Output) -> Result<Outcome, Failure> {
    match command {
        Command::Receiver(arguments) => receiver::run(arguments, output),
    }
}
