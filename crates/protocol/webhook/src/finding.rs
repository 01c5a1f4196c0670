//! Findings: the deviations in a message that are reported.

use bankrail_values::ValueError;
use std::borrow::Cow;
use std::fmt;

/// A deviation in a message from the specification or a documented default, which is reported but
/// by default not refused.
///
/// `found` holds a piece of the message, cut and escaped: where a log must not contain payload, log
/// `rule` and `pointer` only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageFinding {
    /// The rule.
    pub rule: Rule,
    /// JSON pointer (RFC 6901) to the value; empty for the message itself.
    pub pointer: String,
    /// The expected form, in words.
    pub expected: Cow<'static, str>,
    /// The value found, cut and escaped.
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
}

/// Serializes the finding as the list of rule, pointer, expected and found.
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
        Ok(match rule.parse() {
            Ok(rule) => Self::new(rule, pointer, expected.into(), found),
            Err(_) => Self::new(
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

/// The class of a rule: where the rule comes from, which decides where a finding is a reason to
/// refuse.
///
/// On receipt every finding is reported, and a message is refused for one only under
/// [`MessageReadOptions::deny_findings`](crate::MessageReadOptions::deny_findings). `checked`, the
/// end of a builder's chain, refuses findings of any class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleClass {
    /// A rule that the specification states. A breach is refused at enqueue, and on receipt under
    /// `deny_findings`.
    Specification,
    /// A documented default where the specification is silent. A breach is refused at enqueue
    /// unless [`OutgoingOptions::beyond_defaults`](crate::OutgoingOptions::beyond_defaults) allows
    /// it, and on receipt under `deny_findings`.
    Default,
    /// Advice on values that should agree, which the specification does not state. A breach is
    /// refused neither at enqueue nor on receipt.
    Consistency,
}

/// A rule whose breach is a [`MessageFinding`]. The name of a rule is that of its variant in snake
/// case.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(
    serialize_all = "snake_case",
    parse_err_ty = ValueError,
    parse_err_fn = unknown_rule
)]
#[non_exhaustive]
pub enum Rule {
    /// Default: an optional member is absent rather than `null`.
    Null,
    /// Specification: "Common formats in webhook messages", a time has three fractional digits; 0
    /// to 2 are accepted.
    FractionDigits,
    /// Default: a value keeps its length and its set of characters.
    DefaultBound,
    /// Default: a member that is required by default is present, in an object for which the
    /// specification marks none.
    DefaultRequired,
    /// Default: a code is one of a list that the specification does not show.
    DefaultCode,
    /// Default: the new value of an amended member is not the mark for "cleared".
    ReadsAsCleared,
    /// Specification: "Webhook receivers", an optional header is well formed.
    OptionalHeader,
    /// Specification: "Webhook receivers", the headers are those of the kind of message.
    UnexpectedHeader,
    /// A rule of another version of this crate, which stored the finding.
    OtherVersion,
    /// Specification: the message tables, a code is one of the list.
    UnknownCode,
    /// Specification: the message tables, a member is one of those listed.
    UnknownMember,
    /// Specification: "Common formats in webhook messages", the currency of money is one of ISO 4217.
    UnknownCurrency,
    /// Default: a trigger goes with one action type.
    TriggerActionType,
    /// Default: a trigger goes with one action status.
    TriggerActionStatus,
    /// Default: a trigger goes with one mandate status.
    TriggerMandateStatus,
    /// Default: a trigger goes with one variant of `details`, or none.
    TriggerDetails,
    /// Default: a declined creation (`MCRD`) has a `resolution_event`.
    ResolutionEvent,
    /// Default: an action's type and status go with the mandate status.
    ActionMandateStatus,
    /// Default: a status change goes with the mandate status that it leads to.
    StatusChange,
    /// The outcome and its `error` agree: `RJCT` with one, `SUCC` without.
    OutcomeError,
    /// A successful outcome names the mandate.
    OutcomeMandate,
    /// Specification: `bilateral` is only present for creation and amendment actions.
    Bilateral,
    /// Specification: `debtor_alias_name` is only present for creation and amendment actions. Only
    /// the sender can check whether their request gave an alias.
    DebtorAliasName,
    /// `ALIA` needs the alias type and the alias.
    AliasMissing,
    /// Specification: "Payment alias (PayID) formats", an alias has the form of its type.
    AliasFormat,
    /// An `ORGN` alias has at least two words, for the organisation and a description or location
    /// (Specification: "Payment alias (PayID) formats"). The number of words that these need is
    /// only estimated, so the finding is advice.
    OrganisationWords,
    /// `BBAN` needs an account identification.
    AccountMissing,
    /// Default: the amounts go with the amount type.
    AmountType,
    /// At least one amount is present where the amount type requires one.
    AmountMissing,
    /// Specification: `transaction_status_reason_code` gives the reason of a rejected payment.
    RejectionReason,
    /// A payment outcome names its payment.
    PaymentReference,
    /// A case about payments has `payment_details`.
    PaymentDetails,
    /// Specification: `reminder_count` is a count, so it has digits only.
    ReminderCount,
    /// The end of a period is not before its start.
    DateOrder,
}

fn unknown_rule(name: &str) -> ValueError {
    ValueError::new("the name of a rule", name)
}

impl Rule {
    /// All rules.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns a stable name, for logs and stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the class of the rule.
    #[must_use]
    pub fn class(self) -> RuleClass {
        match self {
            Self::FractionDigits
            | Self::OptionalHeader
            | Self::UnexpectedHeader
            | Self::UnknownCode
            | Self::UnknownMember
            | Self::UnknownCurrency
            | Self::Bilateral
            | Self::DebtorAliasName
            | Self::AliasFormat
            | Self::RejectionReason
            | Self::ReminderCount => RuleClass::Specification,
            Self::Null
            | Self::DefaultBound
            | Self::DefaultRequired
            | Self::DefaultCode
            | Self::ReadsAsCleared
            | Self::OtherVersion => RuleClass::Default,
            Self::TriggerActionType
            | Self::TriggerActionStatus
            | Self::TriggerMandateStatus
            | Self::TriggerDetails
            | Self::ResolutionEvent
            | Self::ActionMandateStatus
            | Self::StatusChange
            | Self::OutcomeError
            | Self::OutcomeMandate
            | Self::AliasMissing
            | Self::OrganisationWords
            | Self::AccountMissing
            | Self::AmountType
            | Self::AmountMissing
            | Self::PaymentReference
            | Self::PaymentDetails
            | Self::DateOrder => RuleClass::Consistency,
        }
    }
}

bankrail_values::impl_display!(Rule);
