//! `bankrail provider send`.

use super::folder::Folders;
use super::outbox::{failed, known, words};
use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::message;
use crate::output::{Output, Style};
use crate::text::shown;
use bankrail::emulator::MandateStory;
use bankrail::mailbox::{EndpointId, OutboxState, OutboxStore};
use bankrail::values::random_bytes;
use bankrail::values::{Clock as _, StoreError, SystemClock};
use bankrail::webhook::{DeliveryHeaders, Message, MessageKind};
use clap::{Args, ValueEnum};
use std::io::Write as _;
use std::time::Duration;
use tokio::time::Instant;

/// How often it is looked what came back.
const PAUSE: Duration = Duration::from_millis(50);

/// How long ago a story began, so that its last message is of now.
const STORY: Duration = Duration::from_secs(10 * 24 * 3600);

/// The bytes of a message that are read.
const MOST: usize = bankrail::values::MAX_MESSAGE_BYTES;

/// A story in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Story {
    /// A mandate's life, from its creation to its end.
    Mandate,
}

#[derive(Args, Debug)]
pub(super) struct Send {
    /// The endpoint; bankrail provider customers list prints them
    endpoint: EndpointId,
    /// Messages in JSON; - for standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["kind", "story"])]
    files: Vec<String>,
    /// A message of this kind with fresh ids and times; may be repeated
    #[arg(long, value_parser = message::kinds())]
    kind: Vec<MessageKind>,
    /// The messages of a story, one after the other
    #[arg(long, value_enum)]
    story: Option<Story>,
    /// For how many seconds to wait for what comes back; 0: only store the messages
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    wait: u32,
}

/// A message with its headers, and what it is called.
struct Letter {
    name: String,
    message: Message,
    headers: DeliveryHeaders,
}

pub(super) async fn run(
    send: &Send,
    folders: &Folders,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    known(folders, &send.endpoint)?;
    let mut letters = Vec::new();
    for path in &send.files {
        letters.push(read(path)?);
    }
    for &kind in &send.kind {
        letters.push(letter(kind.to_string(), message::fresh(kind)?));
    }
    if send.story == Some(Story::Mandate) {
        let seed = random_bytes()
            .map(u64::from_be_bytes)
            .map_err(|error| super::demo::no_key(&error))?;
        let told = MandateStory::life(seed, SystemClock.now().saturating_sub(STORY));
        for (at, webhook) in (1..).zip(told) {
            let kind = webhook.message.kind();
            let headers = webhook.headers.unwrap_or_else(|| message::headers(kind));
            letters.push(Letter {
                name: format!("{at} {kind}"),
                message: webhook.message,
                headers,
            });
        }
    }
    let outbox = folders.store()?.outbox();
    let wait = Duration::from_secs(send.wait.into());
    let mut outcome = Outcome::Fine;
    for letter in letters {
        let sent = deliver(&letter, &send.endpoint, &outbox, wait, folders).await?;
        let (style, text) = match &sent {
            Ok(text) => (Style::Green, text),
            Err(text) => (Style::Red, text),
        };
        outcome = outcome.and(Outcome::of_findings(sent.is_err()));
        output.line(format_args!(
            "{}: {}",
            shown(&letter.name),
            output.paint(style, &shown(text))
        ))?;
        // Whoever reads along sees each message as it goes.
        output.flush()?;
    }
    Ok(outcome)
}

fn letter(name: String, message: Message) -> Letter {
    let headers = message::headers(message.kind());
    Letter {
        name,
        message,
        headers,
    }
}

fn read(path: &str) -> Result<Letter, Failure> {
    let json = input::read(path, MOST)?;
    let parsed = message::read_any(&json).map_err(|_| {
        Failure::refused(
            format_args!(
                "{}: expected one of the four messages, found something else",
                input::name(path)
            ),
            "bankrail message check says what is wrong",
        )
    })?;
    Ok(letter(input::name(path).to_owned(), parsed.message))
}

/// Stores a message, and waits for its first delivery. `Err`: it is not delivered.
async fn deliver(
    letter: &Letter,
    endpoint: &EndpointId,
    outbox: &impl OutboxStore,
    wait: Duration,
    folders: &Folders,
) -> Result<Result<String, String>, Failure> {
    let outgoing = match letter.message.outgoing(endpoint.clone(), &letter.headers) {
        Ok(outgoing) => outgoing,
        Err(error) => {
            let first = match &error {
                bankrail::webhook::OutgoingError::Findings { findings } => findings
                    .first()
                    .map(|finding| format!(", the first: {finding}")),
                _ => None,
            };
            return Ok(Err(format!(
                "not sent: {}{}",
                causes(&error),
                first.unwrap_or_default()
            )));
        }
    };
    let id = outbox
        .enqueue(&outgoing, SystemClock.now())
        .await
        .map_err(failed)?
        .id();
    if wait.is_zero() {
        return Ok(Ok(format!("stored as message {id}")));
    }
    let end = Instant::now() + wait;
    loop {
        if let Some(text) = outbox
            .deliveries(id)
            .await
            .map_err(failed)?
            .last()
            .map(words::delivery)
        {
            let state = outbox
                .summary(id)
                .await
                .map_err(failed)?
                .map(|summary| summary.state);
            return Ok(if state == Some(OutboxState::Delivered) {
                Ok(format!("message {id}: {text}"))
            } else {
                Err(format!("message {id}: {text}; it stays in the outbox"))
            });
        }
        if let Some(why) = held(endpoint, outbox, folders).await.map_err(failed)? {
            // What holds the endpoint may be the answer to this very message: it is leased until
            // that is recorded.
            let leased = outbox
                .summary(id)
                .await
                .map_err(failed)?
                .and_then(|summary| summary.leased_until);
            let under_way =
                leased.is_some_and(|until| SystemClock.now() < until) && folders.is_in_use();
            if !under_way && outbox.deliveries(id).await.map_err(failed)?.is_empty() {
                return Ok(Err(format!("message {id}: stored, and waits: {why}")));
            }
        }
        if Instant::now() >= end {
            return Ok(Err(format!(
                "message {id}: stored, and not delivered within {} s",
                wait.as_secs()
            )));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Why nothing is delivered to the endpoint now, if that is so.
async fn held(
    endpoint: &EndpointId,
    outbox: &impl OutboxStore,
    folders: &Folders,
) -> Result<Option<String>, StoreError> {
    if !folders.is_in_use() {
        return Ok(Some(
            "no provider runs on this data; bankrail provider delivers it".to_owned(),
        ));
    }
    let resume = format!("bankrail provider outbox resume {endpoint} goes on");
    if let Some(stopped) = outbox
        .stopped_endpoints()
        .await?
        .iter()
        .find(|stopped| stopped.endpoint == *endpoint)
    {
        let words = words::stopped(stopped);
        return Ok(Some(format!("{words}; {resume}")));
    }
    let circuits = outbox.circuits().await?;
    let circuit = circuits
        .iter()
        .find(|circuit| circuit.endpoint == *endpoint)
        .map(|found| found.circuit);
    let until = circuit
        .filter(|circuit| circuit.is_held(SystemClock.now()))
        .and_then(|circuit| circuit.held_until());
    Ok(until.map(|until| {
        let until = crate::clock::instant(until);
        format!("the endpoint failed before and is left alone until {until}; {resume}")
    }))
}
