//! What a bank can be told while it runs: one row for each operation.

/// States each operation with what it does, its name, and its members: each with its name, its
/// kind, whether it must be there, and what it says.
macro_rules! operations {
    ($(
        $(#[doc = $about:literal])+
        $variant:ident = $name:literal {
            $( $member:literal $kind:ident $($required:ident)?, $what:literal; )*
        }
    )+) => {
        /// What a bank can be told while it runs. [`Control::carry_out`](super::Control::carry_out)
        /// does it, a program offers it as a command, and
        /// [`Control::router`](super::Control::router) serves it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Operation {
            $( $(#[doc = $about])+ $variant, )+
        }

        impl Operation {
            /// All operations.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// Its name: that of its command, and the last part of its path.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )+ }
            }

            /// What it does, in one or two sentences.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $( Self::$variant => concat!($($about),+).trim(), )+ }
            }

            /// What it can be given.
            #[must_use]
            pub const fn members(self) -> &'static [Member] {
                match self {
                    $( Self::$variant => &[$( Member {
                        name: $member,
                        kind: MemberKind::$kind,
                        is_required: operations!(@required $($required)?),
                        about: $what,
                    }, )*], )+
                }
            }
        }
    };
    (@required required) => { true };
    (@required) => { false };
}

impl Operation {
    /// The operation of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|operation| operation.name() == name)
    }
}

/// Something that an operation can be given: a member of the JSON object that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: MemberKind,
    /// Whether the operation needs it.
    pub is_required: bool,
    /// What it says, in one sentence.
    pub about: &'static str,
}

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberKind {
    /// A text.
    Text,
    /// A text of several lines: on a command line, the name of a file.
    Lines,
    /// A whole number from 0 on.
    Number,
    /// True or false.
    Flag,
    /// A JSON object: on a command line, the name of a file.
    Object,
}

operations! {
    /// Shows the bank's time, how fast its clock runs, and by which time assertions are judged.
    Clock = "clock" {}
    /// Sets the bank's clock, or makes it run faster or stand still.
    SetClock = "set-clock" {
        "now" Text, "The bank's time from now on, such as 2026-03-02T00:00:00Z, or real.";
        "rate" Number, "How many times as fast as the real time it runs, at most 1000000; 0 stands still.";
        "assertions" Text, "By which time assertions are judged: real, as at the start, or bank.";
    }
    /// Advances the bank's clock.
    StepClock = "step-clock" {
        "seconds" Number required, "By how many seconds.";
    }
    /// Shows the limits of calls, those that are agreed with a customer among them.
    Limits = "limits" {
        "customer" Text, "The code of the customer; without it, the limits of all others.";
    }
    /// Sets the limits of one type of calls. A window that is not named keeps its limit.
    SetLimit = "set-limit" {
        "call_type" Text required, "The type of the calls, such as token or statement.";
        "customer" Text, "The code of the customer; without it, the limits of all others.";
        "per_hour" Number, "The calls of an hour.";
        "per_minute" Number, "The calls of a minute.";
        "per_second" Number, "The calls of a second.";
        "unlimited" Flag, "No limit at all.";
    }
    /// Lists the faults that are ordered.
    Faults = "faults" {}
    /// Orders a fault for calls, or for deliveries to receivers.
    AddFault = "add-fault" {
        "fault" Text required, "The name of the fault, after token-, statement- or webhook- for calls of one kind.";
        "customer" Text, "The code of the customer whose calls meet it; all without it.";
        "share" Text, "The part of the calls that meets it, such as 0.1 or 10%; all without it.";
        "skip" Number, "How many calls are spared before.";
        "count" Number, "How many calls meet it; without it, it has no end.";
    }
    /// Ends a fault, or all.
    RemoveFault = "remove-fault" {
        "number" Number, "The number of the fault; all without it.";
    }
    /// Shows the calls that the bank has answered, and those that delivered messages, the oldest
    /// first. Secrets are masked.
    Journal = "journal" {
        "endpoint" Text, "The endpoint: token, statement, webhook (messages that the bank delivered) or other.";
        "customer" Text, "The code of the customer.";
        "status" Number, "The status of the answer.";
        "body" Text, "A text that the body of the request has.";
        "answer" Text, "A text that the body of the answer has.";
        "after" Number, "The number of the call before the first one.";
        "most" Number, "The most calls that are shown, the newest; 100 without it.";
    }
    /// Fails unless the journal has as many calls as expected: one or more, if no number is named.
    AssertCalls = "assert-calls" {
        "endpoint" Text, "The endpoint: token, statement, webhook (messages that the bank delivered) or other.";
        "customer" Text, "The code of the customer.";
        "status" Number, "The status of the answer.";
        "body" Text, "A text that the body of the request has.";
        "answer" Text, "A text that the body of the answer has.";
        "after" Number, "The number of the call before the first one.";
        "times" Number, "How many calls are expected.";
        "at_least" Number, "How many calls are expected at least; 1 without any number.";
        "at_most" Number, "How many calls are expected at most.";
    }
    /// Forgets the calls so far.
    ForgetCalls = "forget-calls" {}
    /// Books on an account: one entry, the rows of a CSV file, or a day of a shop.
    Book = "book" {
        "account" Text, "The account.";
        "amount" Text, "The amount in the account's currency, more than zero.";
        "kind" Text, "What happened, such as fast_payment_in (without it), transfer_out or fee.";
        "day" Text, "The booking day; that of the bank's clock without it.";
        "reference" Text, "The bank's reference, under which it is booked once.";
        "narrative" Text, "The remittance text.";
        "counterparty" Text, "The other party's name.";
        "virtual_account" Text, "The virtual account that a credit is for.";
        "reversal" Flag, "Reverse an earlier booking of this kind.";
        "csv" Lines, "All rows of a CSV file as bankrail provider book takes it, all of them or none.";
        "story" Text, "In place of an amount: shop, a day of a shop.";
        "seed" Number, "Which story: the same number, the same bookings.";
    }
    /// Lists messages to deliver, without their content.
    Messages = "messages" {
        "endpoint" Text, "The endpoint.";
        "state" Text, "The state: pending, delivered, dead_letter or dropped.";
        "after" Number, "The number of the message before the first one.";
    }
    /// Sends a message, or those of a story one after the other.
    Send = "send" {
        "endpoint" Text required, "The endpoint.";
        "message" Object, "The message.";
        "story" Text, "In place of a message: mandate, mandate-declined, mandate-expired, mandate-amended, \
            mandate-ported, mandate-queried, payment, payment-same-day, payment-delayed, payment-rejected or bad-week.";
        "seed" Number, "Which story: the same number, the same identifiers.";
        "shuffled" Flag, "In an order that the seed decides.";
    }
    /// Delivers a message once more, under the same message id: one that was delivered at once, a
    /// dead letter when its turn comes.
    Resend = "resend" {
        "number" Number required, "The number of the message.";
    }
    /// Lists the customers with their scopes, accounts and endpoints.
    Customers = "customers" {}
    /// Adds a customer, and shows its API key, which is not stored.
    AddCustomer = "add-customer" {
        "code" Text required, "The customer code, in upper case.";
        "key" Lines required, "The customer's public key for assertions, as PEM or JWK.";
        "scopes" Text, "The scopes, separated by spaces; that of statements without them.";
        "accounts" Text, "The accounts, each as NUMBER:CURRENCY, separated by spaces.";
        "webhooks" Text, "The base address of the customer's webhook receivers.";
        "encrypt_to" Lines, "The customer's public key that messages are encrypted for, as PEM or JWK.";
    }
    /// Gives a customer a new API key, and shows it; the one before ends later.
    RotateApiKey = "rotate-api-key" {
        "code" Text required, "The customer code.";
        "overlap" Number, "For how many hours the keys before stay valid; 24 without it.";
    }
    /// Lists the keys that sign webhooks, the one in use first.
    Keys = "keys" {}
    /// Makes a new key that signs webhooks from now on.
    RotateKey = "rotate-key" {}
    /// Forgets what happened: entries, messages, tokens, counted calls and the journal. Without a
    /// customer also faults, other limits, and the clock that was set. Customers, accounts and keys
    /// stay.
    Reset = "reset" {
        "customer" Text, "The code of the customer whose data is forgotten; all without it.";
    }
    /// Keeps what happened so far under a name: entries, messages, tokens and counted calls.
    Snapshot = "snapshot" {
        "name" Text required, "The name: 1 to 64 lower-case letters, digits and hyphens.";
    }
    /// Puts a snapshot in the place of what happened since. Customers, keys and the clock stay as
    /// they are.
    Seed = "seed" {
        "name" Text required, "The name of the snapshot.";
    }
}
