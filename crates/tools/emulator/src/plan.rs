//! The plan of faults: those ordered for single calls, and a share of all other calls.

use crate::call::Endpoint;
use crate::fault::Fault;
use crate::ids::{STEP, mixed};
use bankrail_values::{Decimal, excerpt};
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The parts of a whole rate.
const MILLIONTHS: u64 = 1_000_000;

/// An order for a fault: what goes wrong, and which calls meet it. As text it is `KIND:RATE`.
///
/// - KIND is one of [`Fault::names`], optionally with the prefix `token-` or `statement-` for the
///   calls of one endpoint, or `webhook-` for deliveries. Without a prefix, all calls that can meet
///   the fault do.
/// - RATE is a number from 0 to 1, or from 0% to 100%.
/// - The calls that meet the fault are drawn from a seed
///   ([`EmulatorOptions::seed`](crate::EmulatorOptions::seed)).
///
/// ```
/// use bankrail_emulator::FaultOrder;
/// assert!("token-500:10%".parse::<FaultOrder>().is_ok());
/// assert!("token-repeating-cursor:0.5".parse::<FaultOrder>().is_err());
/// // The third and the fourth statement of one customer.
/// let order = FaultOrder::new("statement-reset")?.customer("ACME").skip(2).count(2);
/// # drop(order);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultOrder {
    name: String,
    fault: Fault,
    /// The endpoint; `None` for all endpoints of the bank that can meet the fault.
    endpoint: Option<Endpoint>,
    customer: Option<String>,
    millionths: u64,
    skip: u64,
    count: Option<u64>,
    /// The source of the order, which the reasons of refused calls name.
    by: Option<&'static str>,
}

impl FaultOrder {
    /// Makes an order for a fault that all calls meet, from the fault's name in the text form.
    ///
    /// # Errors
    /// The expected and the found name, if there is no such fault of such calls.
    pub fn new(name: &str) -> Result<Self, String> {
        let (endpoint, kind) = match name.split_once('-') {
            Some(("token", kind)) => (Some(Endpoint::Token), kind),
            Some(("statement", kind)) => (Some(Endpoint::Statement), kind),
            Some(("webhook", kind)) => (Some(Endpoint::Webhook), kind),
            _ => (None, name),
        };
        let fault: Fault = kind.parse().map_err(|_| {
            let names: Vec<_> = Fault::names().collect();
            let (names, found) = (names.join(", "), excerpt(name));
            format!("expected one of {names}, or one of them after token-, statement- or webhook-, found {found}")
        })?;
        endpoint.map_or(Ok(()), |endpoint| fault.check(endpoint))?;
        Ok(Self {
            name: name.to_owned(),
            endpoint,
            by: Some("--fault"),
            ..Self::of(fault)
        })
    }

    /// Returns an order for a fault that all calls meet.
    fn of(fault: Fault) -> Self {
        let name = fault.to_string();
        Self {
            name,
            fault,
            endpoint: None,
            customer: None,
            millionths: MILLIONTHS,
            skip: 0,
            count: None,
            by: None,
        }
    }

    /// Sets the customer whose calls meet the fault. Default: all customers.
    #[must_use]
    pub fn customer(mut self, code: impl Into<String>) -> Self {
        self.customer = Some(code.into());
        self
    }

    /// Sets the share of calls that meet the fault, such as `0.1` or `10%`. Default: all.
    ///
    /// # Errors
    /// The expected form of a share.
    pub fn share(mut self, share: &str) -> Result<Self, String> {
        self.millionths = millionths(share)?;
        Ok(self)
    }

    /// Sets the number of calls that are skipped first. Default: none.
    #[must_use]
    pub fn skip(mut self, calls: u64) -> Self {
        self.skip = calls;
        self
    }

    /// Sets the number of calls that meet the fault before it ends. Default: it does not end.
    #[must_use]
    pub fn count(mut self, calls: u64) -> Self {
        self.count = Some(calls);
        self
    }

    /// Sets the source of the order, for the reason of refused calls. Default: `--fault`.
    #[must_use]
    pub(crate) fn by(mut self, what: &'static str) -> Self {
        self.by = Some(what);
        self
    }

    fn meets(&self, endpoint: Endpoint, customer: Option<&str>) -> bool {
        self.endpoint
            .map_or(endpoint != Endpoint::Other, |own| own == endpoint)
            && self.fault.concerns(endpoint)
            && self
                .customer
                .as_deref()
                .is_none_or(|own| customer == Some(own))
    }

    /// Returns the reason of a refused call. An answer that is only late is not refused.
    fn reason(&self) -> Option<String> {
        let by = self.by.filter(|_| !matches!(self.fault, Fault::Late(_)))?;
        Some(format!("the fault {} that {by} ordered", self.name))
    }
}

impl FromStr for FaultOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, share) = text
            .split_once(':')
            .ok_or("expected KIND:RATE, such as token-500:0.1")?;
        Self::new(name)?.share(share)
    }
}

/// Prints the order in one line: `token-500, of ACME, 10%, skip 2, count 3`.
impl fmt::Display for FaultOrder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        self.customer
            .as_ref()
            .map_or(Ok(()), |customer| write!(out, ", of {customer}"))?;
        if self.millionths < MILLIONTHS {
            write!(
                out,
                ", {}%",
                (Decimal::from(self.millionths) / Decimal::from(MILLIONTHS / 100)).normalize()
            )?;
        }
        if self.skip > 0 {
            write!(out, ", skip {}", self.skip)?;
        }
        self.count
            .map_or(Ok(()), |count| write!(out, ", count {count}"))
    }
}

/// Parses a share such as `0.1` or `10%` as millionths.
fn millionths(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "expected a rate from 0 to 1 or from 0% to 100%, found {}",
            excerpt(text)
        )
    };
    let (number, whole) = match text.strip_suffix('%') {
        Some(number) => (number, MILLIONTHS / 100),
        None => (text, MILLIONTHS),
    };
    let number: Decimal = number.parse().map_err(|_| wrong())?;
    let parts = number.checked_mul(whole.into()).ok_or_else(wrong)?;
    u64::try_from(parts.trunc())
        .ok()
        .filter(|parts| *parts <= MILLIONTHS && !number.is_sign_negative())
        .ok_or_else(wrong)
}

/// The orders that are in force.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    seed: u64,
    orders: Mutex<Orders>,
}

#[derive(Debug, Default)]
struct Orders {
    /// The number of the last order.
    last: u64,
    /// The orders in force, those with a count before those without an end: a call meets the first
    /// that fits.
    in_force: Vec<InForce>,
}

#[derive(Debug)]
struct InForce {
    number: u64,
    order: FaultOrder,
    /// The number of calls that could have met the fault.
    calls: u64,
}

impl Orders {
    fn add(&mut self, order: FaultOrder) -> u64 {
        self.last += 1;
        let ends = |order: &FaultOrder| order.count.is_some();
        let first_endless = self.in_force.iter().position(|known| !ends(&known.order));
        let at = first_endless
            .filter(|_| ends(&order))
            .unwrap_or(self.in_force.len());
        self.in_force.insert(
            at,
            InForce {
                number: self.last,
                order,
                calls: 0,
            },
        );
        self.last
    }
}

impl Plan {
    pub(crate) fn new(orders: Vec<FaultOrder>, seed: u64) -> Self {
        let plan = Self {
            seed,
            orders: Mutex::default(),
        };
        for order in orders {
            plan.lock().add(order);
        }
        plan
    }

    fn lock(&self) -> MutexGuard<'_, Orders> {
        // Ignores a poisoned lock, because orders are checked before the lock is taken.
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an order, and returns its number.
    pub(crate) fn add(&self, order: FaultOrder) -> u64 {
        self.lock().add(order)
    }

    /// Orders a fault for the `nth` call from now on.
    #[track_caller]
    pub(crate) fn nth(&self, endpoint: Endpoint, nth: u64, fault: Fault) {
        assert!(nth > 0, "expected the number of a call from 1 on, found 0");
        fault
            .check(endpoint)
            .unwrap_or_else(|mistake| panic!("{mistake}"));
        self.add(FaultOrder {
            endpoint: Some(endpoint),
            ..FaultOrder::of(fault).skip(nth - 1).count(1)
        });
    }

    /// Counts a call of a customer, and returns its fault, with the reason for which the call is
    /// refused.
    pub(crate) fn take(
        &self,
        endpoint: Endpoint,
        customer: Option<&str>,
    ) -> Option<(Fault, Option<String>)> {
        let mut met = None;
        let mut orders = self.lock();
        // Visits all orders: an order also counts a call that met another fault, so that its draws
        // depend only on its own number.
        for known in &mut orders.in_force {
            if !known.order.meets(endpoint, customer) {
                continue;
            }
            // Each fault is drawn separately for each call that could meet it, so that faults are
            // independent.
            let number = mixed(self.seed ^ mixed(known.number) ^ known.calls.wrapping_mul(STEP));
            let is_spared = known.calls < known.order.skip;
            known.calls += 1;
            if !is_spared && number % MILLIONTHS < known.order.millionths && met.is_none() {
                met = Some((known.order.fault.clone(), known.order.reason()));
                known.order.count = known.order.count.map(|left| left.saturating_sub(1));
            }
        }
        orders.in_force.retain(|known| known.order.count != Some(0));
        met
    }

    /// Returns the orders in force with their numbers; each counts the calls that have not met it
    /// yet.
    pub(crate) fn orders(&self) -> Vec<(u64, FaultOrder)> {
        self.lock()
            .in_force
            .iter()
            .map(|known| (known.number, known.order.clone()))
            .collect()
    }

    /// Returns the faults of single calls that no call has met yet.
    pub(crate) fn left(&self) -> Vec<(Endpoint, Fault)> {
        let orders = self.lock();
        let single = |known: &InForce| Some((known.order.endpoint?, known.order.fault.clone()));
        orders
            .in_force
            .iter()
            .filter(|known| known.order.count.is_some())
            .filter_map(single)
            .collect()
    }

    /// Forgets all orders for single calls.
    pub(crate) fn clear(&self) {
        self.lock()
            .in_force
            .retain(|known| known.order.count.is_none());
    }

    /// Ends the order of this number, or all. Returns the number of ended orders.
    pub(crate) fn end(&self, number: Option<u64>) -> usize {
        let mut orders = self.lock();
        let before = orders.in_force.len();
        orders
            .in_force
            .retain(|known| number.is_some_and(|number| known.number != number));
        before - orders.in_force.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_meet_the_calls_that_they_are_ordered_for() {
        let plan = Plan::default();
        plan.nth(Endpoint::Statement, 2, Fault::Reset);
        plan.nth(Endpoint::Statement, 1, Fault::Gzip);
        plan.nth(Endpoint::Statement, 1, Fault::HalfBody);
        plan.nth(Endpoint::Token, 1, Fault::Status(500));
        let met = || plan.take(Endpoint::Statement, None).map(|(fault, _)| fault);
        assert_eq!(
            [met(), met(), met(), met()],
            [
                Some(Fault::Gzip),
                Some(Fault::Reset),
                Some(Fault::HalfBody),
                None
            ]
        );
        assert_eq!(plan.left(), [(Endpoint::Token, Fault::Status(500))]);
        plan.clear();
        assert_eq!(plan.take(Endpoint::Token, None), None);
    }

    #[test]
    #[should_panic(expected = "expected a fault of a token call, found: repeating-cursor")]
    fn a_token_has_no_cursor() {
        Plan::default().nth(Endpoint::Token, 1, Fault::RepeatingCursor);
    }

    fn drawn(seed: u64, rate: &str) -> Vec<bool> {
        let plan = Plan::new(vec![format!("token-500:{rate}").parse().unwrap()], seed);
        (0..1000)
            .map(|_| plan.take(Endpoint::Token, None).is_some())
            .collect()
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
            let met = [Endpoint::Token, Endpoint::Statement, Endpoint::Other]
                .map(|of| plan.take(of, None).is_some());
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
            assert!(wrong.parse::<FaultOrder>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_ordered_fault_comes_before_a_drawn_one() {
        let plan = Plan::new(vec!["token-500:1".parse().unwrap()], 0);
        plan.nth(Endpoint::Token, 1, Fault::Gzip);
        assert_eq!(plan.take(Endpoint::Token, None), Some((Fault::Gzip, None)));
        let (fault, reason) = plan.take(Endpoint::Token, None).unwrap();
        assert_eq!(fault, Fault::Status(500));
        assert_eq!(reason.unwrap(), "the fault token-500 that --fault ordered");
    }

    #[test]
    fn an_order_is_for_a_customer_and_for_a_count_of_calls_after_others() {
        let order = FaultOrder::new("statement-reset")
            .unwrap()
            .customer("ACME")
            .skip(1)
            .count(2);
        assert_eq!(
            order.to_string(),
            "statement-reset, of ACME, skip 1, count 2"
        );
        let plan = Plan::default();
        let number = plan.add(order);
        let met = |customer| plan.take(Endpoint::Statement, customer).is_some();
        assert!(!met(None) && !met(Some("OTHER")));
        assert_eq!(
            [(); 4].map(|()| met(Some("ACME"))),
            [false, true, true, false]
        );
        assert!(plan.orders().is_empty() && plan.end(Some(number)) == 0);
        let share = FaultOrder::new("gzip").unwrap().share("2.5%").unwrap();
        assert_eq!(share.to_string(), "gzip, 2.5%");
        let numbers = [plan.add(share.clone()), plan.add(share)];
        assert_eq!(
            (
                plan.end(Some(numbers[0])),
                plan.orders().len(),
                plan.end(None)
            ),
            (1, 1, 1)
        );
    }
}
