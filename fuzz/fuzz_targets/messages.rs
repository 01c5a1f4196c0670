//! The common parts of the targets of messages: messages from arbitrary choices, and what must hold
//! of each that can be built or read.

use crate::invented::{Tree, json, logged};
use arbitrary::Arbitrary;
use bankrail_mailbox::DuplicateKey;
use bankrail_values::{Date, Decimal, HyphenatedUuid, Money, SimpleUuid, Timestamp};
use bankrail_webhook::*;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// The choices for one message.
#[derive(Arbitrary, Debug)]
pub struct Plan<'a> {
    present: u64,
    millis: i64,
    uuid: [u8; 16],
    flag: bool,
    texts: [&'a str; 6],
    codes: [Code<'a>; 4],
    amounts: [(i64, u8, [u8; 3]); 3],
    marks: [u8; 6],
}

#[derive(Arbitrary, Debug, Clone, Copy)]
enum Code<'a> {
    Known(u8),
    Other(&'a str),
}

impl Code<'_> {
    fn of<T: Clone + for<'b> From<&'b str>>(&self, known: &[T]) -> T {
        match self {
            Self::Known(number) => known[usize::from(*number) % known.len()].clone(),
            Self::Other(text) => T::from(text),
        }
    }
}

impl Plan<'_> {
    fn has(&self, bit: u32) -> bool {
        self.present >> bit & 1 == 1
    }

    fn if_<T>(&self, bit: u32, value: impl FnOnce() -> T) -> Option<T> {
        self.has(bit).then(value)
    }

    fn time(&self) -> Timestamp {
        Timestamp::saturating_from_unix_millis(self.millis)
    }

    fn text(&self, at: usize) -> String {
        self.texts[at].to_owned()
    }

    /// The text, cut to the bound, or one of it.
    fn bounded<const MIN: usize, const MAX: usize>(
        &self,
        at: usize,
    ) -> bankrail_values::BoundedText<MIN, MAX> {
        let cut: String = self.texts[at].chars().take(MAX).collect();
        bankrail_values::BoundedText::parse(&cut)
            .unwrap_or_else(|_| "x".repeat(MIN).parse().expect("the least"))
    }

    fn version(&self, version: u8) -> uuid_bytes::Bytes {
        uuid_bytes::with_version(self.uuid, version)
    }

    fn mandate(&self) -> MandateId {
        let uuid = SimpleUuid::parse(&uuid_bytes::simple(self.version(1))).expect("a UUID");
        MandateId::from_uuid(uuid).expect("version 1")
    }

    fn action(&self) -> ActionId {
        ActionId::from_uuid(self.mandate().to_uuid()).expect("version 1")
    }

    fn uetr(&self) -> Uetr {
        let uuid = SimpleUuid::parse(&uuid_bytes::simple(self.version(4))).expect("a UUID");
        Uetr::from_uuid(uuid.to_hyphenated()).expect("version 4")
    }

    fn money(&self, at: usize) -> MessageAmount {
        let (units, scale, letters) = self.amounts[at];
        let code: String = letters.iter().map(|b| char::from(b'A' + b % 26)).collect();
        Money::new(
            Decimal::new(units, u32::from(scale % 29)),
            code.parse().expect("three letters"),
        )
        .into()
    }

    fn date(&self) -> Date {
        self.time().date()
    }

    fn clock(&self) -> TimeOfDay {
        TimeOfDay::from_millis(self.millis.rem_euclid(86_400_000) as u32).expect("below a day")
    }

    fn amended<T>(&self, at: usize, value: T) -> Amended<T> {
        match self.marks[at] % 3 {
            0 => Amended::Absent,
            1 => Amended::Cleared,
            _ => Amended::Changed(value),
        }
    }

    pub fn outcome(&self) -> MandateActionOutcome {
        let mut outcome =
            MandateActionOutcome::new(self.time(), self.codes[0].of(OutcomeStatus::KNOWN));
        outcome.mps_user_id = self.if_(0, || self.bounded(0));
        outcome.request_id = self.if_(1, || HyphenatedUuid::from_random_bytes(self.uuid));
        outcome.mandate_identification = self.if_(2, || self.mandate());
        outcome.mandate_registration_date_time = self.if_(3, || self.time());
        outcome.mandate_status = self.if_(4, || self.codes[1].of(MandateStatus::KNOWN));
        outcome.action_identification = self.if_(5, || self.action());
        outcome.action_type = self.if_(6, || self.codes[2].of(ActionType::KNOWN));
        outcome.action_status = self.if_(7, || self.codes[3].of(ActionStatus::KNOWN));
        outcome.bilateral = self.if_(8, || self.flag);
        outcome.debtor_alias_name = self.if_(9, || self.text(1));
        outcome.resolution_requested_by = self.if_(10, || self.time());
        outcome.error = self.if_(11, || {
            let mut error =
                OutcomeErrorDetails::new(self.texts[2], self.codes[0].of(ErrorSeverity::KNOWN));
            error.text = self.if_(12, || self.text(3));
            error.user_message = self.if_(13, || self.text(4));
            error.more_info = self.if_(14, || self.text(5));
            error
        });
        outcome
    }

    pub fn notification(&self) -> MandateNotification {
        let mut notification = MandateNotification::new(
            self.time(),
            self.codes[0].of(Trigger::KNOWN),
            self.bounded(0),
            self.mandate(),
            self.action(),
            self.codes[1].of(ActionType::KNOWN),
            self.codes[2].of(ActionStatus::KNOWN),
        );
        notification.mandate_status = self.if_(0, || self.codes[3].of(MandateStatus::KNOWN));
        notification.resolution_event = self.if_(1, || {
            ResolutionEvent::new(self.texts[1]).reason_description(self.texts[2])
        });
        notification.details = match self.present >> 2 & 3 {
            0 => None,
            1 => Some(Amendment::new().debtor_information(self.debtor()).into()),
            2 => Some(self.bilateral().into()),
            _ => Some(
                StatusChange::new(self.codes[3].of(StatusChangeCode::KNOWN))
                    .reason_code(self.texts[3])
                    .into(),
            ),
        };
        notification
    }

    fn debtor(&self) -> AmendedDebtor {
        AmendedDebtor::new()
            .party_type(self.amended(0, self.codes[3].of(PartyType::KNOWN)))
            .party_name(self.amended(1, self.text(3)))
            .ultimate_party_name(self.amended(2, self.text(4)))
            .account_identification_type_code(
                self.amended(3, self.codes[2].of(AccountIdentificationType::KNOWN)),
            )
            .account_identification(self.amended(4, self.text(5)))
            .account_alias_type_code(self.amended(5, self.codes[1].of(AliasType::KNOWN)))
            .account_alias_identification(self.amended(0, self.text(1)))
            .party_reference(self.amended(1, self.text(2)))
    }

    fn bilateral(&self) -> BilateralAmendment {
        let payment = AmendedPaymentInformation::new()
            .payment_frequency(self.amended(0, self.codes[3].of(PaymentFrequency::KNOWN)))
            .payment_execute_not_before_time(match self.marks[1] % 4 {
                // A time has two marks.
                3 => Amended::ClearedByDash,
                _ => self.amended(1, self.clock()),
            })
            .count_per_period(self.amended(2, CountPerPeriod::new(self.texts[3])))
            .point_in_time(self.amended(3, PointInTime::new(self.texts[4])))
            .payment_amount_type(self.amended(4, self.codes[2].of(AmountType::KNOWN)))
            .first_payment_date(self.amended(5, self.date()))
            .first_payment_amount(self.amended(0, self.money(0)))
            .last_payment_amount(self.amended(1, self.money(1)))
            .amount(self.amended(2, self.money(2)));
        let mut amendment = BilateralAmendment::new()
            .validity_end_date(self.amended(3, self.date()))
            .transfer_arrangement(self.amended(4, self.text(5)))
            .payment_information(payment);
        amendment.automatic_extension_indicator = self.if_(5, || self.flag);
        amendment.resolution_requested_by = self.if_(6, || self.time());
        amendment
    }

    pub fn payment(&self) -> PaymentOutcome {
        let mut outcome =
            PaymentOutcome::new(self.time(), self.codes[0].of(TransactionStatus::KNOWN));
        outcome.transaction_status_reason_code = self.if_(0, || self.bounded(0));
        outcome.transaction_status_additional_information =
            self.if_(1, || vec![self.bounded(1); self.marks[0].into()]);
        outcome.mps_user_id = self.if_(2, || self.bounded(2));
        outcome.instruction_identification = self.if_(3, || self.bounded(3));
        outcome.uetr = self.if_(4, || self.uetr());
        outcome.account_servicer_reference = self.if_(5, || self.bounded(4));
        outcome.acceptance_date_time = self.if_(6, || self.time());
        outcome.original_transaction_reference = self.if_(7, || {
            let mut original = OriginalTransaction::new().creditor_name(self.texts[5]);
            original.instructed_amount = self.if_(8, || self.money(0));
            original.mandate_identification = self.if_(9, || self.mandate());
            original
        });
        outcome
    }

    pub fn query(&self) -> QueryNotification {
        let mut details = MandateDetails::new();
        details.mandate_identification = self.if_(0, || self.mandate());
        details.mandate_purpose_code = self.if_(1, || self.codes[1].of(MandatePurpose::KNOWN));
        details.debtor_information = self.if_(2, || {
            DebtorInformation::new()
                .account_identification_type_code(
                    self.codes[2].of(AccountIdentificationType::KNOWN),
                )
                .account_alias_type_code(self.codes[3].of(AliasType::KNOWN))
                .account_alias_identification(self.texts[4])
        });
        details.payment_information = self.if_(3, || {
            PaymentInformation::new()
                .payment_amount_type(self.codes[1].of(AmountType::KNOWN))
                .payment_execute_not_before_time(self.clock())
                .amount(self.money(0))
                .maximum_amount(self.money(1))
        });
        let case_type = self.codes[0].of(CaseType::KNOWN);
        let mut query = QueryNotification::new(
            self.time(),
            self.bounded(0),
            case_type,
            self.bounded(1),
            details,
        );
        query.reminder_count = self.if_(4, || self.bounded(2));
        query.re_open_case_indication = self.if_(5, || self.flag);
        query.payment_details = self.if_(6, || {
            PaymentDetails::new()
                .transaction_identification(self.texts[3])
                .transaction_date(self.date())
                .original_transaction_amount(self.money(2))
        });
        query
    }
}

/// The bytes of a UUID with a version and the standard's variant.
mod uuid_bytes {
    pub type Bytes = [u8; 16];

    pub fn with_version(mut bytes: Bytes, version: u8) -> Bytes {
        bytes[6] = bytes[6] & 0x0f | version << 4;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        bytes
    }

    pub fn simple(bytes: Bytes) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// Checks that a message is written, read back equal, and written again in the same bytes.
pub fn to_json_and_back(message: impl Into<Message>) {
    let message = message.into();
    let findings = message.validate();
    let json = message.to_json();
    let parsed =
        Message::from_json(message.kind(), json.as_bytes()).expect("what was built is read");
    assert_eq!(parsed.message.to_json(), json);
    if findings
        .iter()
        .any(|finding| finding.rule == Rule::ReadsAsCleared)
    {
        return;
    }
    assert_eq!(parsed.message, message);
    assert_eq!(parsed.findings, findings);
    assert_eq!(parsed.message.fingerprint(), message.fingerprint());
}

fn samples(kind: MessageKind) -> &'static [String] {
    static SAMPLES: LazyLock<Mutex<HashMap<&str, &'static [String]>>> =
        LazyLock::new(Mutex::default);
    let mut samples = SAMPLES.lock().expect("one thread");
    let all = samples.entry(kind.as_str()).or_insert_with(|| {
        let all: Vec<String> = samples::of(kind).iter().map(Message::to_json).collect();
        all.leak()
    });
    *all
}

/// The rules that a message breaks, and where; or where reading failed.
fn outcome<M: WebhookMessage>(json: &str) -> Result<Vec<(Rule, String)>, Option<String>> {
    match M::from_json(json.as_bytes()) {
        Ok(read) => {
            let findings = read.findings.into_iter();
            Ok(findings.map(|one| (one.rule, one.pointer)).collect())
        }
        Err(error) => Err(error.pointer().map(str::to_owned)),
    }
}

/// Bounds count characters: a longer one in the place of another changes nothing.
fn widened<M: WebhookMessage>(json: &[u8]) {
    let wider = |text: &str| text.replace('\u{e9}', "\u{1f600}");
    if let Some(text) = std::str::from_utf8(json)
        .ok()
        .filter(|text| text.contains('\u{e9}') && !text.contains('\u{1f600}'))
    {
        let mut narrow = outcome::<M>(text);
        match &mut narrow {
            Ok(found) => found
                .iter_mut()
                .for_each(|(_, place)| *place = wider(place)),
            Err(place) => *place = place.as_deref().map(wider),
        }
        assert_eq!(outcome::<M>(&wider(text)), narrow);
    }
}

/// A place is in the message, or would be in an object that is.
fn is_place(json: &Value, pointer: &str) -> bool {
    let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    json.pointer(pointer).or(json.pointer(parent)).is_some()
}

/// Reads a message, or a changed sample. What is read is written, read again equal, keeps every
/// member, and has one fingerprint in any order of its members.
pub fn parse<M: WebhookMessage + Into<Message>>(data: &[u8]) -> Option<M> {
    let json = json(data, samples(M::KIND), &[]);
    widened::<M>(&json);
    let value: Option<Value> = serde_json::from_slice(&json).ok();
    let defects = Message::defects(M::KIND, &json);
    let parsed = match M::from_json(&json) {
        Ok(parsed) => parsed,
        Err(error) => {
            logged(&error);
            match (defects, &error) {
                (Err(_), MessageError::Json(_)) => {}
                (Ok((refusals, _)), _) => {
                    assert_eq!(refusals[0].to_string(), error.to_string());
                    for refusal in refusals.iter().filter(|_| value.is_some()) {
                        let value = value.as_ref().expect("JSON");
                        let place = refusal.pointer().expect("a place");
                        assert!(is_place(value, place), "{refusal}: {value}");
                    }
                }
                (other, _) => panic!("{error}: {other:?}"),
            }
            logged(&Message::from_json(M::KIND, &json).expect_err("the same by its kind"));
            return None;
        }
    };
    let (refusals, findings) = defects.expect("JSON");
    assert!(refusals.is_empty() && findings == parsed.findings);
    let consistent = |finding: &MessageFinding| finding.rule.class() == RuleClass::Consistency;
    let deny = MessageReadOptions::new().deny_findings(true);
    match M::from_json_with(&json, &deny) {
        Ok(_) => assert!(findings.iter().all(consistent)),
        Err(error) => {
            logged(&error);
            assert!(!findings.iter().all(consistent));
        }
    }
    let message = parsed.message;
    let written = message.to_json();
    let again = M::from_json(written.as_bytes()).expect("what was written is read");
    assert_eq!(again.message, message);
    assert_eq!(again.message.to_json(), written);
    assert_eq!(again.message.fingerprint(), message.fingerprint());
    let is_spelling = |one: &MessageFinding| matches!(one.rule, Rule::Null | Rule::FractionDigits);
    assert!(!again.findings.iter().any(is_spelling));

    let any = Message::from_json(M::KIND, &json).expect("the same by its kind");
    let same: Message = message.clone().into();
    assert_eq!(any.message, same);
    let tree = Tree::parse(&json).expect("JSON").reversed().to_string();
    let reversed = M::from_json(tree.as_bytes())
        .expect("the same in another order")
        .message;
    assert_eq!(reversed.fingerprint(), message.fingerprint());

    // The peer has numbers as doubles, and refuses some.
    let value = value?;
    for finding in &findings {
        assert!(!finding.to_string().contains(char::is_control));
        assert!(is_place(&value, &finding.pointer), "{finding}: {value}");
    }
    if !findings
        .iter()
        .any(|one| is_spelling(one) || one.expected == "no leading zeros")
    {
        let kept: Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!(kept, value, "every member is kept");
    }
    Some(message)
}

/// Two deliveries of one message, and so one of their keys is the same.
pub fn are_one(one: &impl WebhookMessage, other: &impl WebhookMessage) -> bool {
    let key = |key: DuplicateKey| key.hashes().to_vec();
    let [id, other_id] = [[1; 16], [2; 16]].map(HyphenatedUuid::from_random_bytes);
    let one = key(one.duplicate_key("a", id));
    key(other.duplicate_key("a", other_id))
        .iter()
        .any(|hash| one.contains(hash))
}
