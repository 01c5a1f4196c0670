//! The notices of a page, for the log and the metrics.

use super::handler::NewEntries;
use crate::measure;
use bankrail_statement::{AccountNotice, EntryRelation};
use bankrail_values::HyphenatedUuid;
use std::collections::BTreeMap;

/// The number of notices of each kind on a page, for the log line when the page is recorded.
pub(super) struct Notices {
    counts: BTreeMap<&'static str, u64>,
    /// The place of the first entry that cannot be read.
    place: Option<String>,
    request_key: HyphenatedUuid,
}

const NOTICES: &str = "bankrail_poll_notices_total";

/// The kinds of notices that are logged at `INFO`, because ordinary days have them.
const ORDINARY: [&str; 4] = ["may_replace", "replaced", "returned", "text_changed"];

/// The advice about an entry that cannot be read.
const UNREADABLE: &str = "report the entry to the bank: until a walk reads every entry, none of this account is \
                          noticed as vanished, and no balance gap";

/// Begins the counts of all kinds, because an alarm over an increase does not see a count that
/// begins above zero.
pub(super) fn begin() {
    for kind in AccountNotice::KINDS
        .into_iter()
        .chain(ORDINARY)
        .chain(["late"])
    {
        measure::count(NOTICES, &[("notice", kind)], 0);
    }
}

impl Notices {
    pub(super) fn of(new: &NewEntries) -> Self {
        let mut counts = BTreeMap::new();
        let mut count = |kind| *counts.entry(kind).or_default() += 1;
        for entry in new.entries.iter().chain(&new.again) {
            if !matches!(&entry.relation, EntryRelation::New { may_replace } if may_replace.is_empty())
            {
                count(entry.relation.kind());
            }
            if entry.late {
                count("late");
            }
        }
        new.notices.iter().map(AccountNotice::kind).for_each(count);
        let mut places = new.notices.iter().filter_map(|notice| match notice {
            AccountNotice::Unreadable { place } => Some(place.clone()),
            _ => None,
        });
        Self {
            counts,
            place: places.next(),
            request_key: new.request_key(),
        }
    }

    pub(super) fn log(self, account: &str) {
        let Self {
            counts,
            place,
            request_key,
        } = self;
        for (notice, count) in counts {
            measure::count(NOTICES, &[("notice", notice)], count);
            if ORDINARY.contains(&notice) {
                tracing::info!(account, notice, count, %request_key, "earlier entries have changed");
            } else {
                let place = place.as_deref().filter(|_| notice == "unreadable");
                let advice = place.map(|_| UNREADABLE);
                tracing::warn!(account, notice, count, place, advice, %request_key, "the statement is not what was expected");
            }
        }
    }
}
