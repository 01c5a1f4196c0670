//! `bankrail statement fetch`.

use super::Fetch;
use super::merge::Merged;
use crate::block_on;
use crate::clock::instant;
use crate::connection::{call_failure, failure, given_secret, open};
use crate::failure::Failure;
use crate::output::{Destination, Output};
use crate::text::{counted, shown_json, shown_lines};
use bankrail::client::{
    CallError, CallErrorKind, Client, ClientOptions, Pacing, Pages, StatementPage,
};
use bankrail::client_assertion::token::AccessToken;
use bankrail::statement::{ReceivedNextPage, ReceivedStatement, StatementRequest};
use bankrail::values::{Clock as _, SystemClock};
use serde_json::json;
use std::io::Write as _;
use std::time::Duration;

/// The time for which a given token is used, unless the provider refuses it before. Then a new
/// token is requested.
const GIVEN_TOKEN_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// The maximum number of pages of a walk. This is more than the calls of an hour, because `--wait`
/// waits for further ones.
const MAX_PAGES: usize = 1000;

pub(super) fn run(arguments: &Fetch, output: &mut Output) -> Result<(), Failure> {
    let connection = open(&arguments.connection)?;
    let given = arguments.token.as_deref().map(given_token).transpose()?;
    block_on(async {
        let client = connection
            // The client fails at a limit, so that the caller decides about waiting.
            .client(ClientOptions::new().pacing(Pacing::Fail))
            .map_err(failure)?;
        if let Some(token) = given {
            client.tokens().adopt(
                token,
                SystemClock.now().saturating_add(GIVEN_TOKEN_LIFETIME),
            );
        }
        fetch(&client, arguments, output).await
    })
}

fn given_token(given: &str) -> Result<AccessToken, Failure> {
    let token = given_secret(given, "an access token")?;
    AccessToken::parse(&token).map_err(|error| {
        Failure::unable(
            format_args!("--token: {error}"),
            "pass what bankrail token printed",
        )
    })
}

async fn fetch(client: &Client, arguments: &Fetch, output: &mut Output) -> Result<(), Failure> {
    let mut request = StatementRequest::new(&arguments.account);
    request.include_narrative = arguments.narrative;
    let mut pages = client.statements().pages(request).max_pages(MAX_PAGES);
    let mut to = Destination::open(arguments.output.as_deref(), output)?;
    let (mut entries, mut findings, mut number) = (0, 0, 0);
    let (mut first, mut merged) = (None::<StatementPage>, None::<Merged>);
    while let Some(page) = next(&mut pages, arguments.wait).await? {
        number += 1;
        entries += page.entries().count();
        findings += page.received.findings.len() + page.document_findings.len();
        crate::show_progress(&format!(
            "{}, {}",
            counted(number, "page", "pages"),
            counted(entries, "entry", "entries")
        ));
        if arguments.json {
            writeln!(to, "{}", shown_json(&line(&page.received)))?;
        } else if number == 1 {
            // Keeps the page, because a statement of one page is written as it was received.
            first = Some(page);
        } else {
            let merged = merged.get_or_insert_with(|| Merged::new(true));
            for StatementPage {
                document, received, ..
            } in first.take().into_iter().chain([page])
            {
                merged.page(document, &received.next_page)?;
            }
        }
    }
    crate::clear_progress();
    if findings > 0 {
        let found = counted(findings, "finding", "findings");
        crate::log(format_args!("{found}; bankrail statement check lists them"));
    }
    if arguments.json {
        to.finish()?;
    } else if let Some(merged) = merged {
        return merged.write(to, false);
    } else if let Some(page) = first {
        let xml = page.xml();
        let xml = if to.is_terminal() {
            shown_lines(xml)
        } else {
            xml.into()
        };
        to.write_all(xml.as_bytes())?;
        to.write_all(if xml.ends_with('\n') { b"" } else { b"\n" })?;
        to.finish()?;
    }
    crate::log(format_args!(
        "{} on {}",
        counted(entries, "entry", "entries"),
        counted(number, "page", "pages")
    ));
    Ok(())
}

/// Returns the next page; `None` after the last. With `wait`, waits when a limit is reached.
async fn next(pages: &mut Pages, wait: bool) -> Result<Option<StatementPage>, Failure> {
    loop {
        let error = match pages.next().await {
            Ok(None) => return Ok(None),
            Ok(Some(page)) => match page.stored() {
                Ok(page) => return Ok(Some(page)),
                Err(error) => return Err(call_failure(&error)),
            },
            Err(error) => error,
        };
        let Some(until) = error.retry_at.filter(|_| wait && is_limit(&error)) else {
            return Err(match call_failure(&error) {
                Failure::Refused(line) if is_limit(&error) => {
                    Failure::Refused(format!("{line}, or pass --wait"))
                }
                failure => failure,
            });
        };
        crate::log(format_args!(
            "a limit is reached: waits until {}",
            instant(until)
        ));
        // Waits a moment longer, because clocks differ.
        let pause = until
            .saturating_since(SystemClock.now())
            .saturating_add(Duration::from_millis(100));
        tokio::time::sleep(pause).await;
    }
}

/// Returns true for errors that waiting resolves: the limit of statement calls, or of token calls.
fn is_limit(error: &CallError) -> bool {
    matches!(
        error.reason,
        CallErrorKind::HeldBack | CallErrorKind::TooManyCalls
    )
}

/// Returns the answer of a page as JSON with the names of the wire, which `statement show` can
/// read.
fn line(received: &ReceivedStatement) -> String {
    let (cursor, more) = match &received.next_page {
        ReceivedNextPage::None => (None, false),
        ReceivedNextPage::At { cursor } => (Some(cursor.as_str()), true),
        ReceivedNextPage::WithoutCursor => (None, true),
    };
    let mut answer = json!({
        "accountId": received.account_id,
        "extract": received.extract,
        "sortOrder": received.sort_order,
        "payload": received.payload,
        "requestKey": received.request_key.to_string(),
        "cursor": cursor,
        "moreTransactionsAvailable": more,
    });
    answer
        .as_object_mut()
        .into_iter()
        .for_each(|members| members.retain(|_, value| !value.is_null()));
    answer.to_string()
}
