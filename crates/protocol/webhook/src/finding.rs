//! Findings: what deviates in a message and is reported.

use std::borrow::Cow;
use std::fmt;

/// A deviation in a message from the specification or a documented default, reported and by default
/// not refused.
///
/// `found` holds a piece of the message, cut and escaped: log `rule` and `pointer` instead where
/// payload must stay out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageFinding {
    /// The rule.
    pub rule: Rule,
    /// JSON pointer (RFC 6901) to the value; empty for the message itself.
    pub pointer: String,
    /// What was expected.
    pub expected: Cow<'static, str>,
    /// What was found, cut and escaped.
    pub found: String,
}

impl MessageFinding {
    pub(crate) fn new(
        rule: Rule,
        pointer: String,
        expected: Cow<'static, str>,
        found: String,
    ) -> Self {
        Self {
            rule,
            pointer,
            expected,
            found,
        }
    }

    /// The severity of the finding.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.rule.severity()
    }
}

/// Serialized as the list of rule, pointer, expected and found.
impl serde::Serialize for MessageFinding {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        (
            self.rule.as_str(),
            &self.pointer,
            &self.expected,
            &self.found,
        )
            .serialize(out)
    }
}

/// A rule that this version does not know becomes [`Rule::OtherVersion`], and its name the first
/// word of [`MessageFinding::expected`].
impl<'de> serde::Deserialize<'de> for MessageFinding {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (rule, pointer, expected, found) =
            <(String, String, String, String)>::deserialize(from)?;
        Ok(match Rule::from_name(&rule) {
            Some(rule) => Self::new(rule, pointer, expected.into(), found),
            None => Self::new(
                Rule::OtherVersion,
                pointer,
                format!("{rule}: {expected}").into(),
                found,
            ),
        })
    }
}

impl fmt::Display for MessageFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}: {}: expected {}, found {}",
            self.pointer, self.rule, self.expected, self.found
        )
    }
}

/// The severity of a [`MessageFinding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Informative: something newer than this version, or an unusual spelling.
    Notice,
    /// The message disagrees with a documented default.
    Warning,
    /// The message contradicts itself.
    Error,
}

/// The class of a rule: where the rule comes from, which decides where a finding is a reason to
/// refuse.
///
/// On receipt every finding is reported, and a message is refused for one only under
/// [`MessageReadOptions::deny_findings`](crate::MessageReadOptions::deny_findings). `checked`, the
/// end of a builder's chain, refuses findings of any class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleClass {
    /// A rule that the specification states. Refused at enqueue, and on receipt under
    /// `deny_findings`.
    Specification,
    /// A documented default where the specification leaves a thing open. Refused at enqueue unless
    /// [`OutgoingOptions::beyond_defaults`](crate::OutgoingOptions::beyond_defaults) allows it, and
    /// on receipt under `deny_findings`.
    Default,
    /// Advice on values that should agree, which the specification does not state. Refused neither
    /// at enqueue nor on receipt.
    Consistency,
}

macro_rules! rules {
    ($( $(#[$doc:meta])* $name:ident = $text:literal, $class:ident, $severity:ident; )*) => {
        /// A rule whose breach is a [`MessageFinding`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule { $( $(#[$doc])* $name, )* }

        impl Rule {
            /// All rules.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// A stable name, for logs and stores.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$name => $text, )* }
            }

            /// The rule with this stable name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|rule| rule.as_str() == name)
            }

            /// The class of the rule.
            #[must_use]
            pub fn class(self) -> RuleClass {
                match self { $( Self::$name => RuleClass::$class, )* }
            }

            /// The severity of a breach.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $( Self::$name => Severity::$severity, )* }
            }
        }
    };
}

rules! {
    /// Default: an optional member is absent rather than `null`.
    Null = "null", Default, Notice;
    /// Specification: "Common formats in webhook messages", three fractional digits; 0 to 2 are
    /// accepted.
    FractionDigits = "fraction_digits", Specification, Notice;
    /// Default: a value keeps its length and its set of characters.
    DefaultBound = "default_bound", Default, Warning;
    /// Default: a member that is required by default is present, in an object for which the
    /// specification marks none.
    DefaultRequired = "default_required", Default, Warning;
    /// Default: a code is one of a list that the specification does not show.
    DefaultCode = "default_code", Default, Notice;
    /// Default: the new value of an amended member is not the mark for "cleared".
    ReadsAsCleared = "reads_as_cleared", Default, Error;
    /// Specification: "Webhook receivers", an optional header is well formed.
    OptionalHeader = "optional_header", Specification, Warning;
    /// Specification: "Webhook receivers", the headers are those of the kind of message.
    UnexpectedHeader = "unexpected_header", Specification, Notice;
    /// A rule of another version of this crate, which stored the finding.
    OtherVersion = "other_version", Default, Notice;
    /// Specification: the message tables, a code is one of the list.
    UnknownCode = "unknown_code", Specification, Notice;
    /// Specification: the message tables, a member is one of those listed.
    UnknownMember = "unknown_member", Specification, Notice;
    /// Specification: "Common formats in webhook messages", the currency of money is one of ISO 4217.
    UnknownCurrency = "unknown_currency", Specification, Warning;
    /// Default: a trigger goes with one action type.
    TriggerActionType = "trigger_action_type", Consistency, Warning;
    /// Default: a trigger goes with one action status.
    TriggerActionStatus = "trigger_action_status", Consistency, Warning;
    /// Default: a trigger goes with one mandate status.
    TriggerMandateStatus = "trigger_mandate_status", Consistency, Warning;
    /// Default: a trigger goes with one variant of `details`, or none.
    TriggerDetails = "trigger_details", Consistency, Warning;
    /// Default: a declined creation (`MCRD`) has a `resolution_event`.
    ResolutionEvent = "resolution_event", Consistency, Warning;
    /// Default: an action's type and status go with the mandate status.
    ActionMandateStatus = "action_mandate_status", Consistency, Warning;
    /// Default: a status change goes with the mandate status that it leads to.
    StatusChange = "status_change", Consistency, Warning;
    /// The outcome and its `error` agree: `RJCT` with one, `SUCC` without.
    OutcomeError = "outcome_error", Consistency, Warning;
    /// A successful outcome names the mandate.
    OutcomeMandate = "outcome_mandate", Consistency, Warning;
    /// Specification: `bilateral` is only present for creation and amendment actions.
    Bilateral = "bilateral", Specification, Warning;
    /// Specification: `debtor_alias_name` is only present for creation and amendment actions.
    /// Whether their request gave an alias is for the sender to know.
    DebtorAliasName = "debtor_alias_name", Specification, Warning;
    /// `ALIA` needs the alias type and the alias.
    AliasMissing = "alias_missing", Consistency, Warning;
    /// Specification: "Payment alias (PayID) formats", an alias has the form of its type.
    AliasFormat = "alias_format", Specification, Warning;
    /// An `ORGN` alias has at least two words, for the organisation and a description or location
    /// (Specification: "Payment alias (PayID) formats"). How many words these need is only
    /// estimated, so it is advice.
    OrganisationWords = "organisation_words", Consistency, Notice;
    /// `BBAN` needs an account identification.
    AccountMissing = "account_missing", Consistency, Warning;
    /// Default: the amounts go with the amount type.
    AmountType = "amount_type", Consistency, Warning;
    /// At least one amount is present where the amount type requires one.
    AmountMissing = "amount_missing", Consistency, Warning;
    /// Specification: `transaction_status_reason_code` gives the reason of a rejected payment.
    RejectionReason = "rejection_reason", Specification, Warning;
    /// A payment outcome names its payment.
    PaymentReference = "payment_reference", Consistency, Warning;
    /// A case about payments has `payment_details`.
    PaymentDetails = "payment_details", Consistency, Warning;
    /// Specification: `reminder_count` is a count, so it has digits only.
    ReminderCount = "reminder_count", Specification, Notice;
    /// The end of a period is not before its start.
    DateOrder = "date_order", Consistency, Warning;
}

bankrail_values::impl_display!(Rule);
