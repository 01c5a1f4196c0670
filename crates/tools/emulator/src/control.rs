//! The control of a bank while it runs.

mod arguments;
mod data;
mod error;
mod http;
mod messages;
mod operation;

pub use arguments::Arguments;
pub use data::{BankData, DataFuture};
pub use error::ControlError;
pub use operation::{Member, MemberKind, Operation};

use crate::call::{Call, Endpoint};
use crate::clock::BankClock;
use crate::emulator::Emulator;
use crate::journal::{CallFilter, shown};
use crate::plan::FaultOrder;
use bankrail_bank::LimitOverride;
use bankrail_client_assertion::CustomerCode;
use bankrail_rate_limit::{CallType, Limiter, Limits, Window};
use bankrail_values::Clock as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The number of calls of a journal that are shown by default.
const MAX_SHOWN: usize = 100;

/// Controls an [`Emulator`] while it runs: its clock, its limits, its faults, and the journal of
/// its calls.
///
/// [`Control::carry_out`] carries out one [`Operation`]. [`Control::router`] serves the operations
/// to programs in any language. The value is cheap to clone, and clones control the same bank.
///
/// ```
/// use bankrail_emulator::{Arguments, Control, Operation};
/// # async fn example(control: Control) -> Result<(), Box<dyn std::error::Error>> {
/// let fault = Arguments::from_texts(Operation::AddFault, [("fault", "statement-500"), ("count", "2")])?;
/// control.carry_out(&fault).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Control(Arc<ControlledBank>);

#[derive(Debug)]
struct ControlledBank {
    emulator: Arc<Emulator>,
    clock: Arc<BankClock>,
    limiter: Arc<Limiter>,
    /// The limits at the start, which a reset restores.
    limits: Limits,
    data: Option<Arc<dyn BankData>>,
}

bankrail_values::options! {
    /// Options of a [`Control`].
    #[derive(Clone, Debug)]
    pub struct ControlOptions {
        /// Sets the bank's data. Without data, operations on bookings, customers, keys and
        /// snapshots fail. Default: none.
        data(Arc<dyn BankData> => Some): Option<Arc<dyn BankData>> = None,
    }
}

impl Control {
    /// Returns the control of a bank with its clock and limiter.
    #[must_use]
    pub fn new(
        emulator: Arc<Emulator>,
        clock: Arc<BankClock>,
        limiter: Arc<Limiter>,
        options: ControlOptions,
    ) -> Self {
        let mut limits = Limits::new();
        limiter.change_limits(|at_start| limits.clone_from(at_start));
        Self(Arc::new(ControlledBank {
            emulator,
            clock,
            limiter,
            limits,
            data: options.data,
        }))
    }

    /// Carries out an operation, and returns its answer, a JSON object.
    ///
    /// # Errors
    /// [`ControlError`]. Nothing was changed, unless the bank itself failed
    /// ([`ControlError::Failed`]).
    pub async fn carry_out(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        match arguments.operation() {
            Operation::Clock => Ok(self.clock_shown()),
            Operation::SetClock => {
                self.set_clock(arguments)?;
                self.clock_changed().await
            }
            Operation::StepClock => {
                self.0.clock.step(Duration::from_secs(
                    arguments.number("seconds").unwrap_or_default(),
                ));
                self.clock_changed().await
            }
            Operation::Limits => Ok(self.limits(arguments.text("customer"))),
            Operation::SetLimit => self.set_limit(arguments),
            Operation::Faults => {
                let shown = |(number, order): &(u64, FaultOrder)| json!({ "number": number, "fault": order.to_string() });
                Ok(
                    json!({ "faults": self.0.emulator.front.plan.orders().iter().map(shown).collect::<Vec<_>>() }),
                )
            }
            Operation::AddFault => {
                let order = add_fault(arguments)?;
                Ok(json!({ "number": self.0.emulator.front.plan.add(order) }))
            }
            Operation::RemoveFault => {
                match self.0.emulator.front.plan.end(arguments.number("number")) {
                    0 if arguments.number("number").is_some() => Err(ControlError::Unknown(
                        "expected the number of a fault that is ordered, found another".to_owned(),
                    )),
                    ended => {
                        if arguments.number("number").is_none() {
                            self.0.emulator.front.end_repetitions();
                        }
                        Ok(json!({ "removed": ended }))
                    }
                }
            }
            Operation::Journal => {
                let most = arguments.fitting("most")?.unwrap_or(MAX_SHOWN);
                let calls = self.calls(arguments)?;
                let first = calls.len().saturating_sub(most);
                let shown: Vec<_> = calls.iter().skip(first).map(shown).collect();
                Ok(json!({ "calls": shown, "found": calls.len() }))
            }
            Operation::AssertCalls => self.assert_calls(arguments),
            Operation::ForgetCalls => {
                self.0.emulator.calls().forget();
                Ok(json!({}))
            }
            Operation::Messages => self.messages(arguments).await,
            Operation::Message => self.message(arguments).await,
            Operation::Send => self.send(arguments).await,
            Operation::Resend => self.resend(arguments).await,
            Operation::Drop => self.drop_message(arguments).await,
            Operation::Pause => self.pause(arguments).await,
            Operation::Resume => self.resume(arguments).await,
            Operation::Reset => {
                self.reset(arguments.parsed("customer")?.as_ref()).await?;
                Ok(json!({}))
            }
            Operation::Book
            | Operation::Customers
            | Operation::AddCustomer
            | Operation::RotateApiKey
            | Operation::Keys
            | Operation::RotateKey
            | Operation::Snapshot
            | Operation::Seed => match &self.0.data {
                Some(data) => data.carry_out(arguments).await,
                None => Err(ControlError::Failed(
                    "this bank has no data of its own".to_owned(),
                )),
            },
        }
    }

    /// The calls of the journal that are meant, the oldest first.
    fn calls(&self, arguments: &Arguments) -> Result<Vec<Call>, ControlError> {
        let filter = filter(arguments)?;
        let mut calls = self.0.emulator.calls().newest();
        calls.retain(|call| filter.matches(call));
        calls.reverse();
        Ok(calls)
    }

    /// Fails unless the journal has as many calls as expected.
    fn assert_calls(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let [times, at_least, at_most] =
            ["times", "at_least", "at_most"].map(|name| arguments.number(name));
        let least = times.or(at_least).unwrap_or(u64::from(at_most.is_none()));
        let most = times.or(at_most).unwrap_or(u64::MAX);
        let found = self.calls(arguments)?.len();
        if (least..=most).contains(&found.try_into().unwrap_or(u64::MAX)) {
            return Ok(json!({ "found": found }));
        }
        let newest: Vec<_> = self
            .0
            .emulator
            .calls()
            .newest()
            .iter()
            .take(5)
            .map(ToString::to_string)
            .collect();
        let expected = match (least, most) {
            (least, u64::MAX) => format!("{least} or more"),
            (least, most) if least == most => most.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        let newest = match newest.join("; ") {
            none if none.is_empty() => "the journal is empty".to_owned(),
            newest => format!("the newest of all calls: {newest}"),
        };
        Err(ControlError::NotSo(format!(
            "expected {expected} of these calls, found {found}; {newest}"
        )))
    }

    /// Forgets what happened to one customer. Without a customer the whole bank returns to its
    /// start, including faults, limits and clock.
    async fn reset(&self, customer: Option<&CustomerCode>) -> Result<(), ControlError> {
        let ControlledBank {
            emulator,
            clock,
            limiter,
            limits,
            data,
        } = &*self.0;
        if customer.is_none() {
            clock.reset();
        }
        // Resets the data first, because only the data knows if the customer exists.
        if let Some(data) = data {
            data.reset(customer).await?;
        }
        match customer {
            Some(customer) => emulator.calls().forget_of(customer.as_str()),
            None => {
                emulator.front.plan.end(None);
                emulator.front.end_repetitions();
                limiter.change_limits(|now| now.clone_from(limits));
                emulator.calls().forget();
            }
        }
        Ok(())
    }

    async fn clock_changed(&self) -> Result<Value, ControlError> {
        if let Some(data) = &self.0.data {
            data.clock_changed().await?;
        }
        // Messages may be due at the new time.
        self.0.emulator.dispatcher().wake();
        Ok(self.clock_shown())
    }

    fn clock_shown(&self) -> Value {
        let clock = &self.0.clock;
        let assertions = if clock.judges_assertions() {
            "bank"
        } else {
            "real"
        };
        json!({ "now": clock.now().to_string(), "rate": clock.rate(), "assertions": assertions })
    }

    fn set_clock(&self, arguments: &Arguments) -> Result<(), ControlError> {
        let clock = &self.0.clock;
        let is_real = arguments.text("now") == Some("real");
        let now = if is_real {
            None
        } else {
            arguments.instant("now")?
        };
        let rate = arguments.fitting("rate")?;
        if rate.is_some_and(|rate| rate > BankClock::MAX_RATE) {
            return Err(ControlError::Wrong(format!(
                "rate: expected at most {}, found more",
                BankClock::MAX_RATE
            )));
        }
        let judge = arguments.text("assertions");
        if is_real {
            clock.reset();
        }
        // Sets the rate first, so that a clock that is to stand still stands at exactly the given
        // time.
        if let Some(rate) = rate {
            clock.run(rate);
        }
        if let Some(now) = now {
            clock.set(now);
        }
        if let Some(judge) = judge {
            clock.judge_assertions(judge == "bank");
        }
        Ok(())
    }

    fn limits(&self, customer: Option<&str>) -> Value {
        let now = self.0.clock.now();
        let policy = |call_type| {
            self.0
                .limiter
                .policy(customer.unwrap_or_default(), call_type, now)
                .to_string()
        };
        let limits = CallType::ALL.map(|of| (of.as_str(), policy(of)));
        json!({ "customer": customer, "limits": BTreeMap::from(limits) })
    }

    fn set_limit(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let wrong = |error: &dyn std::fmt::Display| ControlError::Wrong(error.to_string());
        let call_type: CallType = arguments
            .parsed("call_type")?
            .ok_or_else(|| messages::missing("call_type"))?;
        let mut windows = Vec::new();
        let per_unit = [
            ("per_hour", Window::per_hour as fn(u32) -> _),
            ("per_minute", Window::per_minute),
            ("per_second", Window::per_second),
        ];
        for (name, window) in per_unit {
            if let Some(limit) = arguments.fitting(name)? {
                let window = window(limit);
                windows.push(window.map_err(|error| wrong(&format!("{name}: {error}")))?);
            }
        }
        let limit = match arguments.flag("unlimited") {
            true if windows.is_empty() => LimitOverride::unlimited(call_type),
            true => {
                return Err(ControlError::Wrong(
                    "expected unlimited alone, found a limit beside it".to_owned(),
                ));
            }
            false => LimitOverride::new(call_type, &windows).map_err(|error| wrong(&error))?,
        };
        let customer = arguments.text("customer");
        let base =
            self.0
                .limiter
                .policy(customer.unwrap_or_default(), call_type, self.0.clock.now());
        let policy = limit.policy(&base).map_err(|error| wrong(&error))?;
        self.0.limiter.change_limits(|limits| match customer {
            Some(customer) => limits.set_override(customer, call_type, policy),
            None => limits.set_default(call_type, policy),
        });
        Ok(self.limits(customer))
    }
}

fn add_fault(arguments: &Arguments) -> Result<FaultOrder, ControlError> {
    let mut order = FaultOrder::new(arguments.text("fault").unwrap_or_default())
        .map_err(ControlError::Wrong)?;
    if let Some(share) = arguments.text("share") {
        order = order
            .share(share)
            .map_err(|error| ControlError::Wrong(format!("share: {error}")))?;
    }
    if let Some(customer) = arguments.text("customer") {
        order = order.customer(customer);
    }
    match arguments.number("count") {
        Some(0) => {
            return Err(ControlError::Wrong(
                "count: expected 1 or more, found 0".to_owned(),
            ));
        }
        Some(count) => order = order.count(count),
        None => {}
    }
    Ok(order
        .skip(arguments.number("skip").unwrap_or_default())
        .by("the control"))
}

fn filter(arguments: &Arguments) -> Result<CallFilter, ControlError> {
    let text = |name| arguments.text(name).map(str::to_owned);
    let endpoint = arguments.text("endpoint");
    Ok(CallFilter {
        endpoint: Endpoint::ALL
            .into_iter()
            .find(|known| Some(known.name()) == endpoint),
        customer: text("customer"),
        status: arguments.fitting("status")?,
        body: text("body"),
        answer: text("answer"),
        after: arguments.number("after").unwrap_or_default(),
    })
}
