//! `bankrail conformance receiver`.

mod accepts;
mod acknowledgements;
mod delivery;
mod forge;
mod hostile;
mod messages;
mod refuses;
mod repeats;
mod session;
mod settings;

use self::session::Session;
use self::settings::Settings;
use super::only;
use super::report::{Printing, Report};
use crate::asynchronous::block_on;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct Receiver {
    /// The address that the four receivers are below: /payto/mandates/outcomes, /payto/mandates/notifications,
    /// /payto/mpirs/outcomes, /payto/queries
    url: Option<String>,
    /// A file with what the other arguments say
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The receiver of mandate action outcomes, if it is elsewhere
    #[arg(long, value_name = "URL")]
    outcome: Option<String>,
    /// The receiver of mandate notifications, if it is elsewhere
    #[arg(long, value_name = "URL")]
    notification: Option<String>,
    /// The receiver of payment instruction outcomes, if it is elsewhere
    #[arg(long, value_name = "URL")]
    payment: Option<String>,
    /// The receiver of payer query notifications, if it is elsewhere
    #[arg(long, value_name = "URL")]
    query: Option<String>,
    /// The provider's private key, whose public half the receivers verify with
    #[arg(long, value_name = "FILE")]
    sign: Option<String>,
    /// The name of that key, for the signed header
    #[arg(long, value_name = "KID")]
    sign_kid: Option<String>,
    /// Another private key of the provider, of 4096 bits, that the receivers know too
    #[arg(long, value_name = "FILE")]
    sign_4096: Option<String>,
    /// The name of that key
    #[arg(long, value_name = "KID")]
    sign_4096_kid: Option<String>,
    /// The receivers' public key, which is encrypted to
    #[arg(long, value_name = "FILE")]
    encrypt_to: Option<String>,
    /// The name of that key, for the outer header
    #[arg(long, value_name = "KID")]
    encrypt_kid: Option<String>,
    /// The certificate authorities to trust as PEM, instead of those of the system
    #[arg(long, value_name = "FILE")]
    roots: Option<String>,
    /// The API key that the receivers expect, or @FILE; BANKRAIL_API_KEY without it
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// The header of the API key [default: apikey]
    #[arg(long, value_name = "NAME")]
    api_key_header: Option<String>,
    /// Judge these rows only, such as S9 or S21.7; several times for several
    #[arg(long, value_name = "ID", value_parser = only::parse)]
    only: Vec<String>,
    /// Let rows beyond SPEC.md fail too
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    printing: Printing,
}

pub(super) fn run(arguments: &Receiver, output: &mut Output) -> Result<Outcome, Failure> {
    let settings = Settings::of(arguments)?;
    let mut session = Session::new(settings.keys()?, settings.target()?, arguments.strict, arguments.only.clone());
    let mut report = Report::new(session.subject());
    let rows = block_on(async {
        session.begin().await?;
        accepts::run(&mut session).await?;
        repeats::run(&mut session).await?;
        refuses::run(&mut session).await?;
        hostile::run(&mut session).await?;
        Ok(session.finish())
    })?;
    rows.into_iter().for_each(|row| report.push(row));
    report.finish(&arguments.printing, output)
}
