//! `bankrail provider` without a command: it serves.

mod announce;
mod bank;
mod settings;

use super::control::{Access, FolderData};
use super::page::{self, PageData};
use super::{Folders, damaged};
use super::{customers, demo, keys};
use crate::failure::{Failure, Outcome, with_options};
use crate::files::make_folder;
use crate::files::{NewFile, write};
use crate::output::{Output, Style};
use crate::{clock, logging, text};
use bankrail::bank::DirectoryFollower;
use bankrail::client_assertion::Audience;
use bankrail::http::__private::LineBound;
use bankrail::http::operations::{Operations, OperationsOptions};
use bankrail::http::serve::{CertificateFiles, Server, ServerOptions, Shutdown};
use bankrail::mailbox::Schedule;
use bankrail::rate_limit::{Limiter, Limits};
use bankrail::service::ProviderOptions;
use bankrail::service::audit::{AuditFile, AuditFileOptions, AuditOptions};
use bankrail::service::delivery::EndpointUrl;
use bankrail::stores::sqlite::SqliteStore;
use bankrail::values::HyphenatedUuid;
use bankrail_emulator::{Call, Endpoint, FaultOrder};
use clap::builder::TypedValueParser as _;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
pub(super) use settings::FaultNames;
use settings::PageAddress;
use settings::{
    LimitsChoice, PAUSES, client_authorities, default_issuer, fault_help, host, schedule,
};
use std::future::pending;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;
use tracing::level_filters::LevelFilter;

/// The interval at which the certificate is read again.
const CERTIFICATE_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// The address to listen on; port 0 lets the system choose one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8443")]
    listen: SocketAddr,
    /// The name of the issuer, the address that customers know; by default https://localhost and
    /// the port
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// The time zone of statements, such as Australia/Sydney: each lists the entries of one day
    /// there, and bookings of today get that day; commands while no provider runs use the day of
    /// UTC
    #[arg(long, value_name = "NAME", default_value = "UTC")]
    time_zone: String,
    /// The limits of calls: real, as the specification has them; trial, 40 times as many; off; or a
    /// file
    #[arg(long, value_name = "LIMITS", default_value = "trial")]
    limits: LimitsChoice,
    /// Accept assertions for this audience too; the issuer and the token URL are accepted anyway
    #[arg(long, value_name = "URL")]
    audience: Vec<Audience>,
    /// Accept assertions only as the specification has them; by default also as widespread client
    /// libraries write them: another or no typ, exp as a text, aud as an array
    #[arg(long)]
    strict_clients: bool,
    /// Register another endpoint of the first demo customer at this address, and keep it
    #[arg(long, value_name = "URL", conflicts_with = "config", value_parser = |text: &str| EndpointUrl::parse(text))]
    deliver_to: Option<EndpointUrl>,
    /// Encrypt messages to the endpoint of --deliver-to for this public key; by default the demo
    /// customer's own
    #[arg(long, value_name = "PUB", requires = "deliver_to")]
    encrypt_to: Option<String>,
    /// Certificate authorities of receivers, beside the generated one; with --config, by default
    /// those of the system
    #[arg(long, value_name = "FILE")]
    roots: Option<PathBuf>,
    /// Trust the system's certificate authorities beside the generated one and those of --roots
    #[arg(long)]
    system_roots: bool,
    /// The certificate for receivers that ask for one, with its private key, as PEM; the file is
    /// read again each minute
    #[arg(long, value_name = "FILE")]
    client_certificate: Option<PathBuf>,
    /// The proxy of deliveries, such as socks5h://proxy.example:1080, or @FILE for the first line
    /// of FILE; none by default
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// The hosts that deliveries reach without --proxy, such as .bank.internal,10.0.0.0/8
    #[arg(long, value_name = "HOSTS", requires = "proxy")]
    no_proxy: Option<String>,
    /// Deliver to addresses of the public Internet only: for customers who register endpoints
    #[arg(long)]
    only_public_addresses: bool,
    /// Ask callers for a certificate of these authorities, as PEM
    #[arg(long, value_name = "FILE")]
    client_roots: Option<PathBuf>,
    /// Also admit callers without a certificate
    #[arg(long, requires = "client_roots")]
    client_certificate_optional: bool,
    /// The pauses after the failed deliveries of a message, each up to 20 % more or less; then it
    /// is a dead letter
    #[arg(long, value_name = "PAUSES", default_value = PAUSES, value_parser = schedule)]
    schedule: Schedule,
    #[arg(
        long,
        value_name = "KIND:RATE",
        help = fault_help(),
        value_parser = FaultNames.try_map(|text| text.parse::<FaultOrder>()),
        hide_possible_values = true
    )]
    fault: Vec<FaultOrder>,
    /// The seed that selects the calls with faults: the same seed, the same calls
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Serve a page for people, at this loopback address over HTTP, or off; the link is printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    page: PageAddress,
    /// Serve the control of the bank at this address over HTTP
    ///
    /// It sets clock, limits and faults, and shows calls. control.json in the folder of the data
    /// has the address and the token; bankrail provider control uses it.
    #[arg(long, value_name = "ADDRESS")]
    control: Option<SocketAddr>,
    /// Let --control listen beyond loopback, where others can read the token in transit and take
    /// the bank over
    #[arg(long, requires = "control")]
    control_beyond_loopback: bool,
    /// Serve /livez and /readyz for supervisors at this address, over HTTP
    #[arg(long, value_name = "ADDRESS")]
    operations: Option<SocketAddr>,
}

/// The options of serving. They are refused beside a command, so this type records which of them
/// were given.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) arguments: Arguments,
    /// An option that was given, such as `--limits`.
    pub(super) option: Option<String>,
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            arguments: Arguments::from_arg_matches(matches)?,
            option: option(matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        Arguments::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Arguments::augment_args(command)
    }
}

/// Returns the first option that the command line sets, even to its default.
fn option(matches: &ArgMatches) -> Option<String> {
    let all = Arguments::augment_args(Command::new("provider"));
    let is_given = |option: &&Arg| {
        matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let name = all.get_arguments().find(is_given)?.get_long()?;
    Some(format!("--{name}"))
}

/// The parts of a bank before it is served.
pub(super) struct Bank {
    issuer: String,
    data: Arc<FolderData>,
    follower: DirectoryFollower,
    limiter: Arc<Limiter>,
    limits: Limits,
    pub(super) store: SqliteStore,
}

/// A folder that was made for a provider that does not serve yet. The folder is removed when this
/// value is dropped, so that a failed start leaves nothing behind.
struct Unserved<'a>(Option<&'a Path>);

impl Unserved<'_> {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Unserved<'_> {
    fn drop(&mut self) {
        if let Some(folder) = self.0 {
            // The failure itself is reported; a folder that cannot be removed is used again at the
            // next start.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Serves until Ctrl-C or SIGTERM.
pub(super) async fn run(
    arguments: &Arguments,
    folders: &Folders,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    logging::start(LevelFilter::WARN, &[], output.log_colors());
    let signal = crate::unfinished::shutdown()?;
    let (speaker, silenced) = oneshot::channel::<()>();
    // A program whose output is closed ends like after Ctrl-C.
    let shutdown = Shutdown::when(async {
        tokio::select! {
            () = signal.wanted() => {}
            _ = silenced => {}
        }
    });
    // Binds the address before anything is made, because an address in use is the most frequent
    // reason of a failed start.
    let (listener, address) = listen(arguments.listen, "--listen").await?;
    let is_new = if folders.is_demo() {
        let issuer = arguments
            .issuer
            .clone()
            .unwrap_or_else(|| default_issuer(arguments.listen));
        demo::make(folders, host(&issuer).as_deref())?
    } else {
        let is_new = !folders.root().exists();
        make_folder(folders.root())?;
        is_new
    };
    // Locks the data before they are opened, because a second provider over them would also deliver
    // and book.
    let _alone = folders.lock()?;
    // This value is dropped before the lock, so that no other provider uses the folder while it is
    // removed.
    let unserved = Unserved(is_new.then(|| folders.root()));
    let certificate = CertificateFiles::open(
        folders.config("server.pem"),
        folders.config("server-key.pem"),
    );
    let certificate =
        certificate.map_err(|error| damaged(&folders.config("server.pem"), &error))?;
    let tls = match client_authorities(arguments)? {
        Some(clients) => certificate.server_config_for(&clients),
        None => certificate.server_config(),
    };
    let tls = tls.map_err(|error| damaged(&folders.config("server.pem"), &error))?;
    if let Some(url) = &arguments.deliver_to {
        customers::deliver_to(folders, url, arguments.encrypt_to.as_deref())?;
    }
    let audit = AuditFile::open(folders.data("audit.jsonl"), AuditFileOptions::new())
        .map_err(|error| damaged(&folders.data("audit.jsonl"), &error))?;
    let options = ProviderOptions::new().audit(Arc::new(audit), AuditOptions::new());
    let mut bank = Bank::open(arguments, folders, address, options)?;
    if folders.is_demo() {
        let day = demo::book_today(&bank.data).await?;
        tokio::spawn(demo::follow_days(Arc::clone(&bank.data), day));
    }
    bank.follow_customers().await;
    let control = bank.control();
    let Bank {
        issuer,
        data: bank,
        follower,
        limits,
        store,
        ..
    } = bank;

    let server = Server::new(listener, tls, bank.emulator.router(), ServerOptions::new());
    for (at, line) in arguments.limits.lines(&limits).iter().enumerate() {
        output.line(format_args!(
            "{:<14} {line}",
            if at == 0 { "limits" } else { "" }
        ))?;
    }
    if let Some(address) = arguments.operations {
        let database = store.clone();
        let health = OperationsOptions::new()
            .not_ready_from(shutdown.clone().wanted())
            .check("database", move || database.check());
        let (listener, address) = listen(address, "--operations").await?;
        tokio::spawn(
            Server::without_tls(listener, Operations::new(health), ServerOptions::new())
                .run(pending()),
        );
        output.line(format_args!("operations     http://{address}/readyz"))?;
    }
    if let Some(address) = arguments.control {
        if !address.ip().is_loopback() && !arguments.control_beyond_loopback {
            return Err(Failure::unable(
                format_args!("--control: expected a loopback address, found {address}"),
                "pass --control-beyond-loopback too if others may take the bank over",
            ));
        }
        let (listener, address) = listen(address, "--control").await?;
        let access = Access::of(folders, address)?;
        let server =
            Server::without_tls(listener, control.router(access.token), ServerOptions::new());
        tokio::spawn(server.run(shutdown.clone().wanted()));
        output.line(format_args!(
            "control        {}, token in {}",
            access.url,
            access.file.display()
        ))?;
    }
    if let PageAddress::At(address) = arguments.page {
        let (listener, address) = listen(address, "--page").await?;
        let data = PageData {
            bank: Arc::clone(&bank),
            outbox: Arc::new(store.outbox()),
            control,
            has_buttons: arguments.control.is_some(),
            issuer: issuer.clone(),
        };
        let token = HyphenatedUuid::random().to_string();
        let page = page::router(data, &token);
        tokio::spawn(
            Server::without_tls(listener, page, ServerOptions::new())
                .run(shutdown.clone().wanted()),
        );
        let (link, kept) = (
            format!("http://{address}/?token={token}"),
            folders.data("page.url"),
        );
        // Replaces the file, because each start has another token.
        write(&[NewFile::private(&kept, &link)], true)?;
        let shown = if output.is_terminal() {
            link
        } else {
            format!("http://{address}/, link in {}", kept.display())
        };
        output.line(format_args!("page           {shown}"))?;
    }
    tokio::spawn(async move { certificate.watch(CERTIFICATE_INTERVAL).await });
    tokio::spawn(keys::follow(folders.clone(), bank.signing.clone()));
    let customers = bank.directory.current();
    let delivering = bank.emulator.dispatcher().clone();
    // Subscribed before the server runs, so that no refusal is missed.
    let news = bank.emulator.calls().subscribe();
    tokio::spawn(async move { follower.run(&*bank.directory, pending()).await });
    announce::print(arguments, folders, &issuer, address, &customers, output)?;
    unserved.keep();
    let server = tokio::spawn(server.run(shutdown.clone().wanted()));
    let stop = shutdown.clone().wanted();
    let delivering = tokio::spawn(async move { delivering.run(stop).await });
    let lenient = if arguments.strict_clients {
        "a provider without --strict-clients"
    } else {
        "an option of the library"
    };
    let said = print_refusals(news, lenient, shutdown, output).await;
    // Output closed or signal received: all parts stop now.
    drop(speaker);
    // The reader of a pipe may end with the same Ctrl-C, but accepted work is finished
    // nevertheless.
    let said = said
        .and_then(|()| output.line("stopping"))
        .and_then(|()| Ok(output.flush()?));
    // Server and dispatcher end within their own time-outs, unless they panicked.
    let (server, delivering) = (server.await, delivering.await);
    store.close().await;
    match server.and(delivering) {
        Ok(()) => said.map(|()| Outcome::Fine),
        Err(error) => Err(Failure::unable(
            format_args!("the provider failed: {error}"),
            "report it",
        )),
    }
}

/// Prints each refused call until the program is to stop. `lenient` is the advice that makes the
/// provider accept more clients.
async fn print_refusals(
    mut news: Receiver<Call>,
    lenient: &str,
    shutdown: Shutdown,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut wanted = std::pin::pin!(shutdown.wanted());
    let strangers = LineBound::default();
    loop {
        let call = tokio::select! {
            biased;
            () = &mut wanted => return Ok(()),
            call = news.recv() => call,
        };
        match call {
            Ok(call) => {
                let Some(reason) = call
                    .reason
                    .as_ref()
                    .filter(|_| call.endpoint != Endpoint::Webhook)
                else {
                    continue;
                };
                let Some(left_out) = strangers.admit(call.customer.is_some()) else {
                    continue;
                };
                if left_out > 0 {
                    let calls = text::counted(left_out, "call was", "calls were");
                    output.line(format_args!("{calls} refused to unknown customers, too"))?;
                }
                let status = call
                    .status
                    .map_or_else(|| "no answer".to_owned(), |status| status.to_string());
                let status = output.paint(Style::Red, &status);
                let customer = call.customer.as_deref().unwrap_or("unknown customer");
                let line = format!(
                    "{customer}, {} {}: refused for {}",
                    call.method,
                    call.path,
                    with_options(reason, lenient)
                );
                let key = call
                    .request_key
                    .map(|key| format!(" (X-RequestKey {key})"))
                    .unwrap_or_default();
                output.line(format_args!(
                    "{}  {status} {}{key}",
                    clock::instant(call.at),
                    text::shown(&line)
                ))?;
            }
            Err(RecvError::Lagged(calls)) => {
                let calls = text::counted(calls, "call was", "calls were");
                output.line(format_args!(
                    "{calls} answered faster than it can be printed"
                ))?;
            }
            Err(RecvError::Closed) => return Ok(()),
        }
        output.flush()?;
    }
}

/// Binds a listener, and returns it with its address.
async fn listen(address: SocketAddr, option: &str) -> Result<(TcpListener, SocketAddr), Failure> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        let next = format!("choose another address with {option}, such as 127.0.0.1:0");
        Failure::caused(
            &error,
            format_args!("{address}: cannot be listened on: {error}"),
            next,
        )
    })?;
    let address = listener.local_addr().unwrap_or(address);
    Ok((listener, address))
}
