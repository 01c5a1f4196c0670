//! The operations that programs can carry out on a bank through its control.

use crate::call::Endpoint;
use crate::story;
use bankrail_bank::BookingKind;
use bankrail_mailbox::OutboxState;
use bankrail_rate_limit::CallType;
use bankrail_values::ValueError;
use std::str::FromStr;

/// An operation on a bank. [`Control::carry_out`](super::Control::carry_out) does it, a program
/// offers it as a command, and [`Control::router`](super::Control::router) serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum Operation {
    /// Shows the clock.
    Clock,
    /// Sets the clock or its rate.
    SetClock,
    /// Advances the clock.
    StepClock,
    /// Shows the limits of calls.
    Limits,
    /// Sets a limit of calls.
    SetLimit,
    /// Lists the faults that are ordered.
    Faults,
    /// Orders a fault.
    AddFault,
    /// Ends faults.
    RemoveFault,
    /// Shows calls of the journal.
    Journal,
    /// Counts calls of the journal.
    AssertCalls,
    /// Empties the journal.
    ForgetCalls,
    /// Books entries on an account.
    Book,
    /// Lists messages.
    Messages,
    /// Shows a message.
    Message,
    /// Sends messages.
    Send,
    /// Delivers messages once more.
    Resend,
    /// Drops a message without delivering it.
    Drop,
    /// Stops deliveries to an endpoint.
    Pause,
    /// Resumes deliveries to an endpoint.
    Resume,
    /// Lists the customers.
    Customers,
    /// Adds a customer.
    AddCustomer,
    /// Replaces the API key of a customer.
    RotateApiKey,
    /// Lists the keys that sign webhooks.
    Keys,
    /// Replaces the key that signs webhooks.
    RotateKey,
    /// Drops everything that happened.
    Reset,
    /// Stores the present state as a snapshot.
    Snapshot,
    /// Restores a snapshot.
    Seed,
}

/// The row of an operation in the table of operations.
struct Row {
    about: &'static str,
    members: &'static [Member],
}

impl Operation {
    /// All operations.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns the name of the operation: which is that of its command, and the last part of its
    /// path.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns one or two sentences about the operation.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.row().about
    }

    /// Returns the members that the operation takes.
    #[must_use]
    pub const fn members(self) -> &'static [Member] {
        self.row().members
    }

    /// Returns the options of an example on a command line, in lines of at most 80 columns.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::SetClock => "--now 2026-03-02T00:00:00Z --rate 0",
            Self::StepClock => "--seconds 86400",
            Self::Limits | Self::Reset => "--customer DEMOCUSTOMER",
            Self::SetLimit => "--call-type token --per-hour 20",
            Self::AddFault => "--fault statement-503 --count 2",
            Self::RemoveFault => "--number 1",
            Self::Journal => "--endpoint token --status 401",
            Self::AssertCalls => "--endpoint statement --at-most 3",
            Self::Book => {
                "--account 999001400100101 \\\n    --amount 25.00 --narrative 'invoice 2041'"
            }
            Self::Messages => "--endpoint democustomer --state pending",
            Self::Message => "--number 1 --body",
            Self::Send => "--endpoint democustomer \\\n    --story mandate --shuffled",
            Self::Resend | Self::Resume => "--endpoint democustomer",
            Self::Drop => "--number 2 --reason 'sent by mistake'",
            Self::Pause => "--endpoint democustomer --reason maintenance",
            Self::AddCustomer => {
                "--code ACME --key signing.pub.pem \\\n    --accounts 999001400300301:AUD"
            }
            Self::RotateApiKey => "--code DEMOCUSTOMER --overlap 1",
            Self::Snapshot | Self::Seed => "--name monday",
            Self::Clock
            | Self::Faults
            | Self::ForgetCalls
            | Self::Customers
            | Self::Keys
            | Self::RotateKey => "",
        }
    }

    /// Returns true if the operation acts only on stored data, so that it can be carried out while
    /// the bank does not run.
    #[must_use]
    pub const fn acts_on_data(self) -> bool {
        !matches!(
            self,
            Self::Clock
                | Self::SetClock
                | Self::StepClock
                | Self::Limits
                | Self::SetLimit
                | Self::Faults
                | Self::AddFault
                | Self::RemoveFault
                | Self::Journal
                | Self::AssertCalls
                | Self::ForgetCalls
                | Self::Reset
        )
    }

    const fn row(self) -> Row {
        match self {
            Self::Clock => Row {
                about: "Shows the bank's time, how fast its clock runs, and by which time \
                    assertions are judged.",
                members: &[],
            },
            Self::SetClock => Row {
                about: "Sets the bank's clock, or makes it run faster or stand still.",
                members: const {
                    &[
                        Member::text(
                            "now",
                            "The bank's time from now on, such as 2026-03-02T00:00:00Z, or real.",
                        ),
                        Member::number(
                            "rate",
                            "The speed of the clock as a multiple of the real time, at most 1000000; 0 makes it stand still.",
                        ),
                        Member::text(
                            "assertions",
                            "The time by which assertions are judged; the real time at the start.",
                        )
                        .one_of(|| vec!["real", "bank"]),
                    ]
                },
            },
            Self::StepClock => Row {
                about: "Advances the bank's clock.",
                members: const {
                    &[
                        Member::number("seconds", "The seconds to advance the clock by.")
                            .required(),
                    ]
                },
            },
            Self::Limits => Row {
                about: "Shows the limits of calls, including those agreed with a customer.",
                members: const { &[OTHER_CUSTOMERS] },
            },
            Self::SetLimit => Row {
                about: "Sets the limits of one type of calls. A window that is not named keeps its \
                    limit.",
                members: const {
                    &[
                        Member::text("call_type", "The type of the calls.")
                            .one_of(|| CallType::ALL.map(CallType::as_str).to_vec())
                            .required(),
                        OTHER_CUSTOMERS,
                        Member::number("per_hour", "The calls allowed in an hour."),
                        Member::number("per_minute", "The calls allowed in a minute."),
                        Member::number("per_second", "The calls allowed in a second."),
                        Member::flag("unlimited", "Set no limit at all."),
                    ]
                },
            },
            Self::Faults => Row {
                about: "Lists the faults that are ordered.",
                members: &[],
            },
            Self::AddFault => Row {
                about: "Orders a fault for calls, or for deliveries to receivers.",
                members: const {
                    &[
                        Member::text(
                            "fault",
                            "The name of the fault, after token-, statement- or webhook- for calls \
                             of one kind.",
                        )
                        .required(),
                        Member::text(
                            "customer",
                            "The code of the customer whose calls meet the fault; all customers \
                             by default.",
                        ),
                        Member::text(
                            "share",
                            "The share of the calls that meets the fault, such as 0.1 or 10%; all \
                             calls by default.",
                        ),
                        Member::number("skip", "The number of calls before the fault begins."),
                        Member::number(
                            "count",
                            "The number of calls that meet the fault before it ends; no end by default.",
                        ),
                    ]
                },
            },
            Self::RemoveFault => Row {
                about: "Ends a fault, or all.",
                members: const {
                    &[Member::number(
                        "number",
                        "The number of the fault; all faults by default.",
                    )]
                },
            },
            Self::Journal => Row {
                about: "Shows the calls that the bank has answered, and those that delivered \
                    messages, the oldest first. Secrets are masked.",
                members: const {
                    &[
                        CALL_ENDPOINT,
                        CALL_CUSTOMER,
                        CALL_STATUS,
                        CALL_BODY,
                        CALL_ANSWER,
                        CALL_AFTER,
                        Member::number(
                            "most",
                            "The maximum number of calls to show, the newest ones; 100 by default.",
                        ),
                    ]
                },
            },
            Self::AssertCalls => Row {
                about: "Fails unless the journal has as many calls as expected: one or more, if \
                    no number is named.",
                members: const {
                    &[
                        CALL_ENDPOINT,
                        CALL_CUSTOMER,
                        CALL_STATUS,
                        CALL_BODY,
                        CALL_ANSWER,
                        CALL_AFTER,
                        Member::number("times", "The exact number of calls."),
                        Member::number(
                            "at_least",
                            "The least number of calls; 1 if no number is named.",
                        ),
                        Member::number("at_most", "The greatest number of calls."),
                    ]
                },
            },
            Self::ForgetCalls => Row {
                about: "Forgets the calls so far.",
                members: &[],
            },
            Self::Book => Row {
                about: "Books on an account: one entry, the rows of a CSV file, or a day of a shop.",
                members: const {
                    &[
                        Member::text("account", "The account."),
                        Member::text(
                            "amount",
                            "The amount in the account's currency, more than zero.",
                        ),
                        Member::text("kind", "The kind of the entry; fast_payment_in by default.")
                            .one_of(|| BookingKind::ALL.iter().map(|kind| kind.as_str()).collect()),
                        Member::text(
                            "day",
                            "The booking day; that of the bank's clock by default.",
                        ),
                        Member::text(
                            "reference",
                            "The bank's reference; a second entry with it is not booked.",
                        ),
                        Member::text("narrative", "The remittance text."),
                        Member::text("counterparty", "The other party's name."),
                        Member::text(
                            "virtual_account",
                            "The virtual account that a credit is for.",
                        ),
                        Member::flag("reversal", "Reverse an earlier booking of this kind."),
                        Member::lines(
                            "csv",
                            "A CSV file whose rows are booked, all of them or none. Its columns \
                             are account, date, kind, amount, currency, and optionally \
                             value_date, reversal, key, reference, end_to_end_id, counterparty, \
                             narrative, virtual_account, virtual_account_issuer, mandate, cheque.",
                        ),
                        Member::text("story", "In place of an amount: a day of a shop.")
                            .one_of(|| vec!["shop"]),
                        Member::number(
                            "seed",
                            "The number of the story: the same number gives the same bookings. \
                             Random by default, and part of the answer.",
                        ),
                    ]
                },
            },
            Self::Messages => Row {
                about: "Lists messages to deliver, without their content, and the endpoints that \
                    are stopped.",
                members: const {
                    &[
                        ENDPOINT,
                        Member::text("state", "The state.").one_of(|| {
                            OutboxState::ALL
                                .iter()
                                .map(|state| state.as_str())
                                .collect()
                        }),
                        Member::number(
                            "after",
                            "The number of the last message of the list before this one.",
                        ),
                    ]
                },
            },
            Self::Message => Row {
                about: "Shows a message and each of its deliveries.",
                members: const {
                    &[
                        NUMBER.required(),
                        Member::flag("body", "Show the content of the message too."),
                    ]
                },
            },
            Self::Send => Row {
                about: "Sends a message, or those of a story one after the other.",
                members: const {
                    &[
                        ENDPOINT.required(),
                        Member::object("message", "The message."),
                        Member::text("story", "In place of a message: the story.")
                            .one_of(|| story::names().collect()),
                        Member::number(
                            "seed",
                            "The number of the story: the same number gives the same identifiers. \
                             Random by default, and part of the answer.",
                        ),
                        Member::flag(
                            "shuffled",
                            "Send the story in an order that the seed decides.",
                        ),
                        Member::number(
                            "wait",
                            "The seconds to wait for the first delivery of each message, at most \
                             50 for all; fails if one is not delivered. Does not wait by default.",
                        ),
                    ]
                },
            },
            Self::Resend => Row {
                about: "Resends messages that were delivered or given up, under the same message \
                    ids. They wait in the outbox for their turn.",
                members: const {
                    &[
                        NUMBER,
                        Member::text(
                            "endpoint",
                            "In place of a number: all dead letters of this endpoint.",
                        ),
                        Member::text(
                            "since",
                            "With an endpoint: the messages delivered from this time on, in place \
                             of dead letters, for a customer restored from a backup of that time.",
                        ),
                        Member::text(
                            "until",
                            "With since: the messages delivered before this time; now by default.",
                        ),
                    ]
                },
            },
            Self::Drop => Row {
                about: "Drops a message that waits or is a dead letter: it is never delivered.",
                members: const { &[NUMBER.required(), REASON, BY] },
            },
            Self::Pause => Row {
                about: "Stops deliveries to an endpoint. Messages to it wait.",
                members: const { &[ENDPOINT.required(), REASON, BY] },
            },
            Self::Resume => Row {
                about: "Resumes deliveries to an endpoint that is paused, was stopped by its answer \
                    410, or failed too often. All waiting messages are sent now.",
                members: const { &[ENDPOINT.required()] },
            },
            Self::Customers => Row {
                about: "Lists the customers with their scopes, accounts and endpoints.",
                members: &[],
            },
            Self::AddCustomer => Row {
                about: "Adds a customer, and shows its API key, which is not stored.",
                members: const {
                    &[
                        Member::text("code", "The customer code, in upper case.").required(),
                        Member::lines(
                            "key",
                            "The customer's public key for assertions, as PEM or JWK.",
                        )
                        .required(),
                        Member::text(
                            "scopes",
                            "The scopes, separated by spaces; the scope of statements by default.",
                        ),
                        Member::text(
                            "accounts",
                            "The accounts, each as NUMBER:CURRENCY, separated by spaces; with \
                             :virtual after one that has virtual accounts.",
                        ),
                        Member::text(
                            "webhooks",
                            "The base address of the customer's webhook receivers.",
                        ),
                        Member::lines(
                            "encrypt_to",
                            "The customer's public key that messages are encrypted for, as PEM or \
                             JWK.",
                        ),
                    ]
                },
            },
            Self::RotateApiKey => Row {
                about: "Gives a customer a new API key, and shows it; the old one stays valid for some hours.",
                members: const {
                    &[
                        Member::text("code", "The customer code.").required(),
                        Member::number(
                            "overlap",
                            "The hours for which the old keys stay valid; 24 by default.",
                        ),
                    ]
                },
            },
            Self::Keys => Row {
                about: "Lists the keys that sign webhooks, the one in use first.",
                members: &[],
            },
            Self::RotateKey => Row {
                about: "Makes a new key that signs webhooks from now on.",
                members: &[],
            },
            Self::Reset => Row {
                about: "Forgets what happened: entries, messages, tokens, counted calls and the \
                    journal. Without a customer also faults, other limits, and the clock that was \
                    set. Customers, accounts and keys stay.",
                members: const {
                    &[Member::text(
                        "customer",
                        "The code of the customer whose data is forgotten; all customers by \
                         default.",
                    )]
                },
            },
            Self::Snapshot => Row {
                about: "Keeps the present entries, messages, tokens and counted calls under a name.",
                members: const {
                    &[Member::text(
                        "name",
                        "The name: 1 to 64 lower-case letters, digits and hyphens.",
                    )
                    .required()]
                },
            },
            Self::Seed => Row {
                about: "Restores a snapshot, and drops what happened since. Customers, keys and \
                    the clock stay as they are.",
                members: const { &[Member::text("name", "The name of the snapshot.").required()] },
            },
        }
    }
}

impl FromStr for Operation {
    type Err = ValueError;

    /// Reads the [name](Self::name) of an operation.
    fn from_str(name: &str) -> Result<Self, ValueError> {
        let known = Self::ALL.iter().copied().find(|known| known.name() == name);
        known.ok_or_else(|| ValueError::new("the name of an operation", name))
    }
}

const OTHER_CUSTOMERS: Member = Member::text(
    "customer",
    "The code of the customer; the limits of all others by default.",
);
const CALL_ENDPOINT: Member = Member::text(
    "endpoint",
    "The endpoint; webhook stands for the messages that the bank delivered.",
)
.one_of(|| Endpoint::ALL.map(Endpoint::name).to_vec());
const CALL_CUSTOMER: Member = Member::text("customer", "The code of the customer.");
const CALL_STATUS: Member = Member::number("status", "The status of the answer.");
const CALL_BODY: Member = Member::text("body", "A text that the body of the request contains.");
const CALL_ANSWER: Member = Member::text("answer", "A text that the body of the answer contains.");
const CALL_AFTER: Member = Member::number("after", "Only calls with a greater number than this.");
const ENDPOINT: Member = Member::text("endpoint", "The endpoint.");
const NUMBER: Member = Member::number("number", "The number of the message.");
const REASON: Member = Member::text("reason", "The reason, for the record.");
const BY: Member = Member::text("by", "The name of the person who asks for it.");

/// A member of the JSON object that an operation takes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Member {
    /// The name of the member.
    pub name: &'static str,
    /// The kind of the member's value.
    pub kind: MemberKind,
    /// True if the operation needs the member.
    pub is_required: bool,
    /// A sentence about the value.
    pub about: &'static str,
    /// Returns the texts that the value may have; empty if any text is allowed.
    pub values: fn() -> Vec<&'static str>,
}

impl Member {
    const fn new(name: &'static str, kind: MemberKind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            is_required: false,
            about,
            values: Vec::new,
        }
    }

    const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, MemberKind::Text, about)
    }

    const fn lines(name: &'static str, about: &'static str) -> Self {
        Self::new(name, MemberKind::Lines, about)
    }

    const fn number(name: &'static str, about: &'static str) -> Self {
        Self::new(name, MemberKind::Number, about)
    }

    const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, MemberKind::Flag, about)
    }

    const fn object(name: &'static str, about: &'static str) -> Self {
        Self::new(name, MemberKind::Object, about)
    }

    const fn one_of(self, values: fn() -> Vec<&'static str>) -> Self {
        Self { values, ..self }
    }

    const fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }
}

/// The kind of a member's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberKind {
    /// A text of one line.
    Text,
    /// A text of several lines: on a command line, the name of a file.
    Lines,
    /// A whole number, 0 or more.
    Number,
    /// True or false.
    Flag,
    /// A JSON object: on a command line, the name of a file.
    Object,
}
