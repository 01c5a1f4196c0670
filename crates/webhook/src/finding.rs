//! What is odd about a message that is kept.

use std::borrow::Cow;
use std::fmt;

/// Something about a message that is worth knowing and no reason to refuse it.
///
/// `found` holds a piece of the message, cut and escaped: log `rule` and `pointer` instead where payload must stay out.
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
    pub(crate) fn new(rule: Rule, pointer: String, expected: Cow<'static, str>, found: String) -> Self {
        Self { rule, pointer, expected, found }
    }

    /// How grave it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.rule.severity()
    }
}

/// As the list of rule, pointer, expected and found.
impl serde::Serialize for MessageFinding {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        (self.rule.as_str(), &self.pointer, &self.expected, &self.found).serialize(out)
    }
}

/// A rule that this version does not know becomes [`Rule::OtherVersion`], and its name the first word of
/// [`MessageFinding::expected`].
impl<'de> serde::Deserialize<'de> for MessageFinding {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (rule, pointer, expected, found) = <(String, String, String, String)>::deserialize(from)?;
        Ok(match Rule::from_name(&rule) {
            Some(rule) => Self::new(rule, pointer, expected.into(), found),
            None => Self::new(Rule::OtherVersion, pointer, format!("{rule}: {expected}").into(), found),
        })
    }
}

impl fmt::Display for MessageFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}: expected {}, found {}", self.pointer, self.rule, self.expected, self.found)
    }
}

/// How grave a [`MessageFinding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing: something newer than this version, or a spelling.
    Notice,
    /// The message disagrees with a documented default.
    Warning,
    /// The message contradicts itself.
    Error,
}

/// What a rule is about, and so what a finding of it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleClass {
    /// The form of a value. Refused in builders, at enqueue, and on receipt under `deny_findings`.
    Format,
    /// A code that this version does not know. Refused at enqueue and on receipt under `deny_findings`.
    UnknownCode,
    /// A member that this version does not know. Refused at enqueue and on receipt under `deny_findings`.
    UnknownMember,
    /// Values that do not agree with each other. Reported, never a reason to refuse.
    Consistency,
}

macro_rules! rules {
    ($( $(#[$doc:meta])* $name:ident = $text:literal, $class:ident, $severity:ident; )*) => {
        /// The rules whose breach is a [`MessageFinding`].
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

            /// The rule of a stable name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|rule| rule.as_str() == name)
            }

            /// What the rule is about.
            #[must_use]
            pub fn class(self) -> RuleClass {
                match self { $( Self::$name => RuleClass::$class, )* }
            }

            /// How grave a breach is.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $( Self::$name => Severity::$severity, )* }
            }
        }
    };
}

rules! {
    /// Default: an optional member is absent rather than `null`.
    Null = "null", Format, Notice;
    /// Specification: "Common formats in webhook messages", three fractional digits; 0 to 2 are read.
    FractionDigits = "fraction_digits", Format, Notice;
    /// Default: a length or a set of characters.
    DefaultBound = "default_bound", Format, Warning;
    /// Default: a member required inside an object whose members the specification does not mark.
    DefaultRequired = "default_required", Format, Warning;
    /// A new value of an amendment that a receiver reads as "cleared".
    ReadsAsCleared = "reads_as_cleared", Format, Error;
    /// An optional header that is there and malformed.
    OptionalHeader = "optional_header", Format, Warning;
    /// A header that the kind of message does not have.
    UnexpectedHeader = "unexpected_header", Format, Notice;
    /// A rule of another version of this crate, which stored the finding.
    OtherVersion = "other_version", Format, Notice;
    /// A code that this version does not know.
    UnknownCode = "unknown_code", UnknownCode, Notice;
    /// A member that this version does not know.
    UnknownMember = "unknown_member", UnknownMember, Notice;
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
    /// Default: a status change goes with the mandate status that it makes.
    StatusChange = "status_change", Consistency, Warning;
    /// The outcome and its `error` agree: `RJCT` with one, `SUCC` without.
    OutcomeError = "outcome_error", Consistency, Warning;
    /// A successful outcome names the mandate.
    OutcomeMandate = "outcome_mandate", Consistency, Warning;
    /// Specification: `bilateral` is only present for creation and amendment actions.
    Bilateral = "bilateral", Consistency, Warning;
    /// Specification: `debtor_alias_name` is only present for creation and amendment actions.
    DebtorAliasName = "debtor_alias_name", Consistency, Warning;
    /// `ALIA` needs the alias type and the alias.
    AliasMissing = "alias_missing", Consistency, Warning;
    /// The alias has the form of its type (Specification: "Payment alias (PayID) formats").
    AliasFormat = "alias_format", Consistency, Warning;
    /// `BBAN` needs an account identification.
    AccountMissing = "account_missing", Consistency, Warning;
    /// Default: the amounts that go with an amount type.
    AmountType = "amount_type", Consistency, Warning;
    /// At least one amount where one is due.
    AmountMissing = "amount_missing", Consistency, Warning;
    /// Specification: `transaction_status_reason_code` gives the reason of a rejected payment.
    RejectionReason = "rejection_reason", Consistency, Warning;
    /// A payment outcome names its payment.
    PaymentReference = "payment_reference", Consistency, Warning;
    /// A case about payments has `payment_details`.
    PaymentDetails = "payment_details", Consistency, Warning;
    /// `reminder_count` is a count.
    ReminderCount = "reminder_count", Consistency, Notice;
    /// A period's end before its start.
    DateOrder = "date_order", Consistency, Warning;
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_another_version_are_kept() {
        let stored = r#"[["a_new_rule","/a","a colour","\"red\""],["null","/b","no null","null"]]"#;
        let read = serde_json::from_str::<Vec<MessageFinding>>(stored).unwrap();
        assert_eq!((read[0].rule, &*read[0].expected), (Rule::OtherVersion, "a_new_rule: a colour"));
        assert_eq!((read[0].pointer.as_str(), read[0].found.as_str()), ("/a", "\"red\""));
        assert_eq!(read[1].rule, Rule::Null);
        let again = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<Vec<MessageFinding>>(&again).unwrap(), read);
        assert!(serde_json::from_str::<Vec<MessageFinding>>("[7]").is_err());
    }
}
