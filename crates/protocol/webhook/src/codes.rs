//! The codes of the messages. Each list is open: an unknown code is kept, written back and
//! reported.

use crate::error::MessageError;
use crate::finding::Rule;
use crate::json::{Bound, Context, Output, Schemas, Wire, schema};
use bankrail_values::json::JsonValue;
use bankrail_values::{UnknownCode, excerpt};

macro_rules! codes {
    ($(
        $(#[$doc:meta])*
        $name:ident by $rule:ident { $( $(#[$code_doc:meta])* $variant:ident = $code:literal, )* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( #[doc = concat!("`", $code, "`: ")] $(#[$code_doc])* $variant, )*
            /// A code that this version does not know.
            Unknown(UnknownCode),
        }

        impl $name {
            /// The known codes.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),*];

            /// The code's text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $code, )*
                    Self::Unknown(code) => code.as_str(),
                }
            }

            /// False for a code that this version does not know.
            #[must_use]
            pub fn is_known(&self) -> bool {
                !matches!(self, Self::Unknown(_))
            }
        }

        impl From<&str> for $name {
            fn from(code: &str) -> Self {
                match code {
                    $( $code => Self::$variant, )*
                    other => Self::Unknown(UnknownCode::unlisted(other)),
                }
            }
        }

        bankrail_values::impl_display!($name);

        impl Wire for $name {
            fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
                String::read(value, at).map(|code| Self::from(code.as_str()))
            }
            fn write(&self, out: &mut Output) {
                out.string(self.as_str());
            }
            fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
                if let Self::Unknown(code) = self {
                    at.find(Rule::$rule, concat!("one of", $(" ", $code),*), excerpt(code.as_str()));
                }
            }
            fn schema(_: Option<&Bound>, _: &mut Schemas) -> serde_json::Value {
                schema::code(&[$($code),*])
            }
        }
    )*};
}

/// The only kind.
impl Default for InvestigationType {
    fn default() -> Self {
        Self::Query
    }
}

codes! {
    /// The outcome of a mandate action (Specification: "MandateActionOutcome message").
    OutcomeStatus by UnknownCode {
        /// the action was rejected.
        Rejected = "RJCT",
        /// the action succeeded.
        Succeeded = "SUCC",
    }

    /// The state of a mandate (Specification: "States and transitions"; Default: the meanings).
    MandateStatus by UnknownCode {
        /// active: payments can be initiated.
        Active = "ACTV",
        /// cancelled, which is final.
        Cancelled = "CNCD",
        /// created, not yet confirmed by the payer.
        Created = "CRTD",
        /// suspended: no payments until it is released.
        Suspended = "SUSD",
    }

    /// What an action does to a mandate (Specification: message tables; Default: the meanings).
    ActionType by UnknownCode {
        /// amends the mandate.
        Amend = "AMND",
        /// creates the mandate.
        Create = "CREA",
        /// moves the mandate to another account.
        Port = "PORT",
        /// changes the mandate's status.
        StatusChange = "STCH",
    }

    /// The state of an action (Specification: "States and transitions"; Default: the meanings).
    ActionStatus by UnknownCode {
        /// completed.
        Completed = "CMPL",
        /// declined by the payer.
        Declined = "DECL",
        /// pending: the payer has not answered.
        Pending = "PEND",
        /// recalled by the side that started it.
        Recalled = "RECL",
        /// timed out without an answer.
        TimedOut = "TIMO",
    }

    /// Why a mandate notification was sent (Specification: "MandateNotification message"; Default:
    /// the meanings).
    Trigger by UnknownCode {
        /// a bilateral amendment was confirmed.
        AmendmentConfirmed = "MAMC",
        /// a bilateral amendment was declined.
        AmendmentDeclined = "MAMD",
        /// the mandate was amended unilaterally.
        AmendedUnilaterally = "MAMN",
        /// a bilateral amendment expired.
        AmendmentExpired = "MAMX",
        /// the creation was confirmed.
        CreationConfirmed = "MCRC",
        /// the creation was declined.
        CreationDeclined = "MCRD",
        /// the creation expired.
        CreationExpired = "MCRX",
        /// the mandate's status was changed.
        StatusChanged = "MSCH",
    }

    /// The state of a payment instruction (Specification: "States and transitions").
    TransactionStatus by UnknownCode {
        /// settlement completed, final.
        SettlementCompleted = "ACSC",
        /// settlement pending: another outcome follows.
        SettlementPending = "ACSP",
        /// warehoused until its execution date: another outcome follows.
        Warehoused = "PDNG",
        /// rejected, final; a reason code says why.
        Rejected = "RJCT",
    }

    /// The severity of an outcome's error (Specification: `FATL` is used in the shape; Default: the
    /// others and the meanings).
    ErrorSeverity by DefaultCode {
        /// fatal.
        Fatal = "FATL",
        /// logical.
        Logical = "LOGI",
        /// transient: a retry may succeed.
        Transient = "TRAN",
    }

    /// What a status change does (Default: "details").
    StatusChangeCode by DefaultCode {
        /// cancels the mandate.
        Cancel = "CNCL",
        /// releases a suspended mandate.
        Release = "RELS",
        /// suspends the mandate.
        Suspend = "SUSP",
    }

    /// The kind of an investigation (Specification: "QueryNotification message").
    InvestigationType by UnknownCode {
        /// a query, the only kind.
        Query = "INV14",
    }

    /// What a query is about (Specification: "QueryNotification message").
    CaseType by UnknownCode {
        /// the mandate itself.
        Mandate = "Mandate Query Case",
        /// payments under the mandate.
        Payments = "Mandate Query Payments",
    }

    /// The type of a party (Default).
    PartyType by DefaultCode {
        /// an organisation.
        Organisation = "ORGN",
        /// a person.
        Person = "PERS",
    }

    /// How an account is identified (Default).
    AccountIdentificationType by DefaultCode {
        /// by an alias.
        Alias = "ALIA",
        /// by branch code (BSB) and account number.
        Bban = "BBAN",
    }

    /// The type of a payment alias (Specification: "Payment alias (PayID) formats").
    AliasType by DefaultCode {
        /// business number.
        BusinessNumber = "AUBN",
        /// email address.
        Email = "EMAL",
        /// organisation id.
        Organisation = "ORGN",
        /// telephone number.
        Telephone = "TELI",
    }

    /// How a mandate was established (Default).
    EstablishmentScheme by DefaultCode {
        /// bilateral.
        Bilateral = "AUPM",
        /// migrated by the creditor.
        MigratedByCreditor = "MGCR",
    }

    /// The purpose of a mandate (Default).
    MandatePurpose by DefaultCode {
        /// dependant support.
        DependantSupport = "DEPD",
        /// gambling.
        Gambling = "GAMP",
        /// government.
        Government = "GOVT",
        /// loan.
        Loan = "LOAN",
        /// mortgage.
        Mortgage = "MORT",
        /// other.
        Other = "OTHR",
        /// pension.
        Pension = "PENS",
        /// personal.
        Personal = "PERS",
        /// retail.
        Retail = "RETL",
        /// salary.
        Salary = "SALA",
        /// tax.
        Tax = "TAXS",
        /// utility.
        Utility = "UTIL",
    }

    /// How often payments fall due (Default).
    PaymentFrequency by DefaultCode {
        /// ad hoc.
        AdHoc = "ADHO",
        /// several times a day.
        IntraDay = "INDA",
        /// daily.
        Daily = "DAIL",
        /// weekly.
        Weekly = "WEEK",
        /// every two weeks.
        Fortnightly = "FRTN",
        /// monthly.
        Monthly = "MNTH",
        /// every three months.
        Quarterly = "QURT",
        /// every six months.
        HalfYearly = "MIAN",
        /// yearly.
        Yearly = "YEAR",
    }

    /// How the amount of each payment is set (Default).
    AmountType by DefaultCode {
        /// fixed.
        Fixed = "FIXE",
        /// variable.
        Variable = "VARI",
        /// by usage.
        Usage = "USGB",
        /// the balance.
        Balance = "BALN",
    }
}
