//! The poller, and its reports other than entries.

use super::journal::{Journal, Teller};
use super::keep;
use super::{Event, Trouble};
use crate::connection::call_failure;
use crate::failure::causes;
use crate::text::counted;
use bankrail::client::{
    AccountState, AccountStatus, Call, CallError, Client, NewEntries, PageSource, PollError,
    PolledAccount, Poller, PollerOptions, WaitReason,
};
use bankrail::http::serve::Shutdown;
use bankrail::rate_limit::CallType;
use bankrail::statement::AccountId;
use bankrail::stores::sqlite::SqliteStore;
use bankrail::values::{Clock as _, SystemClock, Timestamp};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The usual number of seconds between two polls of an account.
const USUAL_INTERVAL: u64 = 600;
/// The time after its booking day for which the identity of an entry is kept.
const RETENTION: Duration = Duration::from_secs(90 * 86_400);
/// The pause between two checks of the accounts' states. A failed call is followed by a longer
/// pause.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);

/// A poller that is ready.
pub(super) struct Polling {
    poller: Poller,
    teller: Teller,
    told: HashMap<AccountId, Reported>,
}

/// The facts about an account that were reported last.
#[derive(Default)]
struct Reported {
    stopped: bool,
    failure: Option<Timestamp>,
    waits_until: Option<Timestamp>,
}

/// Returns the seconds between two polls of an account: the given ones, or enough to stay within
/// the calls of an hour.
pub(super) fn interval(given: Option<u64>, accounts: usize) -> u64 {
    let accounts = u64::try_from(accounts).unwrap_or(u64::MAX);
    let allowed = CallType::Statement
        .default_windows()
        .first()
        .map_or(u64::MAX, |hour| hour.limit().into());
    let needed = accounts.saturating_mul(3600).div_ceil(allowed);
    let every = given.unwrap_or(USUAL_INTERVAL.max(needed));
    let calls = accounts.saturating_mul(3600) / every.max(1);
    if calls > allowed {
        crate::log(format_args!(
            "{} every {every} s: {calls} calls an hour, and {allowed} are allowed by default; polls come later",
            counted(accounts, "account", "accounts")
        ));
    }
    every
}

pub(super) fn start(
    client: &Client,
    store: &Arc<SqliteStore>,
    accounts: &[AccountId],
    every: u64,
    journal: Journal,
    teller: Teller,
) -> Polling {
    let accounts = accounts.iter().cloned();
    let accounts = accounts.map(|id| PolledAccount::new(id).every(Duration::from_secs(every)));
    Polling {
        poller: poller(client.statements(), store, accounts, journal),
        teller,
        told: HashMap::new(),
    }
}

/// Returns a poller that queues the new entries for printing.
pub(super) fn poller(
    pages: &(impl PageSource + Clone + 'static),
    store: &Arc<SqliteStore>,
    accounts: impl IntoIterator<Item = PolledAccount>,
    journal: Journal,
) -> Poller {
    let handler = move |new: NewEntries| keep::entries(journal.clone(), &new);
    let options = PollerOptions::new()
        .retention(RETENTION)
        .unbooked(true)
        .log_handler_errors(true);
    Poller::transactional(pages, store.clone(), accounts, handler, options)
}

impl Polling {
    /// Polls until the program is to stop.
    pub(super) async fn run(mut self, shutdown: Shutdown) {
        let poller = self.poller.clone();
        let polling = poller.run(shutdown.wanted());
        let mut polling = std::pin::pin!(polling);
        loop {
            tokio::select! {
                () = &mut polling => return self.watch(),
                // The poller has no event for a change of state, so its status is compared.
                () = tokio::time::sleep(WATCH_INTERVAL) => self.watch(),
            }
        }
    }

    /// Reports changes of the accounts' states.
    fn watch(&mut self) {
        let statuses = self.poller.status();
        // An account for which there is no room is reported at a later check.
        for status in statuses.iter().take_while(|_| self.teller.has_room()) {
            let told = self.told.entry(status.account.clone()).or_default();
            for event in news(status, told) {
                self.teller.tell(event);
            }
        }
    }
}

/// Returns the events of an account that were not reported yet.
fn news(status: &AccountStatus, told: &mut Reported) -> Vec<Event> {
    let trouble = |at, state: &str, until, error: &str, detail| Trouble {
        at,
        account: status.account.to_string(),
        state: state.to_owned(),
        error: Some(error.to_owned()),
        detail: Some(detail),
        status: None,
        code: None,
        request_key: None,
        until,
    };
    let of_statement = |at, state, until, error: &CallError| {
        let detail = call_failure(error).into_parts().0.unwrap_or_default();
        Trouble {
            status: error.status,
            code: error.code.as_deref().map(str::to_owned),
            request_key: error.request_key,
            ..trouble(at, state, until, error.kind(), detail)
        }
    };
    let mut events = Vec::new();
    told.stopped &= status.stopped_since.is_some();
    if let Some(failure) = &status.last_failure
        // Many checks see the same failure, which is reported once.
        && told.failure.replace(failure.at) != Some(failure.at)
    {
        let trouble = of_statement(
            failure.at,
            "retrying",
            Some(failure.retry_at),
            &failure.error,
        );
        let of_token = failure.error.call == Call::Token;
        events.push(if of_token {
            Event::Token(trouble)
        } else {
            Event::Account(trouble)
        });
    }
    let now = SystemClock.now();
    match &status.state {
        AccountState::Stopped {
            error, retry_at, ..
        } if !std::mem::replace(&mut told.stopped, true) => {
            events.push(Event::Account(match &**error {
                PollError::Statement(error) => of_statement(now, "stopped", *retry_at, error),
                other => trouble(now, "stopped", *retry_at, other.kind(), causes(other)),
            }));
        }
        AccountState::Waiting {
            until,
            reason: WaitReason::RateLimit,
            ..
        } if told.waits_until.replace(*until) != Some(*until) => {
            let detail = "the limit allows no statement call before then".to_owned();
            events.push(Event::Account(trouble(
                now,
                "waiting",
                Some(*until),
                "held back",
                detail,
            )));
        }
        _ => {}
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_keeps_within_the_calls_of_an_hour_unless_another_is_given() {
        for (given, accounts, expected) in [
            (None, 0, 600),
            (None, 1, 600),
            (None, 4, 600),
            (None, 5, 720),
            (None, 10, 1440),
            (Some(7), 10, 7),
        ] {
            assert_eq!(interval(given, accounts), expected, "{given:?} {accounts}");
        }
    }
}
