//! `details` of a mandate notification: exactly one of three variants (Specification:
//! "MandateNotification message"; Default: the members of the bilateral amendment and of the status
//! change).

use super::parties::AmendedDebtor;
use super::payment_information::AmendedPaymentInformation;
use crate::Amended;
use crate::codes::StatusChangeCode;
use crate::error::MessageError;
use crate::finding::Rule;
use crate::json::{self, Bound, Context, ExtraMembers, Output, Schemas, Wire, check, read, write};
use bankrail_values::json::JsonValue;
use bankrail_values::{Date, Timestamp};

/// The changes that an action made: `details` of a mandate notification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Details {
    /// The variant.
    pub change: Change,
    /// Members that this version does not know, in their order. With [`Change::Unknown`], all
    /// members.
    pub extra: ExtraMembers,
}

/// The variants of [`Details`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// `amendment` (`MandateAmendmentRequest`): a unilateral amendment. Default: trigger `MAMN`.
    Amendment(Box<Amendment>),
    /// `bilateral_amendment` (`MandateAmendmentRequestBilat`). Default: triggers `MAMC`, `MAMD` and
    /// `MAMX`.
    BilateralAmendment(Box<BilateralAmendment>),
    /// `status_change` (`MandateStatusChangeDetails`). Default: trigger `MSCH`.
    StatusChange(StatusChange),
    /// Another kind of change: kept in [`Details::extra`] and reported.
    Unknown,
}

/// A unilateral amendment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Amendment {
    /// The changes of the payer.
    pub debtor_information: Option<AmendedDebtor>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// A bilateral amendment (Default: its members).
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct BilateralAmendment {
    /// The time by which the counterparty is asked to resolve the action. Informational.
    pub resolution_requested_by: Option<Timestamp>,
    /// The mandate's last day.
    pub validity_end_date: Amended<Date>,
    /// Default: 1 to 140 characters.
    #[wire(bound = LINE)]
    pub transfer_arrangement: Amended<String>,
    /// True if the mandate is extended automatically.
    pub automatic_extension_indicator: Option<bool>,
    /// The changes of the payment schedule and amounts.
    pub payment_information: Option<AmendedPaymentInformation>,
    /// Default: 1 to 140 characters.
    #[wire(bound = LINE)]
    pub additional_information: Amended<String>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// A status change (Default: its members).
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct StatusChange {
    /// The change of status. Default: required.
    #[wire(expected)]
    pub change: Option<StatusChangeCode>,
    /// Default: 4 letters or digits.
    #[wire(bound = REASON_CODE)]
    pub reason_code: Option<String>,
    /// Default: 1 to 256 characters.
    #[wire(bound = REASON_DESCRIPTION)]
    pub reason_description: Option<String>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

impl From<Amendment> for Details {
    fn from(amendment: Amendment) -> Self {
        Self {
            change: Change::Amendment(Box::new(amendment)),
            extra: ExtraMembers::default(),
        }
    }
}

impl From<BilateralAmendment> for Details {
    fn from(amendment: BilateralAmendment) -> Self {
        Self {
            change: Change::BilateralAmendment(Box::new(amendment)),
            extra: ExtraMembers::default(),
        }
    }
}

impl From<StatusChange> for Details {
    fn from(change: StatusChange) -> Self {
        Self {
            change: Change::StatusChange(change),
            extra: ExtraMembers::default(),
        }
    }
}

pub(super) const AMENDMENT: &str = "amendment";
pub(super) const BILATERAL: &str = "bilateral_amendment";
pub(super) const STATUS: &str = "status_change";

impl Change {
    /// Returns the member of the variant.
    pub(super) fn name(&self) -> Option<&'static str> {
        match self {
            Self::Amendment(_) => Some(AMENDMENT),
            Self::BilateralAmendment(_) => Some(BILATERAL),
            Self::StatusChange(_) => Some(STATUS),
            Self::Unknown => None,
        }
    }
}

impl Wire for Details {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let object = json::object(value, at)?;
        let amendment = read::optional(object, AMENDMENT, at)?
            .map(Box::new)
            .map(Change::Amendment);
        let bilateral = read::optional(object, BILATERAL, at)?
            .map(Box::new)
            .map(Change::BilateralAmendment);
        let status = read::optional(object, STATUS, at)?.map(Change::StatusChange);
        let mut variants = [amendment, bilateral, status].into_iter().flatten();
        let change = variants.next().unwrap_or(Change::Unknown);
        match variants.count() {
            0 => Ok(Self {
                change,
                extra: ExtraMembers::keep(object, &[AMENDMENT, BILATERAL, STATUS]),
            }),
            more => Err(MessageError::SeveralVariants {
                pointer: at.pointer(),
                found: more + 1,
            }),
        }
    }

    fn write(&self, out: &mut Output) {
        out.object(|object| {
            match &self.change {
                Change::Amendment(change) => write::required(&**change, AMENDMENT, object),
                Change::BilateralAmendment(change) => write::required(&**change, BILATERAL, object),
                Change::StatusChange(change) => write::required(change, STATUS, object),
                Change::Unknown => {}
            }
            self.extra.write(object);
        });
    }

    fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
        match &self.change {
            Change::Amendment(change) => check::required(&**change, AMENDMENT, None, at),
            Change::BilateralAmendment(change) => check::required(&**change, BILATERAL, None, at),
            Change::StatusChange(change) => check::required(change, STATUS, None, at),
            Change::Unknown => at.find(
                Rule::DefaultRequired,
                "one of amendment, bilateral_amendment, status_change",
                "none of them",
            ),
        }
        self.extra.check(at);
    }

    fn schema(_: Option<&Bound>, schemas: &mut Schemas) -> serde_json::Value {
        let variants = [
            (AMENDMENT, Amendment::schema(None, schemas)),
            (BILATERAL, BilateralAmendment::schema(None, schemas)),
            (STATUS, StatusChange::schema(None, schemas)),
        ];
        let variants = variants
            .map(|(name, schema)| serde_json::json!({ "type": "object", "properties": { name: schema }, "required": [name] }));
        schemas.insert(
            "Details",
            serde_json::json!({ "description": "What an action changed.", "oneOf": variants }),
        )
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Details {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        json::serde::serialize(self, out)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Details {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        json::serde::deserialize(from)
    }
}
