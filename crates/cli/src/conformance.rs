//! `bankrail conformance`: judges other implementations by the specification.

mod only;
mod provider;
mod receiver;
mod report;
mod row;
mod signature;

use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::output::Output;
use bankrail::http::tls::{TlsRoots, client_config};
use clap::Subcommand;
use reqwest::Url;

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
        after_help = "The file of --config is TOML. Names of files in it are relative to its folder, and arguments \
        come before what is in it. Keys in it do not stand in the list of processes:\n\n  \
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
    /// Judge a provider by the clauses of the specification that can be seen from outside
    ///
    /// Calls the provider's two endpoints over HTTPS as a customer does, rightly and wrongly, and prints a row for each
    /// clause: its number in docs/conformance.md under the heading of SPEC.md, the verdict, and for a failure what was
    /// expected and what was found. Nothing is assumed about the language or the library behind the endpoints.
    ///
    /// Every call counts against the customer's limits, so the calls are bounded by --budget: 10 for tokens and 25 for
    /// statements unless it says otherwise, the most important ones first. What the budget did not last for reads "not
    /// run". Run it again an hour later with --rest-of, or agree on higher limits with the provider. A call that is
    /// answered 429 is repeated after its Retry-After if that is within --wait.
    ///
    /// "noted": the specification leaves it open, and it differs from what is usual. "not seen": this customer's
    /// accounts or options show nothing to judge it by.
    ///
    /// The customer should be one for tests. Its accounts should have entries of today, one of them fast payments, one
    /// of them credits to virtual accounts. No secret, account number or name is printed; amounts are where they are
    /// wrong.
    #[command(
        after_help = "Exit status: 0 if no row failed, 1 if one did, 2 if the provider cannot be reached or the \
        arguments are wrong, 3 if no row failed and some were not run for want of budget (0 with --allow-not-run).\n\n\
        Examples:\n  \
        bankrail conformance provider --connection demo/first --second-connection demo/second\n  \
        bankrail conformance provider --connection connection.toml --only S8 --only S20 --junit report.xml\n  \
        bankrail conformance provider --connection connection.toml --json > first.json\n  \
        bankrail conformance provider --connection connection.toml --rest-of first.json\n  \
        bankrail conformance provider --connection connection.toml --budget \
        tokens=60,statements=100,tokens-per-second=20\n  \
        BANKRAIL_API_KEY=… bankrail conformance provider https://bank.example --customer CODE --key signing.pem \
        --account 012003123456789"
    )]
    Provider(Box<provider::Provider>),
}

pub(crate) fn run(command: &Command, output: &mut Output) -> Result<Outcome, Failure> {
    match command {
        Command::Receiver(arguments) => receiver::run(arguments, output),
        Command::Provider(arguments) => provider::run(arguments, output),
    }
}

/// An address to call (Specification: "Authentication", rule 5).
///
/// # Errors
/// [`Failure::Unable`] without the address, which may have a password in it.
fn address(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "https" && url.has_host());
    url.filter(|url| url.username().is_empty() && url.password().is_none()).ok_or_else(|| {
        Failure::unable(
            "expected an address that begins with https:// and names no user, found another",
            "give one such as https://bank.example",
        )
    })
}

/// A client that sends each request once, as it is. It trusts the certificate authorities in a PEM file, or else those
/// of the system.
fn http(roots: Option<&str>) -> Result<reqwest::ClientBuilder, Failure> {
    let trusted = match roots {
        Some(path) => TlsRoots::OnlyPem(input::read(path, MOST_ROOTS)?.to_vec()),
        None => TlsRoots::Platform,
    };
    let tls = client_config(Some(&trusted)).map_err(|error| {
        let name = roots.map_or("the authorities of the system", input::name);
        Failure::unable(format_args!("{name}: {}", causes(&error)), "pass certificates as PEM with --roots")
    })?;
    Ok(reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .https_only(true)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .retry(reqwest::retry::never())
        // A server may close a connection that is not in use at any time, which would look like its fault.
        .pool_max_idle_per_host(0)
        .user_agent(concat!("bankrail-conformance/", env!("CARGO_PKG_VERSION"))))
}

/// The bytes of a file of certificates that are read.
const MOST_ROOTS: usize = 1 << 20;
