//! Duplicates, and messages out of order (Specification: "Events").

use super::{Asks, EVERY, EachKind, Make, Right, Row, same};

const KNOWN: EachKind<&str> = EachKind {
    mandate_outcome: "S23.2",
    mandate_notification: "S23.4",
    payment_outcome: "S23.6",
    query: "S23.9",
};

pub(super) const ROWS: &[Row] = &[
    knows(
        same("S21.26"),
        Right::Known,
        "takes {one} again, byte for byte, under the same X-Message-Id",
        &[
            ("the first delivery", Make::Whole),
            ("the same delivery again", Make::Again),
            ("the same delivery again", Make::Again),
        ],
    ),
    knows(
        KNOWN,
        Right::Same,
        "takes {one} about an event that it knows",
        &[
            ("the first delivery", Make::Whole),
            (
                "the same event, sealed anew, under another X-Message-Id",
                Make::Regenerated,
            ),
        ],
    ),
    knows(
        KNOWN,
        Right::Together,
        "takes {one} that comes twice at once",
        &[
            ("the first delivery", Make::Whole),
            (
                "the same event, sealed anew, under another X-Message-Id",
                Make::Regenerated,
            ),
        ],
    ),
];

const fn knows(
    id: EachKind<&'static str>,
    right: Right,
    title: &'static str,
    deliveries: &'static [(&'static str, Make)],
) -> Row {
    Row {
        id,
        on: EVERY,
        title,
        right,
        asks: Asks::Deliveries(deliveries),
    }
}
