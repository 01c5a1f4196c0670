//! Requests at a rate that does not depend on the answers.

use crate::Failure;
use crate::connection::{Connection, Dialer, Target};
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// A request for which no connection is free for this long is not sent.
const WAITS: Duration = Duration::from_secs(1);
/// The longest exchange: longer than the service takes in any case.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads `800:60`.
pub(crate) fn phase(text: &str) -> Result<(u32, u32), String> {
    let expected = || format!("expected a rate and seconds such as 800:60, found {text:?}");
    let (rate, seconds) = text.split_once(':').ok_or_else(expected)?;
    let parse = |part: &str| part.parse().map_err(|_| expected());
    Ok((parse(rate)?, parse(seconds)?))
}

struct Shared {
    dialer: Dialer,
    begun: Instant,
    phases: Vec<(u32, u32)>,
    next: AtomicU64,
    request: Mutex<Arc<Vec<u8>>>,
    second: Mutex<Second>,
}

/// The requests that ended in one second.
#[derive(Default)]
struct Second {
    statuses: BTreeMap<u16, u64>,
    micros: Vec<u128>,
    unsent: u64,
    broken: BTreeMap<String, u64>,
}

impl Shared {
    /// Returns when the next request is due; `None` at the end.
    fn due(&self) -> Option<Instant> {
        let mut number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut begins = self.begun;
        for &(rate, seconds) in &self.phases {
            let ends = begins + Duration::from_secs(seconds.into());
            if rate == 0 {
                let now = Instant::now();
                if now < ends {
                    return Some(now);
                }
            } else {
                let all = u64::from(rate) * u64::from(seconds);
                if number < all {
                    let nanos = number * 1_000_000_000 / u64::from(rate);
                    return Some(begins + Duration::from_nanos(nanos));
                }
                number -= all;
            }
            begins = ends;
        }
        None
    }

    fn second(&self) -> MutexGuard<'_, Second> {
        self.second.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self) -> MutexGuard<'_, Arc<Vec<u8>>> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call(&self, number: usize) {
        let mut connection = None;
        while let Some(due) = self.due() {
            sleep_until(due).await;
            if due.elapsed() > WAITS {
                self.second().unsent += 1;
                continue;
            }
            let request = Arc::clone(&self.request());
            let ended = timeout(PATIENCE, self.once(&mut connection, number, &request)).await;
            let mut second = self.second();
            match ended.unwrap_or_else(|_| Err("no answer".into())) {
                Ok(status) => {
                    *second.statuses.entry(status).or_default() += 1;
                    second.micros.push(due.elapsed().as_micros());
                }
                Err(error) => {
                    connection = None;
                    *second.broken.entry(error.to_string()).or_default() += 1;
                }
            }
        }
    }

    async fn once(
        &self,
        kept: &mut Option<Connection>,
        number: usize,
        request: &[u8],
    ) -> Result<u16, Failure> {
        loop {
            let mut connection = match kept.take() {
                Some(connection) => connection,
                None => self.dialer.open(number).await?,
            };
            let was_used = connection.used;
            match connection.exchange(request).await {
                Ok((status, stays)) => {
                    *kept = stays.then_some(connection);
                    return Ok(status);
                }
                // The server closed it meanwhile.
                Err(_) if was_used => {}
                Err(error) => return Err(error),
            }
        }
    }
}

pub(crate) async fn drive(
    target: Target,
    file: PathBuf,
    connections: usize,
    phases: Vec<(u32, u32)>,
) -> Result<(), Failure> {
    let shared = Arc::new(Shared {
        dialer: Dialer::new(&target)?,
        begun: Instant::now(),
        phases,
        next: AtomicU64::new(0),
        request: Mutex::new(Arc::new(std::fs::read(&file)?)),
        second: Mutex::default(),
    });
    let callers = (0..connections).map(|number| {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move { shared.call(number).await })
    });
    let callers: Vec<_> = callers.collect();
    let ended = futures_util::future::join_all(callers);
    let mut ended = std::pin::pin!(ended);
    let mut ticks = tokio::time::interval_at(
        shared.begun + Duration::from_secs(1),
        Duration::from_secs(1),
    );
    for number in 1_u32.. {
        let last = tokio::select! {
            biased;
            _ = &mut ended => true,
            _ = ticks.tick() => false,
        };
        let second = std::mem::take(&mut *shared.second());
        print(number, second)?;
        if last {
            break;
        }
        *shared.request() = Arc::new(std::fs::read(&file)?);
    }
    Ok(())
}

fn print(number: u32, mut second: Second) -> Result<(), Failure> {
    second.micros.sort_unstable();
    let at = |percent: usize| {
        let place = second.micros.len() * percent / 100;
        second.micros.get(place).copied().unwrap_or_default()
    };
    let statuses: Map<_, _> = second
        .statuses
        .iter()
        .map(|(status, calls)| (status.to_string(), (*calls).into()))
        .collect();
    let line = json!({
        "second": number,
        "statuses": statuses,
        "unsent": second.unsent,
        "broken": second.broken,
        "p50_us": u64::try_from(at(50))?,
        "p99_us": u64::try_from(at(99))?,
    });
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}
