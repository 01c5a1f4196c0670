//! `bankrail conformance provider`: the judge of a provider, set up by arguments and connection
//! files.

use super::{Printing, api_key_header, failure, needed, roots};
use crate::block_on;
use crate::connection::{ConnectionOptions, connection, given_certificate, given_proxy, open};
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::keys::file;
use crate::output::Output;
use bankrail::client::Connection;
use bankrail::jose::SigningKey;
use bankrail_conformance::{
    Budget, Customer, Hook, ProviderJudge, ProviderJudgeOptions, RowSelection, UnrunRows,
    UnrunRowsError,
};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Table;

/// A warning of the calls that `--limits` makes.
const LIMITS_WARNING: &str = "--limits sends up to 52 statements and 25 token requests beyond the budget, in a minute, and the \
    customer is then locked out for an hour; the worked cases take up to 48 and 4 more, and six hours without --clock";

/// The maximum number of bytes of an earlier report.
const MAX_REPORT_BYTES: usize = 4 << 20;

#[derive(Args, Debug)]
pub(crate) struct Provider {
    /// The provider's address, such as https://bank.example; that of the connection without it
    url: Option<String>,
    #[command(flatten)]
    options: ConnectionOptions,
    /// Another customer, for rows about the separation of customers
    #[arg(long, value_name = "FILE")]
    second_connection: Option<PathBuf>,
    /// An account whose statements may be asked for; may be repeated
    #[arg(long, value_name = "ID")]
    account: Vec<String>,
    /// The calls that may be made: tokens=10,statements=25,tokens-per-second=2
    #[arg(long, default_value = "tokens=10,statements=25")]
    budget: Budget,
    /// Judge these rows only, such as S8 or S20.17; may be repeated
    #[arg(long, value_name = "ID")]
    only: Vec<RowSelection>,
    /// Judge the rows that an earlier run did not reach, from the report that it printed with
    /// --json
    #[arg(long, value_name = "FILE")]
    rest_of: Option<String>,
    /// The longest wait for a Retry-After or for the end of a token, in seconds; with --limits and
    /// 21600, the worked cases of limits are judged without --clock
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    wait: u64,
    /// Count the limits, as the last step: about 26 statements and 16 token requests beyond the
    /// budget, for a customer that has not called for two hours; it is locked out for an hour. A
    /// limit is judged with --clock, or with --only S25 and --second-connection
    #[arg(long)]
    limits: bool,
    /// Order bookings, and judge the statement that shows them: a command that gets each as a JSON
    /// object on standard input, or an https address to post it to, as described below
    #[arg(long, value_name = "COMMAND|URL")]
    book: Option<String>,
    /// Step the provider's clock to the end of a token, and for limits with --limits: a command or
    /// an https address as of --book
    #[arg(long, value_name = "COMMAND|URL")]
    clock: Option<String>,
    #[command(flatten)]
    printing: Printing,
}

pub(super) fn run(arguments: &Provider, output: &mut Output) -> Result<Outcome, Failure> {
    let judge = arguments.judge()?;
    if arguments.limits {
        crate::log(LIMITS_WARNING);
    }
    let judged = block_on(async { Ok(judge.judge().await) })?;
    crate::clear_progress();
    let judgement = judged.map_err(|error| {
        failure(
            &error,
            "check the address, and the certificates with --roots",
            &arguments.only,
        )
    })?;
    arguments.printing.print(&judgement, output)
}

impl Provider {
    /// Returns a judge with the values of the arguments, and those of the connection where an
    /// argument is missing.
    fn judge(&self) -> Result<ProviderJudge, Failure> {
        let mut own = Table::new();
        if let Some(url) = &self.url {
            own.insert("base_url".to_owned(), url.as_str().into());
        }
        if !self.account.is_empty() {
            own.insert("accounts".to_owned(), self.account.clone().into());
        }
        let members = self.options.members(own)?;
        needed(
            members.get("accounts"),
            "expected an account",
            "--account names one whose statements may be asked for",
        )?;
        let own = connection(members)?;
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let mut options = ProviderJudgeOptions::new()
            .api_key_header(api_key_header(own.api_key_header.as_deref())?)
            .scopes(own.scopes.clone())
            .roots(roots(
                own.roots.as_deref().map(path).as_deref(),
                own.system_roots,
            )?)
            .budget(self.budget)
            .wait(Duration::from_secs(self.wait))
            .limits(self.limits)
            .strict(self.printing.strict)
            .only(self.only.clone())
            .on_call(|left| {
                let (tokens, statements) = (left.tokens, left.statements);
                crate::show_progress(&format!(
                    "judging, with {tokens} token requests and {statements} statements left"
                ));
            });
        if let Some(file) = &own.client_certificate {
            options = options.client_certificate(given_certificate(&path(file))?);
        }
        if let Some(proxy) = &own.proxy {
            let proxy = given_proxy(proxy.expose_secret(), own.no_proxy.as_deref())?;
            options = options.proxy(proxy);
        }
        if let Some(seed) = self.printing.seed {
            options = options.seed(seed);
        }
        if let Some(seconds) = self.printing.timeout {
            options = options.timeout(Duration::from_secs(seconds));
        }
        if let Some(clock) = &self.clock {
            options = options.clock(Hook::new(clock));
        }
        if let Some(book) = &self.book {
            options = options.book(Hook::new(book));
        }
        if let Some(url) = &own.token_url {
            options = options.token_url(url.clone());
        }
        if let Some(audience) = &own.audience {
            options = options.audience(audience.clone());
        }
        if let Some(second) = self.second_connection.as_deref().map(open).transpose()? {
            let (customer, key) = customer(second)?;
            options = options.second_customer(customer).second_signing_key(key);
        }
        if let Some(report) = &self.rest_of {
            options = options.rest_of(unrun(report)?);
        }
        let url = own.base_url.clone();
        let (customer, key) = customer(own)?;
        ProviderJudge::new(&url, customer, &key, options)
            .map_err(|error| failure(&error, "", &self.only))
    }
}

/// Returns the customer of a connection, and its signing key.
fn customer(own: Connection) -> Result<(Customer, SigningKey), Failure> {
    let key = file::signing(
        &own.signing_key.to_string_lossy(),
        own.signing_kid.as_deref(),
    )?;
    let accounts: Vec<_> = own.accounts.iter().map(ToString::to_string).collect();
    let customer = Customer::new(own.customer.to_string(), own.api_key, accounts);
    Ok((customer, key))
}

fn unrun(path: &str) -> Result<UnrunRows, Failure> {
    let report = input::read(path, MAX_REPORT_BYTES)?;
    UnrunRows::from_json(&report).map_err(|error| {
        let next = match error {
            UnrunRowsError::NoReport => "keep what --json prints",
            _ => "nothing is left to judge",
        };
        Failure::unable(format_args!("{}: {error}", input::name(path)), next)
    })
}
