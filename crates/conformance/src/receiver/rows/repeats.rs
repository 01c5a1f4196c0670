//! Duplicates, and messages out of order (Specification: "Events").

use super::{EVERY, EachKind, Make, Row, accepts, same};

const KNOWN: EachKind<&str> =
    EachKind { mandate_outcome: "S23.2", mandate_notification: "S23.4", payment_outcome: "S23.6", query: "S23.9" };

pub(super) const ROWS: &[Row] = &[
    accepts(
        same("S21.26"),
        EVERY,
        "takes {one} again, byte for byte, under the same X-Message-Id",
        &[
            ("the first delivery", Make::Whole),
            ("the same delivery again", Make::Again),
            ("the same delivery again", Make::Again),
        ],
    ),
    accepts(
        KNOWN,
        EVERY,
        "takes {one} about an event that it knows",
        &[
            ("the first delivery", Make::Whole),
            ("the same event, sealed anew, under another X-Message-Id", Make::Regenerated),
        ],
    ),
];
