//! `bankrail conformance provider`: the judge of a provider, set up by arguments and connection
//! files.

use super::{Printing, api_key_header, failure, needed, roots};
use crate::asynchronous::block_on;
use crate::connection::{given_api_key, given_certificate, given_proxy, open};
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::keys::file;
use crate::output::Output;
use bankrail::client::Connection;
use bankrail::values::SecretString;
use bankrail_conformance::{
    Budget, Customer, Hook, ProviderJudge, ProviderJudgeOptions, RowSelection, UnrunRows,
    UnrunRowsError,
};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// A warning of the calls that `--limits` makes.
const PRICE: &str = "--limits sends up to 27 statements and 16 token requests beyond the budget, in half a minute, and \
    the customer is then locked out for an hour; the worked cases take up to 48 and 4 more, and six hours without --clock";

/// The bytes of an earlier report that are read.
const MAX_REPORT_BYTES: usize = 4 << 20;

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
    /// The API key, which others see in the list of processes, or @FILE, or BANKRAIL_API_KEY
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
    /// The certificate for a provider that asks for one, with its private key, as PEM
    #[arg(long, value_name = "FILE")]
    client_certificate: Option<PathBuf>,
    /// The proxy, such as socks5h://proxy.example:1080, or @FILE for the first line of FILE; by
    /// default that of the connection, never that of the environment
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// The hosts that are called without the proxy, such as .bank.internal
    #[arg(long, value_name = "HOSTS")]
    no_proxy: Option<String>,
    /// The calls that may be made: tokens=10,statements=25,tokens-per-second=2
    #[arg(long, default_value = "tokens=10,statements=25")]
    budget: Budget,
    /// Judge these rows only, such as S8 or S20.17; several times for several
    #[arg(long, value_name = "ID")]
    only: Vec<RowSelection>,
    /// Judge what an earlier run did not come to: the report that it printed with --json
    #[arg(long, value_name = "FILE")]
    rest_of: Option<String>,
    /// The longest wait for a Retry-After or for the end of a token, in seconds; with --limits and
    /// 21600, the worked cases of limits are judged without --clock
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    wait: u64,
    /// Count the limits, last: some 26 statements and 16 token requests beyond the budget, of a
    /// customer that has not called for two hours; it is locked out for an hour. Exact with --only
    /// S25 and --second-connection
    #[arg(long)]
    limits: bool,
    /// Order bookings, and judge the statement that shows them: a command that gets each as a JSON
    /// object on standard input, or an https address that it is posted to, as described below
    #[arg(long, value_name = "COMMAND|URL")]
    book: Option<String>,
    /// Step the provider's clock for the worked cases of limits, with --limits: a command or an
    /// https address as of --book
    #[arg(long, value_name = "COMMAND|URL", requires = "limits")]
    clock: Option<String>,
    #[command(flatten)]
    printing: Printing,
}

pub(super) fn run(arguments: &Provider, output: &mut Output) -> Result<Outcome, Failure> {
    let judge = arguments.judge()?;
    if arguments.limits {
        crate::log(PRICE);
    }
    let judged = block_on(async { Ok(judge.judge().await) })?;
    crate::progress::clear();
    let judgement = judged.map_err(|error| {
        failure(
            &error,
            "check the address, and the certificates with --roots",
        )
    })?;
    let outcome = arguments.printing.print(&judgement, output)?;
    if outcome == Outcome::NotRun {
        crate::log(
            "not every row was run; keep the report of --json and pass it to --rest-of an hour later",
        );
    }
    Ok(outcome)
}

impl Provider {
    /// Returns a judge with the arguments' values, and those of the connection for the rest.
    fn judge(&self) -> Result<ProviderJudge, Failure> {
        let connection = self.connection.as_deref().map(open).transpose()?;
        let of = |given: &Option<String>, own: fn(&Connection) -> Option<&String>| {
            given
                .clone()
                .or_else(|| connection.as_ref().and_then(own).cloned())
        };
        let path = |given: &Option<PathBuf>, own: fn(&Connection) -> Option<&PathBuf>| {
            let found = given.as_ref().or_else(|| connection.as_ref().and_then(own));
            found.map(|path| path.to_string_lossy().into_owned())
        };
        let all = |given: &[String], own: fn(&Connection) -> Vec<String>| match (given, &connection)
        {
            ([], Some(connection)) => own(connection),
            (given, _) => given.to_vec(),
        };
        let url = needed(
            of(&self.url, |own| Some(&own.base_url)),
            "expected an address",
            "name the provider's address",
        )?;
        // Another address than the connection's has its own token endpoint.
        let own_token_url = |own: &Connection| own.token_url.clone().filter(|_| self.url.is_none());
        let token_url = self
            .token_url
            .clone()
            .or_else(|| connection.as_ref().and_then(own_token_url));
        let own_code = || connection.as_ref().map(|own| own.customer.to_string());
        let code = self.customer.clone().or_else(own_code);
        let accounts = all(&self.account, account_ids);
        needed(
            accounts.first(),
            "expected an account",
            "--account names one whose statements may be asked for",
        )?;
        let code = needed(
            code,
            "expected a customer code",
            "--customer or --connection has it",
        )?;
        let api_key =
            given_api_key(self.api_key.as_deref())?.map(|key| SecretString::from(key.as_str()));
        let api_key = api_key.or_else(|| connection.as_ref().map(|own| own.api_key.clone()));
        let api_key = needed(
            api_key,
            "expected an API key",
            "--api-key @FILE, BANKRAIL_API_KEY or --connection has it",
        )?;
        let key = path(&self.key, |own| Some(&own.signing_key));
        let key = needed(
            key,
            "expected a private key",
            "--key or --connection names its file",
        )?;
        let kid = of(&self.kid, |own| own.signing_kid.as_ref());
        let header = of(&self.api_key_header, |own| own.api_key_header.as_ref());
        let mut options = ProviderJudgeOptions::new()
            .api_key_header(api_key_header(header.as_deref())?)
            .scopes(all(&self.scope, |own| own.scopes.clone()))
            .roots(roots(
                path(&self.roots, |own| own.roots.as_ref()).as_deref(),
                self.roots.is_none() && connection.as_ref().is_some_and(|own| own.system_roots),
            )?)
            .budget(self.budget)
            .wait(Duration::from_secs(self.wait))
            .limits(self.limits)
            .strict(self.printing.strict)
            .only(self.only.clone())
            .on_call(|left| {
                let (tokens, statements) = (left.tokens, left.statements);
                crate::progress::show(&format!(
                    "judging, with {tokens} token requests and {statements} statements left"
                ));
            });
        let certificate = path(&self.client_certificate, |own| {
            own.client_certificate.as_ref()
        });
        if let Some(path) = certificate {
            options = options.client_certificate(given_certificate(&path)?);
        }
        let own = connection.as_ref().and_then(|own| own.proxy.as_ref());
        let given = self
            .proxy
            .as_deref()
            .or(own.map(SecretString::expose_secret));
        if let Some(given) = given {
            let except = of(&self.no_proxy, |own| own.no_proxy.as_ref());
            options = options.proxy(given_proxy(given, except.as_deref())?);
        }
        if let Some(seed) = self.printing.seed {
            options = options.seed(seed);
        }
        if let Some(clock) = &self.clock {
            options = options.clock(Hook::new(clock));
        }
        if let Some(book) = &self.book {
            options = options.book(Hook::new(book));
        }
        if let Some(url) = token_url {
            options = options.token_url(url);
        }
        if let Some(audience) = of(&self.audience, |own| own.audience.as_ref()) {
            options = options.audience(audience);
        }
        if let Some(second) = self.second_connection.as_deref().map(open).transpose()? {
            let accounts = account_ids(&second);
            let key = file::signing(
                &second.signing_key.to_string_lossy(),
                second.signing_kid.as_deref(),
            )?;
            let customer = Customer::new(second.customer.to_string(), second.api_key, accounts);
            options = options.second_customer(customer).second_signing_key(key);
        }
        if let Some(report) = &self.rest_of {
            options = options.rest_of(unrun(report)?);
        }
        let key = file::signing(&key, kid.as_deref())?;
        ProviderJudge::new(&url, Customer::new(code, api_key, accounts), &key, options)
            .map_err(|error| failure(&error, ""))
    }
}

fn account_ids(connection: &Connection) -> Vec<String> {
    connection
        .accounts
        .iter()
        .map(ToString::to_string)
        .collect()
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
