//! `bankrail provider outbox`.

pub(super) mod words;

use super::folder::Folders;
use crate::clock::instant;
use crate::failure::{Failure, Outcome, causes};
use crate::output::{Output, Style};
use crate::text::{counted, pad_right, shown, shown_lines};
use bankrail::mailbox::{
    DropOutcome, EndpointId, EntryId, Intervention, Outbox, OutboxOperator, OutboxQuery,
    OutboxState, OutboxStore, OutboxSummary,
};
use bankrail::values::{Clock as _, StoreError, SystemClock};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the messages, oldest first, and the endpoints that are stopped
    #[command(after_help = "Examples:\n  \
        bankrail provider outbox list\n  \
        bankrail provider outbox list democustomer --state dead_letter")]
    List(List),
    /// Show a message and each of its deliveries
    #[command(after_help = "Examples:\n  \
        bankrail provider outbox show 7\n  \
        bankrail provider outbox show 7 --body")]
    Show {
        /// The number of the message
        id: u64,
        /// Print the message too
        #[arg(long)]
        body: bool,
    },
    /// Deliver dead letters again, with their original message ids
    #[command(after_help = "Examples:\n  \
        bankrail provider outbox resend 7\n  \
        bankrail provider outbox resend --endpoint democustomer")]
    Resend(Resend),
    /// Drop a message that waits or is a dead letter: it is never delivered
    #[command(
        after_help = "Example:\n  bankrail provider outbox drop 7 --reason 'sent by mistake'"
    )]
    Drop {
        /// The number of the message
        id: u64,
        /// Why, for those who look later
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Stop deliveries to an endpoint; messages to it wait
    #[command(
        after_help = "Example:\n  bankrail provider outbox pause democustomer --reason maintenance"
    )]
    Pause {
        /// The endpoint
        endpoint: EndpointId,
        /// Why, for those who look later
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Resume deliveries to an endpoint: send all that waits for it now
    ///
    /// For when a receiver is back: its endpoint is no longer paused, stopped after its answer 410,
    /// or left alone after failures, and its messages do not wait for the schedule.
    #[command(after_help = "Example:\n  bankrail provider outbox resume democustomer")]
    Resume {
        /// The endpoint
        endpoint: EndpointId,
    },
}

/// The name of a state.
fn state() -> impl TypedValueParser<Value = OutboxState> {
    let names = PossibleValuesParser::new(OutboxState::ALL.iter().map(|state| state.as_str()));
    names.try_map(|name| OutboxState::from_name(&name).ok_or("expected the name of a state"))
}

#[derive(Args, Debug)]
pub(super) struct List {
    /// Messages to this endpoint alone
    endpoint: Option<EndpointId>,
    /// Messages in this state alone
    #[arg(long, value_parser = state())]
    state: Option<OutboxState>,
    /// At most so many, the first ones after --after
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Messages after this one
    #[arg(long, value_name = "ID")]
    after: Option<u64>,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct Resend {
    /// The number of the message
    id: Option<u64>,
    /// All dead letters of this endpoint
    #[arg(long)]
    endpoint: Option<EndpointId>,
}

pub(super) async fn run(
    command: &Command,
    folders: &Folders,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let outbox = folders.store()?.outbox();
    match command {
        Command::List(arguments) => list(arguments, &outbox, output).await?,
        Command::Show { id, body } => show(*id, *body, &outbox, output).await?,
        Command::Resend(arguments) => resend(arguments, &outbox, output).await?,
        Command::Drop { id, reason } => drop_entry(*id, reason, &outbox, output).await?,
        Command::Pause { endpoint, reason } => {
            known(folders, endpoint)?;
            outbox
                .stop_endpoint(endpoint, &intervention(reason)?, SystemClock.now())
                .await
                .map_err(failed)?;
            output.line(format_args!("{}: paused", shown(endpoint.as_ref())))?;
        }
        Command::Resume { endpoint } => {
            let was_stopped = outbox
                .resume_endpoint(endpoint, SystemClock.now())
                .await
                .map_err(failed)?;
            let what = if was_stopped {
                "resumed"
            } else {
                "was not stopped, and is not left alone any more"
            };
            let open = outbox.counts(Some(endpoint)).await.map_err(failed)?.pending;
            let open = counted(open, "message is", "messages are");
            output.line(format_args!(
                "{}: {what}; {open} due now or under way",
                shown(endpoint.as_ref())
            ))?;
        }
    }
    Ok(Outcome::Fine)
}

/// Fails unless a customer has the endpoint.
pub(super) fn known(folders: &Folders, endpoint: &EndpointId) -> Result<(), Failure> {
    let book = folders.customers()?.book();
    let ids: Vec<&EndpointId> = book
        .records()
        .flat_map(|record| &record.endpoints)
        .map(|known| known.id())
        .collect();
    if ids.contains(&endpoint) {
        return Ok(());
    }
    let ids: Vec<&str> = ids.into_iter().map(AsRef::as_ref).collect();
    let ids = if ids.is_empty() {
        "none".to_owned()
    } else {
        ids.join(", ")
    };
    Err(Failure::unable(
        format_args!(
            "expected an endpoint of a customer, found {}",
            bankrail::values::excerpt(endpoint.as_ref())
        ),
        format_args!("there are: {ids}"),
    ))
}

/// Who asks for something on this machine, and why.
pub(super) fn intervention(reason: &str) -> Result<Intervention, Failure> {
    let wrong =
        |error: &dyn std::error::Error| Failure::unable(causes(error), "pass a shorter --reason");
    let name = ["USER", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    let by = name.and_then(|name| name.parse().ok());
    let by = by.map_or_else(|| "operator".parse().map_err(|error| wrong(&error)), Ok)?;
    Ok(Intervention {
        by,
        reason: reason.parse().map_err(|error| wrong(&error))?,
    })
}

pub(super) fn failed(error: StoreError) -> Failure {
    Failure::unable(format_args!("the outbox: {}", causes(&error)), "try again")
}

fn no_such(id: u64) -> Failure {
    Failure::refused(
        format_args!("expected the number of a message, found {id}"),
        "bankrail provider outbox list prints the numbers",
    )
}

/// Why nothing was done with a message that is not in the expected state.
async fn in_another_state(
    id: u64,
    expected: &str,
    outbox: &impl OutboxStore,
) -> Result<Failure, Failure> {
    let Some(summary) = outbox.summary(EntryId::new(id)).await.map_err(failed)? else {
        return Ok(no_such(id));
    };
    let found = summary.state.as_str();
    Ok(Failure::refused(
        format_args!("message {id}: expected {expected}, found one that is {found}"),
        "nothing was changed",
    ))
}

async fn list(
    arguments: &List,
    outbox: &impl OutboxStore,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut query = OutboxQuery::new().limit(arguments.limit);
    query.endpoint.clone_from(&arguments.endpoint);
    query.state = arguments.state;
    query.after = arguments.after.map(EntryId::new);
    let found = outbox.list(&query).await.map_err(failed)?;
    for summary in &found {
        output.line(row(summary))?;
    }
    if found.is_empty() {
        output.line("no messages")?;
    }
    for stopped in outbox.stopped_endpoints().await.map_err(failed)? {
        if arguments
            .endpoint
            .as_ref()
            .is_none_or(|endpoint| *endpoint == stopped.endpoint)
        {
            output.line(words::stopped(&stopped))?;
        }
    }
    Ok(())
}

/// `7  query  dead_letter  democustomer  10 deliveries  …`
fn row(summary: &OutboxSummary) -> String {
    let mut line = String::new();
    pad_right(&summary.id.to_string(), 6, &mut line);
    pad_right(&shown(summary.kind.as_str()), 22, &mut line);
    pad_right(summary.state.as_str(), 13, &mut line);
    pad_right(&shown(summary.endpoint.as_ref()), 16, &mut line);
    line.push_str("  ");
    line.push_str(&words::when(summary));
    line
}

async fn show(
    number: u64,
    body: bool,
    outbox: &impl OutboxStore,
    output: &mut Output,
) -> Result<(), Failure> {
    let id = EntryId::new(number);
    let Some(summary) = outbox.summary(id).await.map_err(failed)? else {
        return Err(no_such(number));
    };
    output.line(output.paint(
        Style::Bold,
        &format!("message {id}, {}", shown(summary.kind.as_str())),
    ))?;
    output.line(format_args!(
        "  endpoint      {}",
        shown(summary.endpoint.as_ref())
    ))?;
    output.line(format_args!("  X-Message-Id  {}", summary.message_id))?;
    output.line(format_args!(
        "  enqueued      {}",
        instant(summary.enqueued_at)
    ))?;
    output.line(format_args!(
        "  state         {}, {}",
        summary.state.as_str(),
        words::when(&summary)
    ))?;
    if let Some(dropped) = &summary.dropped {
        output.line(format_args!(
            "  dropped by    {}",
            words::intervention(dropped)
        ))?;
    }
    for delivery in outbox.deliveries(id).await.map_err(failed)? {
        output.line(format_args!(
            "  {}  {}",
            instant(delivery.started_at),
            words::delivery(&delivery)
        ))?;
    }
    if body && let Some(entry) = outbox.find(id).await.map_err(failed)? {
        output.line("")?;
        output.line(shown_lines(&String::from_utf8_lossy(&entry.message.body)))?;
    }
    Ok(())
}

async fn resend(
    arguments: &Resend,
    outbox: &impl OutboxStore,
    output: &mut Output,
) -> Result<(), Failure> {
    let now = SystemClock.now();
    if let Some(endpoint) = &arguments.endpoint {
        let count = outbox.resend_all(endpoint, now).await.map_err(failed)?;
        return output.line(format_args!(
            "{} to resend",
            counted(count, "dead letter", "dead letters")
        ));
    }
    let id = arguments.id.unwrap_or_default();
    if outbox.resend(EntryId::new(id), now).await.map_err(failed)? {
        return output.line(format_args!("message {id}: to be delivered again"));
    }
    Err(in_another_state(id, "a dead letter", outbox).await?)
}

async fn drop_entry(
    id: u64,
    reason: &str,
    outbox: &impl OutboxStore,
    output: &mut Output,
) -> Result<(), Failure> {
    let by = intervention(reason)?;
    match outbox
        .drop_entry(EntryId::new(id), &by, SystemClock.now())
        .await
        .map_err(failed)?
    {
        DropOutcome::Dropped => output.line(format_args!("message {id}: dropped")),
        DropOutcome::Leased { until } => Err(Failure::refused(
            format_args!("message {id}: it may be under way until {}", instant(until)),
            "nothing was changed, repeat the command later",
        )),
        DropOutcome::NotOpen => Err(in_another_state(id, "one to deliver", outbox).await?),
    }
}
