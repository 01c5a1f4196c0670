//! `bankrail conformance provider`.

mod body;
mod budget;
mod checks;
mod forge;
mod judge;
mod late;
mod narrative;
mod paging;
mod payload;
mod refused_statements;
mod refused_tokens;
mod statement;
mod target;
mod test_accounts;
mod token;
mod wanted;
mod wire;

use super::only;
use super::report::{Printing, Report};
use crate::asynchronous::block_on;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use budget::Budget;
use clap::Args;
use judge::Judge;
use std::path::PathBuf;
use std::time::Duration;
use target::Target;
use wanted::Wanted;

#[derive(Args, Debug)]
pub(crate) struct Provider {
    /// The provider's address, such as https://bank.example; that of the connection without it
    url: Option<String>,
    /// The customer: connection.toml, or the folder that it is in
    #[arg(long, value_name = "FILE")]
    connection: Option<PathBuf>,
    /// Another customer, for what must be kept from each other
    #[arg(long, value_name = "FILE")]
    second_connection: Option<PathBuf>,
    /// The customer code
    #[arg(long, value_name = "CODE")]
    customer: Option<String>,
    /// The private key that signs assertions
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The name of that key, for the assertion's header
    #[arg(long, value_name = "KID")]
    kid: Option<String>,
    /// The API key, or @FILE; BANKRAIL_API_KEY without it
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// The header of the API key [default: apikey]
    #[arg(long, value_name = "NAME")]
    api_key_header: Option<String>,
    /// The audience of assertions [default: the address of the token endpoint]
    #[arg(long, value_name = "URL")]
    audience: Option<String>,
    /// The address of the token endpoint [default: the provider's and /v1.0/auth]
    #[arg(long, value_name = "URL")]
    token_url: Option<String>,
    /// A scope to ask for; several times for several
    #[arg(long)]
    scope: Vec<String>,
    /// An account whose statements may be asked for; several times for several
    #[arg(long, value_name = "ID")]
    account: Vec<String>,
    /// The certificate authorities of the provider as PEM; those of the system without it
    #[arg(long, value_name = "FILE")]
    roots: Option<PathBuf>,
    /// The calls that may be made: tokens=10,statements=25,tokens-per-second=2
    #[arg(long, default_value = "tokens=10,statements=25", value_parser = Budget::parse)]
    budget: Budget,
    /// Judge these rows only, such as S8 or S20.17; several times for several
    #[arg(long, value_name = "ID", value_parser = only::parse)]
    only: Vec<String>,
    /// Judge what an earlier run did not come to: the report that it printed with --json
    #[arg(long, value_name = "FILE")]
    rest_of: Option<String>,
    /// The longest wait for a Retry-After or for the end of a token, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    wait: u64,
    /// Send requests beyond the budget until the provider refuses them, last; the customer is locked out for an hour
    #[arg(long)]
    limits: bool,
    #[command(flatten)]
    printing: Printing,
}

pub(crate) fn run(arguments: &Provider, output: &mut Output) -> Result<Outcome, Failure> {
    let wanted = Wanted::new(&arguments.only, arguments.rest_of.as_deref())?;
    let target = Target::read(arguments)?;
    let report = block_on(judge_all(target, wanted, arguments))?;
    let outcome = report.finish(&arguments.printing, output)?;
    if outcome == Outcome::NotRun {
        crate::log("not every row was run; keep the report of --json and pass it to --rest-of an hour later");
    }
    Ok(outcome)
}

/// Makes the calls: first one token and the statements, then what must be refused, then what uses up the budget.
async fn judge_all(target: Target, wanted: Wanted, arguments: &Provider) -> Result<Report, Failure> {
    let wait = Duration::from_secs(arguments.wait);
    let mut judge = Judge::new(target, arguments.budget, wait, wanted)?;
    token::judge_first(&mut judge).await?;
    late::metadata(&mut judge).await;
    if judge.bearer.is_some() {
        let statements = statement::judge(&mut judge).await?;
        payload::judge(&mut judge, &statements);
        test_accounts::judge(&mut judge, &statements);
        refused_statements::judge(&mut judge).await?;
        narrative::judge(&mut judge, &statements).await?;
        paging::judge(&mut judge, &statements).await?;
    } else {
        crate::log("no access token was received: no statement can be judged");
    }
    refused_tokens::judge(&mut judge).await?;
    late::other_scope(&mut judge).await?;
    late::request_keys(&mut judge);
    late::end_of_token(&mut judge).await?;
    late::limits(&mut judge, arguments.limits).await?;
    Ok(judge.into_report())
}
