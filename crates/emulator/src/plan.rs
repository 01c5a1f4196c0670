//! Which calls meet which fault: those that were ordered one by one, and a part of all others.

use crate::call::Endpoint;
use crate::fault::Fault;
use crate::ids::{STEP, mixed};
use bankrail_values::{Decimal, excerpt};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The parts of a whole rate.
const WHOLE: u64 = 1_000_000;

/// A fault that a part of the calls meets: `KIND:RATE` as text.
///
/// - KIND is one of [`Fault::names`], or one of them after `token-` or `statement-` for the calls of one endpoint.
///   Without it, the calls of both endpoints meet the fault, as far as they can.
/// - RATE is a number from 0 to 1, or from 0% to 100%.
/// - Which calls meet it is drawn from a seed ([`EmulatorOptions::seed`](crate::EmulatorOptions::seed)).
///
/// ```
/// use bankrail_emulator::FaultRate;
/// assert!("token-500:10%".parse::<FaultRate>().is_ok());
/// assert!("token-repeating-cursor:0.5".parse::<FaultRate>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRate {
    name: String,
    fault: Fault,
    /// `None`: both endpoints.
    endpoint: Option<Endpoint>,
    millionths: u64,
}

impl FaultRate {
    fn meets(&self, endpoint: Endpoint) -> bool {
        endpoint != Endpoint::Other && self.endpoint.is_none_or(|own| own == endpoint) && self.fault.concerns(endpoint)
    }
}

impl FromStr for FaultRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rate) = text.split_once(':').ok_or("expected KIND:RATE, such as token-500:0.1")?;
        let (endpoint, kind) = match name.split_once('-') {
            Some(("token", kind)) => (Some(Endpoint::Token), kind),
            Some(("statement", kind)) => (Some(Endpoint::Statement), kind),
            _ => (None, name),
        };
        let fault = Fault::named(kind).ok_or_else(|| {
            let names: Vec<_> = Fault::names().collect();
            let (names, found) = (names.join(", "), excerpt(name));
            format!("expected one of {names}, or one of them after token- or statement-, found {found}")
        })?;
        endpoint.map_or(Ok(()), |endpoint| fault.check(endpoint))?;
        Ok(Self { name: name.to_owned(), fault, endpoint, millionths: millionths(rate)? })
    }
}

/// `0.1` or `10%`.
fn millionths(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected a rate from 0 to 1 or from 0% to 100%, found {}", excerpt(text));
    let (number, whole) = match text.strip_suffix('%') {
        Some(number) => (number, WHOLE / 100),
        None => (text, WHOLE),
    };
    let number: Decimal = number.parse().map_err(|_| wrong())?;
    let parts = number.checked_mul(whole.into()).ok_or_else(wrong)?;
    u64::try_from(parts.trunc()).ok().filter(|parts| *parts <= WHOLE && !number.is_sign_negative()).ok_or_else(wrong)
}

/// The reason of a call that met it.
impl fmt::Display for FaultRate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the fault {} that --fault ordered", self.name)
    }
}

/// The faults that are ordered, and what is drawn for all other calls.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    by_endpoint: Mutex<BTreeMap<Endpoint, Ordered>>,
    seed: u64,
    /// Each with the number of calls that it could have met, in the order in which they are drawn.
    rates: Vec<(FaultRate, AtomicU64)>,
}

#[derive(Debug, Default)]
struct Ordered {
    /// How many calls there were.
    calls: u64,
    faults: BTreeMap<u64, Fault>,
}

impl Plan {
    pub(crate) fn new(rates: Vec<FaultRate>, seed: u64) -> Self {
        let rates = rates.into_iter().map(|rate| (rate, AtomicU64::new(0))).collect();
        Self { by_endpoint: Mutex::default(), seed, rates }
    }

    /// Whether a part of all calls meets a fault.
    pub(crate) fn has_rates(&self) -> bool {
        !self.rates.is_empty()
    }

    /// Orders a fault for the first call from now on that has none.
    #[track_caller]
    pub(crate) fn next(&self, endpoint: Endpoint, fault: Fault) {
        self.order(endpoint, fault, |ordered| {
            (ordered.calls + 1..).find(|call| !ordered.faults.contains_key(call)).unwrap_or(u64::MAX)
        });
    }

    /// Orders a fault for the `nth` call from now on.
    #[track_caller]
    pub(crate) fn nth(&self, endpoint: Endpoint, nth: u64, fault: Fault) {
        assert!(nth > 0, "expected the number of a call from 1 on, found 0");
        self.order(endpoint, fault, |ordered| ordered.calls.saturating_add(nth));
    }

    #[track_caller]
    fn order(&self, endpoint: Endpoint, fault: Fault, call: impl FnOnce(&Ordered) -> u64) {
        fault.check(endpoint).unwrap_or_else(|mistake| panic!("{mistake}"));
        let mut plan = self.by_endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let ordered = plan.entry(endpoint).or_default();
        let call = call(ordered);
        ordered.faults.insert(call, fault);
    }

    /// Counts a call and returns its fault, with the reason if it was drawn. An answer that is only late has none.
    pub(crate) fn take(&self, endpoint: Endpoint) -> Option<(Fault, Option<String>)> {
        let drawn = self.draw(endpoint);
        let mut plan = self.by_endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let ordered = plan.entry(endpoint).or_default();
        ordered.calls += 1;
        if let Some(fault) = ordered.faults.remove(&ordered.calls) {
            return Some((fault, None));
        }
        let reason = |rate: &FaultRate| (!matches!(rate.fault, Fault::Late(_))).then(|| rate.to_string());
        drawn.map(|rate| (rate.fault.clone(), reason(rate)))
    }

    /// The first of the rates whose draw meets the next call. Each is drawn for each call that it could meet.
    fn draw(&self, endpoint: Endpoint) -> Option<&FaultRate> {
        let mut drawn = None;
        for (at, (rate, calls)) in (1u64..).zip(&self.rates).filter(|(_, (rate, _))| rate.meets(endpoint)) {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            let number = mixed(self.seed ^ mixed(at) ^ call.wrapping_mul(STEP));
            if number % WHOLE < rate.millionths {
                drawn = drawn.or(Some(rate));
            }
        }
        drawn
    }

    /// The ordered faults that no call has met yet.
    pub(crate) fn left(&self) -> Vec<(Endpoint, Fault)> {
        let plan = self.by_endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let left = plan.iter().flat_map(|(endpoint, ordered)| ordered.faults.values().map(|fault| (*endpoint, fault)));
        left.map(|(endpoint, fault)| (endpoint, fault.clone())).collect()
    }

    /// Forgets all ordered faults.
    pub(crate) fn clear(&self) {
        for ordered in self.by_endpoint.lock().unwrap_or_else(PoisonError::into_inner).values_mut() {
            ordered.faults.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_meet_the_calls_that_they_are_ordered_for() {
        let plan = Plan::default();
        plan.nth(Endpoint::Statement, 2, Fault::Reset);
        plan.next(Endpoint::Statement, Fault::Gzip);
        plan.next(Endpoint::Statement, Fault::HalfBody);
        plan.next(Endpoint::Token, Fault::Status(500));
        let met = || plan.take(Endpoint::Statement).map(|(fault, _)| fault);
        assert_eq!([met(), met(), met(), met()], [Some(Fault::Gzip), Some(Fault::Reset), Some(Fault::HalfBody), None]);
        assert_eq!(plan.left(), [(Endpoint::Token, Fault::Status(500))]);
        plan.clear();
        assert_eq!(plan.take(Endpoint::Token), None);
    }

    #[test]
    #[should_panic(expected = "expected a fault of a token call, found: repeating cursor")]
    fn a_token_has_no_cursor() {
        Plan::default().next(Endpoint::Token, Fault::RepeatingCursor);
    }

    fn drawn(seed: u64, rate: &str) -> Vec<bool> {
        let plan = Plan::new(vec![format!("token-500:{rate}").parse().unwrap()], seed);
        (0..1000).map(|_| plan.take(Endpoint::Token).is_some()).collect()
    }

    #[test]
    fn a_seed_draws_the_same_calls_and_about_as_many_as_the_rate_says() {
        assert_eq!(drawn(1, "0.1"), drawn(1, "10%"));
        assert_ne!(drawn(1, "0.1"), drawn(2, "0.1"));
        let met = drawn(7, "0.25").iter().filter(|met| **met).count();
        assert!((200..300).contains(&met), "{met}");
        assert!(drawn(3, "1").iter().all(|met| *met) && !drawn(3, "0").contains(&true));
    }

    #[test]
    fn a_rate_meets_the_calls_that_it_is_for() {
        for (rate, expected) in [
            ("statement-html:1", [false, true, false]),
            ("reset:1", [true, true, false]),
            ("repeating-cursor:1", [false, true, false]),
        ] {
            let plan = Plan::new(vec![rate.parse().unwrap()], 0);
            let met = [Endpoint::Token, Endpoint::Statement, Endpoint::Other].map(|of| plan.take(of).is_some());
            assert_eq!(met, expected, "{rate}");
        }
        for wrong in [
            "token-500",
            "token-200:1",
            "token-500:2",
            "token-500:-1",
            "token-500:101%",
            "x:0.1",
            "slow:x",
            "token-wrong-narrative:1",
        ] {
            assert!(wrong.parse::<FaultRate>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_ordered_fault_comes_before_a_drawn_one() {
        let plan = Plan::new(vec!["token-500:1".parse().unwrap()], 0);
        plan.next(Endpoint::Token, Fault::Gzip);
        assert_eq!(plan.take(Endpoint::Token), Some((Fault::Gzip, None)));
        let (fault, reason) = plan.take(Endpoint::Token).unwrap();
        assert_eq!(fault, Fault::Status(500));
        assert_eq!(reason.unwrap(), "the fault token-500 that --fault ordered");
    }
}
