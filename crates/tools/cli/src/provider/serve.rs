//! `bankrail provider` without a command: it serves.

mod announce;
mod given;
mod settings;

pub(super) use given::Given;

use super::control::{Access, FolderData};
use super::folder::{Folders, damaged};
use super::limits::Wanted;
#[cfg(feature = "page")]
use super::page::{self, PageData};
use super::rotation;
use super::{customers, demo, today};
use crate::failure::{Failure, Outcome, causes};
use crate::keys::write::make_folder;
#[cfg(feature = "page")]
use crate::keys::write::{NewFile, write};
use crate::output::{Output, Style};
use crate::{clock, logging, text};
use bankrail::bank::{CustomerRecord, DirectoryFollower, SqliteLedger};
use bankrail::client_assertion::Verifier;
use bankrail::emulator::{
    BankClock, Call, Control, ControlOptions, Emulator, EmulatorOptions, Endpoint, Engines,
};
use bankrail::http::operations::{Operations, OperationsOptions};
use bankrail::http::serve::{CertificateFiles, Server, ServerOptions, Shutdown};
use bankrail::jose::CurrentKey;
use bankrail::mailbox::OutboxStore;
use bankrail::rate_limit::Limiter;
use bankrail::service::ProviderOptions;
use bankrail::service::audit::{AuditFile, AuditFileOptions, AuditOptions};
use bankrail::service::delivery::{DispatcherOptions, HttpsTransport, HttpsTransportOptions};
#[cfg(feature = "page")]
use bankrail::values::HyphenatedUuid;
use settings::{
    Arguments, audience, cursor_secret, default_issuer, host, roots, scopes, verifier_options,
};
use std::future::pending;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;
use tracing::level_filters::LevelFilter;

/// How often the outbox is asked for messages that another process stored.
const IDLE: Duration = Duration::from_millis(200);

/// How often the certificate is read again.
const CERTIFICATE_INTERVAL: Duration = Duration::from_secs(60);

/// Serves until Ctrl-C or SIGTERM.
pub(super) async fn run(
    arguments: &Arguments,
    folders: &Folders,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    logging::start(LevelFilter::WARN, &[], output.log_colors());
    let signal = crate::unfinished::shutdown()?;
    let (speaker, silenced) = oneshot::channel::<()>();
    // A program that cannot say any more what it does ends as it does at Ctrl-C.
    let shutdown = Shutdown::when(async {
        tokio::select! {
            () = signal.wanted() => {}
            _ = silenced => {}
        }
    });
    if folders.is_demo() {
        let issuer = arguments
            .issuer
            .clone()
            .unwrap_or_else(|| default_issuer(arguments.listen));
        demo::make(folders, host(&issuer).as_deref())?;
    } else {
        make_folder(folders.root())?;
    }
    let _alone = folders.lock()?;
    let certificate = CertificateFiles::open(
        folders.config("server.pem"),
        folders.config("server-key.pem"),
    );
    let certificate =
        certificate.map_err(|error| damaged(&folders.config("server.pem"), &error))?;
    let tls = certificate
        .server_config()
        .map_err(|error| damaged(&folders.config("server.pem"), &error))?;
    let signing = CurrentKey::new(folders.signing_key()?);
    if let Some(url) = &arguments.deliver_to {
        customers::deliver_to(folders, url, arguments.encrypt_to.as_deref())?;
    }
    let clock = Arc::new(BankClock::new());
    let directory = Arc::new(folders.customers_by(clock.clone())?);
    let store = folders.store()?;
    let ledger = SqliteLedger::new(store.clone());
    let outbox: Arc<dyn OutboxStore> = Arc::new(store.outbox());
    let limits = arguments.limits.limits()?;
    let limiter = Arc::new(Limiter::new(limits.clone(), Arc::new(store.clone())));
    if folders.is_demo() {
        let day = today::book(&ledger, &clock).await?;
        tokio::spawn(today::follow(ledger.clone(), clock.clone(), day));
    }

    let transport = HttpsTransportOptions::new().tls_roots(roots(arguments, folders)?);
    let transport = HttpsTransport::new(transport).map_err(|error| {
        Failure::unable(
            format_args!("webhooks: {}", causes(&error)),
            "check --roots",
        )
    })?;
    let (listener, address) = listen(arguments.listen, "--listen").await?;
    let issuer = arguments
        .issuer
        .clone()
        .unwrap_or_else(|| default_issuer(address));
    let audit = AuditFile::open(folders.data("audit.jsonl"), AuditFileOptions::new())
        .map_err(|error| damaged(&folders.data("audit.jsonl"), &error))?;
    let mut options = ProviderOptions::new()
        .issuer(&issuer)
        .limiter(Arc::clone(&limiter))
        .assertion_clock(clock.for_assertions())
        .rate_limit_headers(true)
        .cursor_secret(cursor_secret(folders)?)
        .audit(Arc::new(audit), AuditOptions::new());
    if let Some(scopes) = scopes(&directory.book()) {
        options = options.scopes_supported(scopes);
    }
    let verifier = Verifier::new(audience(&issuer)?, verifier_options(arguments));
    let tokens = Arc::new(store.clone());
    let engines = Engines {
        directory: directory.clone(),
        ledger: Arc::new(ledger.clone()),
        tokens,
        outbox: Arc::clone(&outbox),
        transport: Arc::new(transport),
    };
    let options = EmulatorOptions::new()
        .clock(clock.clone())
        .journal(arguments.control.is_some())
        .provider(options)
        // `send` stores messages in another process.
        .dispatcher(
            DispatcherOptions::new()
                .schedule(arguments.schedule.clone())
                .longest_idle(IDLE)
                .unknown_endpoint_pause(Duration::from_secs(5)),
        )
        .faults(arguments.fault.clone())
        .seed(arguments.seed);
    let emulator = Emulator::new(engines, verifier, options).map_err(|error| {
        Failure::unable(causes(&error), "bankrail provider --help says what fits")
    })?;
    let emulator = Arc::new(emulator);
    let (dispatcher, calls) = (emulator.dispatcher().clone(), emulator.calls().clone());

    let mut follower = DirectoryFollower::new().accounts(Arc::new(ledger.clone()));
    if arguments.limits != Wanted::Off {
        follower = follower.limiter(Arc::clone(&limiter));
    }
    let (key, sealing, known) = (
        signing.clone(),
        Arc::clone(&emulator),
        Arc::clone(&directory),
    );
    let mut follower = follower.endpoints(emulator.endpoints().clone(), move |endpoint| {
        let book = known.book();
        let owns = |record: &&Arc<CustomerRecord>| {
            record.endpoints.iter().any(|own| own.id() == endpoint.id())
        };
        let customer = book
            .records()
            .find(owns)
            .map(|record| record.customer.code.to_string());
        sealing.sealer(customer, key.clone(), endpoint.encryption_key().clone())
    });
    // Accounts that the ledger refuses are logged with their customer, and all others are served.
    let _ = follower.apply(&directory.book()).await;

    let server = Server::new(listener, tls, emulator.router(), ServerOptions::new());
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
    #[cfg_attr(
        not(feature = "page"),
        expect(unused_variables, reason = "the page alone uses it")
    )]
    let control = if let Some(address) = arguments.control {
        if !address.ip().is_loopback() && !arguments.control_beyond_loopback {
            return Err(Failure::unable(
                format_args!("--control: expected a loopback address, found {address}"),
                "pass --control-beyond-loopback too if others may take the bank over",
            ));
        }
        let data = FolderData {
            folders: folders.clone(),
            ledger: ledger.clone(),
            directory: Arc::clone(&directory),
            signing: signing.clone(),
            clock: Arc::clone(&clock),
        };
        let options = ControlOptions::new().data(Arc::new(data));
        let control = Control::new(Arc::clone(&emulator), clock, limiter, options);
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
        Some(control)
    } else {
        None
    };
    #[cfg(feature = "page")]
    if let settings::WantedPage::At(address) = arguments.page {
        let (listener, address) = listen(address, "--page").await?;
        let data = PageData {
            calls: calls.clone(),
            directory: Arc::clone(&directory),
            ledger,
            outbox,
            dispatcher: dispatcher.clone(),
            control,
            issuer: issuer.clone(),
            data: folders.root().to_owned(),
            config: folders.other_config(),
            shutdown: shutdown.clone(),
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
        write(&[NewFile::private(&kept, &link)], true)?;
        let shown = if output.is_terminal() {
            link
        } else {
            format!("http://{address}/, link in {}", kept.display())
        };
        output.line(format_args!("page           {shown}"))?;
    }
    tokio::spawn(async move { certificate.watch(CERTIFICATE_INTERVAL).await });
    tokio::spawn(rotation::follow(folders.clone(), signing));
    let book = directory.book();
    tokio::spawn(async move { follower.run(&*directory, pending()).await });
    // From here on, what is told is told to those who subscribed.
    let news = calls.subscribe();
    announce::print(arguments, folders, &issuer, address, &book, output)?;
    let server = tokio::spawn(server.run(shutdown.clone().wanted()));
    let delivering = dispatcher.clone();
    let stop = shutdown.clone().wanted();
    let delivering = tokio::spawn(async move { delivering.run(stop).await });
    let said = print_refusals(news, shutdown, output).await;
    drop(speaker);
    // The reader of a pipe ends with the same Ctrl-C: what was accepted is finished nevertheless.
    let said = said
        .and_then(|()| output.line("stopping"))
        .and_then(|()| Ok(output.flush()?));
    // Both end within bounds of their own, unless they panicked.
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

/// Prints each refused call until the program shall stop.
async fn print_refusals(
    mut news: Receiver<Call>,
    shutdown: Shutdown,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut wanted = std::pin::pin!(shutdown.wanted());
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
                let status = call
                    .status
                    .map_or_else(|| "no answer".to_owned(), |status| status.to_string());
                let status = output.paint(Style::Red, &status);
                let customer = call.customer.as_deref().unwrap_or("unknown customer");
                let line = format!(
                    "{customer}, {} {}: refused for {reason}",
                    call.method, call.path
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

/// A listener, and the address that it has.
async fn listen(address: SocketAddr, option: &str) -> Result<(TcpListener, SocketAddr), Failure> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        let next = format!("choose another address with {option}, such as 127.0.0.1:0");
        Failure::unable(
            format_args!("{address}: cannot be listened on: {error}"),
            next,
        )
    })?;
    let address = listener.local_addr().unwrap_or(address);
    Ok((listener, address))
}
