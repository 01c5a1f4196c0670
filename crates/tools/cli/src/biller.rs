//! `bankrail biller`: the customer's side as one program.

pub(crate) mod archive;
mod folder;
mod journal;
mod keep;
mod people;
mod poll;
mod receive;

use crate::block_on;
use crate::connection::{failure, open};
use crate::failure::{Failure, Outcome};
use crate::logging;
use crate::output::Output;
use crate::statement::Row;
use crate::text::shown;
use bankrail::client::{Archive, ArchiveOptions, Client, ClientOptions, Connection};
use bankrail::mailbox::Inbox as _;
use bankrail::statement::AccountId;
use bankrail::stores::sqlite::SqliteStore;
use bankrail::values::{Clock as _, HyphenatedUuid, SystemClock, Timestamp};
use clap::Args;
use folder::Folder;
use journal::{Journal, Printer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tracing::level_filters::LevelFilter;

/// The modules of the library whose deliveries and calls this command prints itself.
const PRINTED_MODULES: [&str; 6] = [
    "bankrail_client::receivers::service",
    "bankrail_client::receivers::refusal",
    "bankrail_client::token",
    "bankrail_client::statement",
    "bankrail_client::transport",
    "bankrail_client::poller",
];

#[derive(Args, Debug)]
#[command(after_help = "\
    connection.toml, with files beside it; the first four lines are needed:\n  \
      base_url = \"https://bank.example\"\n  \
      customer = \"CUSTOMERCODE\"\n  \
      api_key = \"…\"\n  \
      signing_key = \"signing.pem\"\n  \
      token_url = \"https://login.bank.example/v1.0/auth\"\n  \
      audience = \"https://login.bank.example\"\n  \
      api_key_header = \"apikey\"\n  \
      scopes = [\"…\"]\n  \
      signing_kid = \"2026-11\"\n  \
      roots = \"ca.pem\"                 # authorities of the bank's certificate\n  \
      accounts = [\"012003123456789\"]   # what is polled\n  \
      limit_per_account = true         # 25 calls an hour for each account, not for all\n  \
      [receivers]                      # what receives webhooks; all of it or none\n  \
      listen = \"0.0.0.0:9443\"\n  \
      certificate = \"receiver.pem\"\n  \
      certificate_key = \"receiver-key.pem\"\n  \
      api_key = \"…\"                    # what the bank sends\n  \
      decryption_key = \"decryption.pem\"\n  \
      provider_keys = \"bank-keys\"      # a folder of PEM files, named by kid, or a JWK set\n\n\
    With --json, each line is an object with the members event and at, and:\n  \
    started    run, data, listen, paths, accounts, poll_seconds, pending, dead_letters\n  \
    message    number, run, kind, message_id, request_key, entry, follows, about, effect, state,\n             \
    complete, findings, message\n  \
    conflict   number, run, kind, message_id, request_key, entry, with, about, message\n  \
    entry      number, run, account, id, booked, value_date, status, amount, currency, code,\n             \
    counterparty, references (name, value), narrative, relation (new, may_replace, replaced,\n             \
    returned, text_changed), earlier (ids of what it replaces or may replace), late, request_key\n  \
    notice     account, notice (vanished, all_vanished, reappeared, balance_gap, day_incomplete,\n             \
    currency_changed, kind_changed, unbookable, foreign_currency, other_account,\n             \
    dated_far_off, unreadable), detail, request_key\n  \
    duplicate  kind, message_id, entry, handled\n  \
    refusal    kind, stage, reason, status, message_id\n  \
    account    account, state (stopped, retrying, waiting), error, detail, status, code,\n             \
    request_key, until\n  \
    token      as account: there was no token for its statement\n  \
    omitted    count: refusals and duplicates that came faster than they could be printed\n\
    A member without a value is null. Members may be added; none changes its meaning. A message, conflict or\n\
    entry is identified by number and run together: run is the start of the biller that stored it. After a folder\n\
    is restored or copied, numbers, and those of the inbox (entry, follows, with), are assigned \
    again.\n\n\
    Exit status: 0 after Ctrl-C or SIGTERM, 1 if --probe found something to change, 2 if it cannot start.\n\n\
    Examples:\n  \
    bankrail biller --connection connection.toml --probe\n  \
    bankrail biller --connection connection.toml\n  \
    bankrail biller --connection connection.toml --json |\n    \
    jq --unbuffered 'select(.event == \"entry\")'\n  \
    bankrail biller --connection connection.toml --no-poll --listen 0.0.0.0:18443")]
pub(crate) struct Arguments {
    /// The file connection.toml, or its folder
    #[arg(long, value_name = "FILE")]
    connection: PathBuf,
    /// The data folder, made if it does not exist; by default biller beside the connection
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Print each line as a JSON object
    #[arg(long)]
    json: bool,
    /// The seconds between two polls of an account; by default 600, or more if the accounts
    /// together would exceed 25 calls an hour
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    poll: Option<u64>,
    /// The bank counts 25 calls an hour for each account, not for all accounts of the customer
    /// together
    #[arg(long)]
    limit_per_account: bool,
    /// An account to poll, in place of those of the connection; may be repeated
    #[arg(long = "account", value_name = "ID")]
    accounts: Vec<AccountId>,
    /// Poll no account
    #[arg(long, conflicts_with_all = ["accounts", "poll"])]
    no_poll: bool,
    /// Receive no webhooks
    #[arg(long, conflicts_with = "listen")]
    no_receive: bool,
    /// Keep each page and each refused delivery for this many days, unchanged and sealed, in the
    /// data folder; see bankrail archive
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=3650))]
    archive: Option<u64>,
    /// Try each step of a statement call, print what to change, and end; this uses one of ten
    /// tokens an hour and one statement call, for the first account
    #[arg(long, conflicts_with_all = ["no_poll", "json"])]
    probe: bool,
    /// The address to receive at, in place of the connection's
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The level of the log on standard error
    #[arg(long, value_parser = logging::levels(), default_value = "warn", value_name = "LEVEL")]
    log: LevelFilter,
}

impl Arguments {
    fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| {
            let file = Connection::file_of(&self.connection);
            file.parent().unwrap_or(Path::new("")).join("biller")
        })
    }

    /// Returns the connection with the members that the arguments replace.
    fn connection(&self) -> Result<Connection, Failure> {
        let mut connection = open(&self.connection)?;
        connection.limit_per_account |= self.limit_per_account;
        if self.no_poll {
            connection.accounts.clear();
        } else if !self.accounts.is_empty() {
            connection.accounts.clone_from(&self.accounts);
        }
        connection.receivers = connection.receivers.filter(|_| !self.no_receive);
        match (self.listen, &mut connection.receivers) {
            (Some(listen), Some(receivers)) => receivers.listen = listen,
            (Some(_), None) => {
                return Err(Failure::unable(
                    "--listen: expected a connection with receivers, found one without",
                    "add [receivers] to the connection, or leave --listen out",
                ));
            }
            (None, _) => {}
        }
        Ok(connection)
    }
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    let connection = arguments.connection()?;
    if connection.accounts.is_empty() && connection.receivers.is_none() {
        return Err(Failure::unable(
            "there is nothing to do: no account is polled and nothing is received",
            "pass --account ID, or a connection with accounts or receivers",
        ));
    }
    logging::start(arguments.log, &PRINTED_MODULES, output.log_colors());
    if arguments.probe {
        return block_on(probe(arguments, &connection, output));
    }
    block_on(serve(arguments, &connection, output))
}

/// Runs the probe with the biller's own token and its count of calls.
async fn probe(
    arguments: &Arguments,
    connection: &Connection,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let folder = Folder::open(arguments.data())?;
    let store = Arc::new(folder.store()?);
    let client = client(connection, &folder, &store, None)?;
    let found = client.probe(connection.accounts.first()).await;
    store.close().await;
    found
        .to_string()
        .lines()
        .try_for_each(|line| output.line(shown(line)))?;
    Ok(if found.passed() {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

fn client(
    connection: &Connection,
    folder: &Folder,
    store: &Arc<SqliteStore>,
    archive: Option<Archive>,
) -> Result<Client, Failure> {
    let mut options = ClientOptions::new()
        .counters(store.clone())
        .token_cache((store.clone(), folder.secret()?));
    if let Some(archive) = archive {
        options = options.archive(archive);
    }
    connection.client(options).map_err(failure)
}

async fn serve(
    arguments: &Arguments,
    connection: &Connection,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    // Comes first, so that a signal during the start ends the program in order.
    let shutdown = crate::unfinished::shutdown()?;
    let folder = Folder::open(arguments.data())?;
    let store = Arc::new(folder.store()?);
    let archive = arguments
        .archive
        .map(|days| {
            let age = Duration::from_secs(days * 86_400);
            folder.archive(&store, ArchiveOptions::new().max_age(age))
        })
        .transpose()?;
    let journal = Journal::open((*store).clone()).await?;
    let run = journal.run();
    let (teller, mut printer) = Printer::new(journal.clone(), arguments.json);

    let accounts = &connection.accounts;
    let receiving = match connection.receivers {
        Some(_) => Some(
            receive::start(
                connection,
                &store,
                archive.clone(),
                journal.clone(),
                teller.clone(),
            )
            .await?,
        ),
        None => None,
    };
    let client = if accounts.is_empty() {
        None
    } else {
        Some(client(connection, &folder, &store, archive)?)
    };
    // Each account then polls as if it were the only one.
    let sharing = if connection.limit_per_account {
        accounts.len().min(1)
    } else {
        accounts.len()
    };
    let every = poll::interval(arguments.poll, sharing);
    let polling = client
        .as_ref()
        .map(|client| poll::start(client, &store, accounts, every, journal, teller));

    let counts = store.inbox().counts().await.map_err(folder::failed)?;
    let started = Started {
        at: SystemClock.now(),
        run,
        data: folder.path().display().to_string(),
        listen: receiving
            .as_ref()
            .map(|receiving| format!("https://{}", receiving.address())),
        paths: if receiving.is_some() {
            receive::paths()
        } else {
            Vec::new()
        },
        accounts: accounts.len(),
        poll_seconds: polling.is_some().then_some(every),
        pending: counts.pending,
        dead_letters: counts.dead_letters,
    };
    printer.print(&Event::Started(started), output)?;

    // A separate task, so that a slow reader of the output delays nothing else.
    let mut all = tokio::spawn(async move {
        let receiving = async {
            if let Some(receiving) = receiving {
                receiving.run(shutdown.clone()).await;
            }
        };
        let polling = async {
            if let Some(polling) = polling {
                polling.run(shutdown.clone()).await;
            }
        };
        tokio::join!(receiving, polling);
        Outcome::Fine
    });
    let printed = printer.run(&mut all, output).await;
    // If the output has failed, the parts are still running.
    all.abort();
    if let Some(client) = client {
        // A token call runs in a separate task, and may still wait for a limit.
        client.close();
    }
    store.close().await;
    printed?.map_err(|error| {
        Failure::unable(
            format_args!("a part of the program ended: {error}"),
            "start it again",
        )
    })
}

/// An event that is printed as a line. `bankrail biller --help` and the README list the members.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Started(Started),
    Message(Box<Received>),
    Conflict(Box<Contradiction>),
    Entry(Box<NewEntry>),
    /// A fact about an account, not about a single entry.
    Notice(AccountNote),
    /// A message that was delivered again.
    Duplicate {
        at: Timestamp,
        kind: String,
        message_id: Option<HyphenatedUuid>,
        entry: u64,
        /// True if the first delivery is handled.
        handled: bool,
    },
    /// A delivery that was refused.
    Refusal {
        at: Timestamp,
        /// The kind of the receiver; `None` on a path without a receiver.
        kind: Option<String>,
        stage: String,
        reason: String,
        status: u16,
        message_id: Option<HyphenatedUuid>,
    },
    Account(Trouble),
    Token(Trouble),
    /// Events that were dropped before they were printed.
    Omitted {
        at: Timestamp,
        count: u64,
    },
}

/// The program is ready.
#[derive(Debug, Deserialize, Serialize)]
struct Started {
    at: Timestamp,
    /// The identity of this start, which together with an event's number identifies the event.
    run: HyphenatedUuid,
    data: String,
    /// The base address of the receivers.
    listen: Option<String>,
    paths: Vec<String>,
    accounts: usize,
    poll_seconds: Option<u64>,
    /// Messages that were received before and are not handled.
    pending: u64,
    dead_letters: u64,
}

/// A message that was handled.
#[derive(Debug, Deserialize, Serialize)]
struct Received {
    /// The time at which it was stored first.
    at: Timestamp,
    kind: String,
    message_id: HyphenatedUuid,
    request_key: Option<HyphenatedUuid>,
    /// The number in the inbox.
    entry: u64,
    /// The number of the message that announced this one.
    follows: Option<u64>,
    /// The mandate or payment, under its names.
    about: Vec<String>,
    /// The effect of the message on the history of its subject.
    effect: String,
    /// The state of the mandate or payment after the message.
    state: Option<String>,
    /// True if the rules reach that state from the known messages.
    complete: Option<bool>,
    findings: Vec<String>,
    /// The whole message.
    message: Value,
}

/// A message that contradicts an earlier one.
#[derive(Debug, Deserialize, Serialize)]
struct Contradiction {
    at: Timestamp,
    kind: String,
    message_id: HyphenatedUuid,
    request_key: Option<HyphenatedUuid>,
    entry: u64,
    /// The number of the earlier message.
    with: u64,
    about: Vec<String>,
    message: Value,
}

/// A new entry of an account.
#[derive(Debug, Deserialize, Serialize)]
struct NewEntry {
    /// The time at which it was fetched.
    at: Timestamp,
    account: String,
    /// The identifier of the entry within the account, which never changes.
    id: String,
    #[serde(flatten)]
    row: Row,
    /// `new`, `may_replace`, `replaced`, `returned` or `text_changed`, as in docs/metrics.md.
    #[serde(default)]
    relation: String,
    /// The identifiers of entries that the entry replaces, or may replace.
    #[serde(default)]
    earlier: Vec<String>,
    /// True if the day of the entry was complete already.
    #[serde(default)]
    late: bool,
    request_key: HyphenatedUuid,
}

/// A notice about an account.
#[derive(Debug, Deserialize, Serialize)]
struct AccountNote {
    at: Timestamp,
    account: String,
    /// The kind of notice, as in docs/metrics.md.
    notice: String,
    /// The identifier of the entry that has vanished or reappeared, the number of vanished entries,
    /// the difference of the balances, the day and the time at which it was seen last, or the old
    /// and the new value.
    detail: String,
    request_key: HyphenatedUuid,
}

/// A statement that could not be fetched.
#[derive(Debug, Deserialize, Serialize)]
struct Trouble {
    at: Timestamp,
    account: String,
    /// `stopped`, `retrying` or `waiting`.
    state: String,
    /// The kind of the error.
    error: Option<String>,
    /// The error, with advice.
    detail: Option<String>,
    status: Option<u16>,
    code: Option<String>,
    request_key: Option<HyphenatedUuid>,
    /// The time at which the account's statement is requested again.
    until: Option<Timestamp>,
}
