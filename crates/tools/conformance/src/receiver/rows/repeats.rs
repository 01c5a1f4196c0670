//! Duplicates, and messages out of order (Specification: "Events").

use super::{Content, EachKind, Expected, Kinds, Recipe, Row, same};

const KNOWN: EachKind<&str> = EachKind {
    mandate_outcome: "S23.2",
    mandate_notification: "S23.4",
    payment_outcome: "S23.6",
    query: "S23.9",
};

pub(super) const ROWS: &[Row] = &[
    knows(
        same("S21.26"),
        Expected::Known,
        "takes {one} again, byte for byte, under the same X-Message-Id",
        &[
            ("the first delivery", Recipe::Whole),
            ("the same delivery again", Recipe::Again),
            ("the same delivery again", Recipe::Again),
        ],
    ),
    knows(
        KNOWN,
        Expected::Same,
        "takes {one} about an event that it knows",
        &[
            ("the first delivery", Recipe::Whole),
            (
                "the same event, sealed anew, under another X-Message-Id",
                Recipe::Regenerated,
            ),
        ],
    ),
    knows(
        KNOWN,
        Expected::Together,
        "takes {one} that comes twice at once",
        &[
            ("the first delivery", Recipe::Whole),
            (
                "the same event, sealed anew, under another X-Message-Id",
                Recipe::Regenerated,
            ),
        ],
    ),
];

const fn knows(
    id: EachKind<&'static str>,
    expected: Expected,
    title: &'static str,
    deliveries: &'static [(&'static str, Recipe)],
) -> Row {
    Row {
        id,
        kinds: Kinds::Every,
        title,
        expected,
        content: Content::Deliveries(deliveries),
    }
}
