//! The day of a report made now, for the side that books.

use super::time_zone::ReportTimeZone;
use bankrail_values::{Clock, Date, Timestamp};
use std::sync::{Arc, Mutex, PoisonError};

/// The day of a report made now: the day of the provider's clock in the time zone of its reports
/// ([`ProviderOptions::report_time_zone`](crate::ProviderOptions::report_time_zone)). Cheap to
/// clone.
///
/// A statement lists the entries of one day: the day on which its first page is requested, in that
/// time zone. So a customer sees an entry only by a request on its booking day. Therefore the side
/// that books takes [`ReportDay::today`] as the booking day, not the day in UTC: while it is a
/// morning in Sydney, UTC has the day before.
///
/// [`Provider::report_day`](crate::Provider::report_day) returns it, and
/// [`Provider::new`](crate::Provider::new) passes it to its [`Ledger`](crate::Ledger).
#[derive(Clone, Debug)]
pub struct ReportDay {
    clock: Arc<dyn Clock>,
    zone: ReportTimeZone,
    policy: BookingDayPolicy,
    /// The days of the last warning: that of the booking, that of the report.
    warned: Arc<Mutex<Option<(Date, Date)>>>,
}

impl ReportDay {
    pub(crate) fn new(
        clock: Arc<dyn Clock>,
        zone: ReportTimeZone,
        policy: BookingDayPolicy,
    ) -> Self {
        Self {
            clock,
            zone,
            policy,
            warned: Arc::default(),
        }
    }

    /// Returns the day of a report made now.
    #[must_use]
    pub fn today(&self) -> Date {
        self.of(self.clock.now())
    }

    /// Returns the day of a report made at this time.
    pub(crate) fn of(&self, at: Timestamp) -> Date {
        self.zone.day_of(at)
    }

    /// Compares the day of a booking made now with today, by
    /// [`ProviderOptions::booking_day_policy`](crate::ProviderOptions::booking_day_policy).
    ///
    /// # Errors
    /// [`BookingDayError`] if they differ and the policy is [`BookingDayPolicy::Refuse`].
    pub fn check(&self, booking_day: Date) -> Result<(), BookingDayError> {
        let report_day = self.today();
        if booking_day == report_day {
            return Ok(());
        }
        match self.policy {
            BookingDayPolicy::Refuse => {
                return Err(BookingDayError {
                    booking_day,
                    report_day,
                });
            }
            BookingDayPolicy::Accept => return Ok(()),
            BookingDayPolicy::Warn => {}
        }
        let days = Some((booking_day, report_day));
        // Only compared and replaced under the lock. A poisoned one is used on: the value is whole.
        let before = std::mem::replace(
            &mut *self.warned.lock().unwrap_or_else(PoisonError::into_inner),
            days,
        );
        if before != days {
            tracing::warn!(
                %booking_day,
                %report_day,
                "the booking day is not the day of the reports; nobody who asks today sees the entry"
            );
        }
        Ok(())
    }
}

/// Treatments of a booking whose day is not that of a report made now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BookingDayPolicy {
    /// The entry is booked, and a warning names both days, unless they are those of the last
    /// warning. Back-dated bookings are possible, and the log shows a booking side that takes its
    /// day from another time zone.
    #[default]
    Warn,
    /// The booking is refused. Midnight may pass between the choice of the day and the booking;
    /// then book on the new day.
    Refuse,
    /// The entry is booked without a warning.
    Accept,
}

/// The error of a booking whose day is not that of a report made now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("booking day: expected {report_day}, the day of the reports, found {booking_day}")]
#[non_exhaustive]
pub struct BookingDayError {
    /// The day of the booking.
    pub booking_day: Date,
    /// The day of a report made now.
    pub report_day: Date,
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_values::ManualClock;

    #[test]
    fn a_booking_of_another_day_is_refused_if_the_policy_says_so() {
        let noon = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let [yesterday, today] =
            ["2026-11-20", "2026-11-21"].map(|day| day.parse::<Date>().unwrap());
        for policy in [
            BookingDayPolicy::Warn,
            BookingDayPolicy::Refuse,
            BookingDayPolicy::Accept,
        ] {
            let day = ReportDay::new(
                Arc::new(ManualClock::new(noon)),
                ReportTimeZone::default(),
                policy,
            );
            assert_eq!(day.today(), today);
            assert_eq!(day.check(today), Ok(()));
            let refused = Err(BookingDayError {
                booking_day: yesterday,
                report_day: today,
            });
            assert_eq!(
                day.check(yesterday),
                if policy == BookingDayPolicy::Refuse {
                    refused
                } else {
                    Ok(())
                }
            );
            let warned = (policy == BookingDayPolicy::Warn).then_some((yesterday, today));
            assert_eq!(*day.warned.lock().unwrap(), warned, "{policy:?}");
        }
    }
}
