//! The rules of a store whose transaction includes the work.

use super::{account, entry, key, record};
use crate::{
    AccountId, MAX_POSITION_BYTES, PageRecord, PositionChange, Recorded, TransactionalSeenEntries,
    find_new,
};
use bankrail_values::{StoreError, StoreErrorKind};
use std::future::{Future, poll_fn};
use std::task::{Context, Poll, Waker};

/// Runs every case on two empty stores that share their records, like two processes on one
/// database.
///
/// - `work(number, fails)` makes work that adds `number` to a list of the caller, such as the
///   caller's own table, and then returns an error with the text `as a test` if it `fails`.
/// - `effects()` reads that list, in any order.
///
/// # Panics
/// If the engine breaks a rule; the panic's text states the rule.
pub async fn transactional_seen_entries_suite<S: TransactionalSeenEntries>(
    one: &S,
    other: &S,
    work: impl Fn(u32, bool) -> S::Work,
    effects: impl AsyncFn() -> Vec<u32>,
) {
    let world = World {
        one,
        other,
        work,
        effects,
    };
    world.work_and_page_are_one().await;
    world.work_that_fails_leaves_nothing().await;
    world.a_second_process_is_noticed().await;
    world.a_second_process_with_other_entries_is_noticed().await;
    world.a_second_twin_is_an_entry_of_its_own().await;
    world
        .all_entries_are_recorded_and_the_new_ones_checked()
        .await;
    world.a_position_that_is_too_long_runs_no_work().await;
    for round in 0..20 {
        world.of_two_at_once_one_is_the_first(round).await;
    }
    for polls in 0..8 {
        world.what_is_dropped_is_whole_or_nothing(polls).await;
    }
}

struct World<'a, S, W, E> {
    one: &'a S,
    other: &'a S,
    work: W,
    effects: E,
}

impl<S, W, E> World<'_, S, W, E>
where
    S: TransactionalSeenEntries,
    W: Fn(u32, bool) -> S::Work,
    E: AsyncFn() -> Vec<u32>,
{
    async fn work_and_page_are_one(&self) {
        let own = account("ONE");
        let (entries, new) = ([entry(1, 1), entry(1, 2), entry(2, 1)], [true; 3]);
        let page = PageRecord::new(&entries, &new).position(first("after the page"));
        let recorded = self
            .one
            .record_with(&own, page, (self.work)(1, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Committed)),
            "a new page is committed: {recorded:?}"
        );
        self.check(&own, [2, 1], Some("after the page")).await;
        assert_eq!(self.times(1).await, 1, "with the work's effect");
        let page = PageRecord::new(&[], &[]);
        let recorded = self
            .one
            .record_with(&own, page, (self.work)(2, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Committed)),
            "an empty page is committed: {recorded:?}"
        );
        self.check(&own, [2, 1], Some("after the page")).await;
        assert_eq!(self.times(2).await, 1, "with the work's effect");
    }

    async fn work_that_fails_leaves_nothing(&self) {
        let own = account("FAILS");
        record(self.one, &own, &[entry(1, 1)], Some("before"))
            .await
            .expect("record");
        let (entries, new) = ([entry(1, 1), entry(1, 2), entry(2, 1)], [false, true, true]);
        let page = PageRecord::new(&entries, &new)
            .position(PositionChange::new(Some("before"), Some("after")));
        match self
            .one
            .record_with(&own, page, (self.work)(10, true))
            .await
        {
            Ok(Recorded::Undone(error)) => {
                assert_eq!(error.to_string(), "as a test", "the work's own error")
            }
            other => panic!("work that fails is undone: {other:?}"),
        }
        self.check(&own, [1, 0], Some("before")).await;
        assert_eq!(self.times(10).await, 0, "work that fails has no effect");
        let recorded = self
            .one
            .record_with(&own, page, (self.work)(10, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Committed)),
            "the page can be tried again: {recorded:?}"
        );
        self.check(&own, [2, 1], Some("after")).await;
        assert_eq!(self.times(10).await, 1);
    }

    async fn a_second_process_is_noticed(&self) {
        let own = account("OVERTAKEN");
        let entries = [entry(1, 1), entry(2, 1)];
        let new = find_new(self.one, &own, &entries).await.expect("find");
        record(self.other, &own, &entries[1..], Some("of the other"))
            .await
            .expect("record");
        let page = PageRecord::new(&entries, &new)
            .position(PositionChange::new(Some("of the other"), Some("late")));
        let recorded = self
            .one
            .record_with(&own, page, (self.work)(20, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Overtaken)),
            "one new entry is known meanwhile: {recorded:?}"
        );
        self.check(&own, [0, 1], Some("of the other")).await;
        assert_eq!(
            self.times(20).await,
            0,
            "the work of a page that was overtaken does not run"
        );
        let unanswered = PageRecord::new(&entries, &[true]);
        let recorded = self
            .one
            .record_with(&own, unanswered, (self.work)(20, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Overtaken)),
            "an entry without an answer is new: {recorded:?}"
        );
        let elsewhere = account("OVERTAKEN.NOT");
        let page = PageRecord::new(&entries, &new).position(first("late"));
        let recorded = self
            .one
            .record_with(&elsewhere, page, (self.work)(21, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Committed)),
            "the other process had another account: {recorded:?}"
        );
    }

    /// Two processes walk from one position, and the bank completes an entry in between. The
    /// entry's two forms have different keys; only the position shows that they are one payment.
    async fn a_second_process_with_other_entries_is_noticed(&self) {
        let own = account("COMPLETED");
        record(self.one, &own, &[], Some("start"))
            .await
            .expect("record");
        let start = |after| PositionChange::new(Some("start"), after);
        let (completed, earlier) = ([entry(2, 1)], [entry(1, 1)]);
        let page = PageRecord::new(&completed, &[true]).position(start(Some("of the other")));
        let recorded = self
            .other
            .record_with(&own, page, (self.work)(60, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Committed)),
            "the first one is committed: {recorded:?}"
        );
        for after in [Some("late"), None] {
            let page = PageRecord::new(&earlier, &[true]).position(start(after));
            let recorded = self
                .one
                .record_with(&own, page, (self.work)(61, false))
                .await;
            assert!(
                matches!(recorded, Ok(Recorded::Overtaken)),
                "the position has moved meanwhile: {recorded:?}"
            );
        }
        self.check(&own, [0, 1], Some("of the other")).await;
        assert_eq!(
            self.times(61).await,
            0,
            "the work of a page that was overtaken does not run"
        );
    }

    async fn a_second_twin_is_an_entry_of_its_own(&self) {
        let own = account("TWINS");
        record(self.other, &own, &[entry(1, 1)], None)
            .await
            .expect("record");
        let (entries, new) = ([entry(1, 1), entry(1, 2)], [false, true]);
        let page = PageRecord::new(&entries, &new);
        let recorded = self
            .one
            .record_with(&own, page, (self.work)(30, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Committed)),
            "the second twin was new: {recorded:?}"
        );
        let recorded = self
            .other
            .record_with(&own, page, (self.work)(31, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Overtaken)),
            "and is known now: {recorded:?}"
        );
        self.check(&own, [2, 0], None).await;
    }

    async fn all_entries_are_recorded_and_the_new_ones_checked(&self) {
        let own = account("KNOWN");
        record(self.one, &own, &[entry(1, 3)], Some("before"))
            .await
            .expect("record");
        let entries = [entry(1, 1), entry(2, 1)];
        let page = PageRecord::new(&entries, &[false, false]);
        let recorded = self
            .one
            .record_with(&own, page, (self.work)(40, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Committed)),
            "only the new entries are checked: {recorded:?}"
        );
        self.check(&own, [3, 1], Some("before")).await;
    }

    async fn a_position_that_is_too_long_runs_no_work(&self) {
        let own = account("LONG");
        let too_long = "x".repeat(MAX_POSITION_BYTES + 1);
        let entries = [entry(1, 1)];
        let page = PageRecord::new(&entries, &[true]).position(first(&too_long));
        let refused = self
            .one
            .record_with(&own, page, (self.work)(50, false))
            .await
            .expect_err("too long");
        assert_eq!(
            refused.kind(),
            StoreErrorKind::Full,
            "a position over the bound is refused"
        );
        self.check(&own, [0, 0], None).await;
        assert_eq!(self.times(50).await, 0, "before the work");
    }

    async fn of_two_at_once_one_is_the_first(&self, round: u8) {
        let own = account(&format!("RACE.{round}"));
        let (mine, theirs) = ([entry(1, 1), entry(2, 1)], [entry(2, 1), entry(1, 1)]);
        let number = 100 + u32::from(round);
        let answers = both(
            self.one.record_with(
                &own,
                PageRecord::new(&mine, &[true; 2]).position(first("one")),
                (self.work)(number, false),
            ),
            self.other.record_with(
                &own,
                PageRecord::new(&theirs, &[true; 2]).position(first("other")),
                (self.work)(number, false),
            ),
        )
        .await;
        let position = match answers {
            (Ok(Recorded::Committed), Ok(Recorded::Overtaken)) => "one",
            (Ok(Recorded::Overtaken), Ok(Recorded::Committed)) => "other",
            answers => panic!("of two at once one is committed and one overtaken: {answers:?}"),
        };
        self.check(&own, [1, 1], Some(position)).await;
        assert_eq!(self.times(number).await, 1, "one effect");
    }

    /// Drops the future after this many polls, and checks that the page was recorded as a whole or
    /// not at all.
    async fn what_is_dropped_is_whole_or_nothing(&self, polls: u8) {
        let own = account(&format!("DROPPED.{polls}"));
        let entries = [entry(1, 1), entry(2, 1)];
        let number = 200 + u32::from(polls);
        {
            let page = PageRecord::new(&entries, &[true; 2]).position(first("there"));
            let mut dropped = self.one.record_with(&own, page, (self.work)(number, false));
            for _ in 0..polls {
                if dropped
                    .as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_ready()
                {
                    break;
                }
            }
        }
        // A transaction of the same account waits for the end of the one before it.
        let page = PageRecord::new(&entries, &[true; 2]).position(first("there"));
        let recorded = self
            .one
            .record_with(&own, page, (self.work)(number, false))
            .await;
        assert!(
            matches!(recorded, Ok(Recorded::Committed | Recorded::Overtaken)),
            "{recorded:?}"
        );
        self.check(&own, [1, 1], Some("there")).await;
        assert_eq!(
            self.times(number).await,
            1,
            "whole or nothing after {polls} polls"
        );
    }

    /// Checks that both stores return these counts of the first two keys and this position.
    async fn check(&self, own: &AccountId, counts: [u32; 2], position: Option<&str>) {
        for store in [self.one, self.other] {
            assert_eq!(
                store.counts(own, &[key(1), key(2)]).await.expect("counts"),
                counts,
                "of {own:?}"
            );
            assert_eq!(
                store.position(own).await.expect("position").as_deref(),
                position,
                "of {own:?}"
            );
        }
    }

    /// Returns the number of times that an effect took place.
    async fn times(&self, number: u32) -> usize {
        (self.effects)()
            .await
            .into_iter()
            .filter(|effect| *effect == number)
            .count()
    }
}

/// Returns the change to an account's first position.
fn first(after: &str) -> PositionChange<'_> {
    PositionChange::new(None, Some(after))
}

/// Runs both futures at the same time, and returns their answers.
async fn both<T>(
    one: impl Future<Output = Result<T, StoreError>>,
    other: impl Future<Output = Result<T, StoreError>>,
) -> (Result<T, StoreError>, Result<T, StoreError>) {
    let (mut one, mut other) = (Box::pin(one), Box::pin(other));
    let (mut first, mut second) = (None, None);
    poll_fn(|context| {
        if first.is_none()
            && let Poll::Ready(answer) = one.as_mut().poll(context)
        {
            first = Some(answer);
        }
        if second.is_none()
            && let Poll::Ready(answer) = other.as_mut().poll(context)
        {
            second = Some(answer);
        }
        match (first.take(), second.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            (one, other) => {
                (first, second) = (one, other);
                Poll::Pending
            }
        }
    })
    .await
}
