//! The state of one run: random numbers, faults, the trace, the marks and the first violation.

use crate::random::Random;
use bankrail_values::{Date, Timestamp};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The beginning of 2 March 2026 in UTC, a day on which the bank is eleven hours ahead
/// (`Australia/Sydney`).
const DAY: i64 = 1_772_409_600_000;
const MINUTE: i64 = 60_000;
/// The bank's offset from UTC.
const BANK_AHEAD: i64 = 11 * 60 * MINUTE;

/// The kinds of faults. A run gives each kind its own rate, which may be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// The process ends before or after an operation of a store.
    Crash,
    /// The store refuses an operation, or carries it out and loses the answer.
    Store,
    /// The disk is full, for one operation or for a while.
    Full,
    /// A process is stopped for a while and goes on, as a machine that is moved.
    Pause,
    /// A process has no store for a while.
    Away,
    /// No process of one side reaches the other side for a while.
    Cut,
    /// The store takes long.
    SlowStore,
    /// No connection.
    Refused,
    /// The request is lost, or hangs.
    Lost,
    /// The answer is lost.
    LostAnswer,
    /// The answer is cut.
    Torn,
    /// The request arrives twice.
    Twice,
    /// Requests and answers take seconds, and overtake each other.
    Slow,
    /// A proxy answers.
    Proxy,
    /// A handler fails, panics or hangs.
    Handler,
    /// A clock is set.
    Clock,
    /// A key is replaced.
    Rotation,
    /// A process is stopped and started again in order.
    Restart,
    /// A token is revoked.
    Revoke,
}

impl Fault {
    const ALL: [Self; 19] = [
        Self::Crash,
        Self::Store,
        Self::Full,
        Self::Pause,
        Self::Away,
        Self::Cut,
        Self::SlowStore,
        Self::Refused,
        Self::Lost,
        Self::LostAnswer,
        Self::Torn,
        Self::Twice,
        Self::Slow,
        Self::Proxy,
        Self::Handler,
        Self::Clock,
        Self::Rotation,
        Self::Restart,
        Self::Revoke,
    ];
}

/// The events that change a run's stores besides faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// Old records are forgotten, and the run goes on until all of them are.
    Retention,
    /// The stores of a side are put back to an older copy.
    Restore,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) seed: u64,
    began: Instant,
    /// The time of the beginning.
    begin: i64,
    pub(crate) kind: Kind,
    random: Mutex<Random>,
    rates: BTreeMap<Fault, u64>,
    quiet: AtomicBool,
    /// The time, in milliseconds from the beginning, until which the sides are cut from each other.
    cut: AtomicU64,
    trace: Mutex<String>,
    /// True if the trace is wanted.
    full: bool,
    /// True to print each line at once.
    print: bool,
    marks: Mutex<BTreeMap<String, u64>>,
    violation: Mutex<Option<String>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    pub(crate) fn new(seed: u64, full: bool, print: bool) -> Self {
        let mut random = Random::new(seed, 1);
        // Each run has some kinds of faults, often or seldom: all at once would hide what few of
        // them show.
        let rates = Fault::ALL.into_iter().filter_map(|fault| {
            let rate = [0, 0, 20, 100, 400]
                .get(usize::try_from(random.below(5)).unwrap_or(0))
                .copied()
                .unwrap_or(0);
            (rate > 0).then_some((fault, rate))
        });
        let rates = rates.collect();
        // In the middle of an hour and of a day; shortly before a window of the limits ends; and
        // shortly before the bank's midnight.
        let begin = match random.below(4) {
            0 | 1 => 65 * MINUTE,
            2 => 118 * MINUTE,
            _ => 24 * 60 * MINUTE - BANK_AHEAD - 2 * MINUTE,
        };
        let kind = match random.below(4) {
            0 => Kind::Retention,
            1 => Kind::Restore,
            _ => Kind::Plain,
        };
        Self {
            seed,
            began: Instant::now(),
            begin: DAY + begin,
            kind,
            random: Mutex::new(random),
            rates,
            quiet: AtomicBool::new(false),
            cut: AtomicU64::new(0),
            trace: Mutex::default(),
            full,
            print,
            marks: Mutex::default(),
            violation: Mutex::default(),
        }
    }

    pub(crate) fn below(&self, end: u64) -> u64 {
        lock(&self.random).below(end)
    }

    /// A duration up to this many milliseconds.
    pub(crate) fn millis(&self, most: u64) -> Duration {
        Duration::from_millis(self.below(most + 1))
    }

    /// The rate of a fault in this run, of 10,000.
    pub(crate) fn rate(&self, fault: Fault) -> u64 {
        if self.is_quiet() {
            0
        } else {
            self.rates.get(&fault).copied().unwrap_or(0)
        }
    }

    /// Returns true if a fault happens now.
    pub(crate) fn happens(&self, fault: Fault) -> bool {
        self.happens_often(fault, 1)
    }

    /// Returns true if a fault happens now, which is this many times as frequent here.
    pub(crate) fn happens_often(&self, fault: Fault, times: u64) -> bool {
        let rate = self.rate(fault) * times;
        rate > 0 && self.below(10_000) < rate
    }

    /// Cuts the two sides from each other for a while.
    pub(crate) fn cut(&self, lasts: Duration) {
        let until = self.elapsed().saturating_add(lasts).as_millis();
        self.cut
            .store(u64::try_from(until).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.note(format_args!("the sides are cut for {lasts:?}"));
    }

    /// Returns true while the sides are cut from each other.
    pub(crate) fn is_cut(&self) -> bool {
        let until = Duration::from_millis(self.cut.load(Ordering::Relaxed));
        !self.is_quiet() && until > self.elapsed()
    }

    /// Ends all faults.
    pub(crate) fn calm(&self) {
        self.quiet.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet.load(Ordering::Relaxed)
    }

    /// The true time.
    pub(crate) fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        Timestamp::saturating_from_unix_millis(self.begin.saturating_add(passed))
    }

    /// The time of the beginning.
    pub(crate) fn begin(&self) -> Timestamp {
        Timestamp::saturating_from_unix_millis(self.begin)
    }

    /// The longest pause of a worker or dispatcher: longer in a run of hours.
    pub(crate) fn longest_idle(&self) -> Duration {
        let seconds = if self.kind == Kind::Retention {
            600
        } else {
            60
        };
        Duration::from_secs(seconds)
    }

    /// The bank's day of the beginning.
    pub(crate) fn first_day(&self) -> Date {
        let ahead = Duration::from_millis(BANK_AHEAD.unsigned_abs());
        self.begin().saturating_add(ahead).date()
    }

    /// The bank's day.
    pub(crate) fn day(&self) -> Date {
        self.day_in(Duration::ZERO)
    }

    /// The bank's day after this time.
    pub(crate) fn day_in(&self, time: Duration) -> Date {
        let ahead = Duration::from_millis(BANK_AHEAD.unsigned_abs());
        self.now().saturating_add(ahead + time).date()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Adds a line to the trace, if somebody wants that.
    pub(crate) fn note(&self, line: fmt::Arguments<'_>) {
        if !self.full {
            return;
        }
        let mut trace = lock(&self.trace);
        let at = trace.len();
        let passed = self.began.elapsed();
        // A text takes any line.
        let _ = writeln!(trace, "{:>10.3} {line}", passed.as_secs_f64());
        if self.print {
            print!("{}", trace.get(at..).unwrap_or_default());
        }
    }

    /// Counts a mark: that a place was reached.
    pub(crate) fn mark(&self, place: fmt::Arguments<'_>) {
        *lock(&self.marks).entry(place.to_string()).or_default() += 1;
    }

    /// Notes a violation of an invariant. The first one counts.
    pub(crate) fn violated(&self, what: fmt::Arguments<'_>) {
        self.note(format_args!("VIOLATION {what}"));
        lock(&self.violation).get_or_insert_with(|| what.to_string());
    }

    pub(crate) fn violation(&self) -> Option<String> {
        lock(&self.violation).clone()
    }

    pub(crate) fn rates(&self) -> String {
        format!("{:?}", self.rates)
    }

    /// The trace and the marks, at the end.
    pub(crate) fn take(&self) -> (String, BTreeMap<String, u64>) {
        (
            std::mem::take(&mut *lock(&self.trace)),
            std::mem::take(&mut *lock(&self.marks)),
        )
    }
}
