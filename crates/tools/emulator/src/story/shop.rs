//! A day of a shop, as bookings.

use crate::ids::Ids;
use bankrail_bank::{Booking, BookingKind};
use bankrail_values::{Currency, Date, Decimal, Money};

/// The bookings of a day on a shop's account.
///
/// ```
/// use bankrail_emulator::ShopStory;
/// use bankrail_values::{Currency, Date};
/// let booked = ShopStory::day(7, Currency::AUD, Date::parse("2026-03-02")?);
/// assert_eq!(booked, ShopStory::day(7, Currency::AUD, Date::parse("2026-03-02")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "there is nothing to set")]
#[doc(hidden)]
pub struct ShopStory;

const LINES: [(BookingKind, &str, &str); 4] = [
    (BookingKind::FastPaymentIn, "Jarrah Joinery", "invoice"),
    (BookingKind::FastPaymentIn, "Zoë O'Brien", "thanks 👍 order"),
    (BookingKind::TransferIn, "Blue Gum Café", "order"),
    (BookingKind::FastPaymentOut, "Wattle Wholesale", "delivery"),
];

impl ShopStory {
    /// Returns eight to fifteen bookings of a day, the last two of them the day's card payments and
    /// the fee. The same seed and day give the same bookings, each with a reference under which a
    /// ledger books it once.
    #[must_use]
    pub fn day(seed: u64, currency: Currency, day: Date) -> Vec<Booking> {
        let digits = day.to_string().replace('-', "");
        let ids = Ids::new(seed ^ digits.parse::<u64>().unwrap_or_default());
        let amount = |most: u64| {
            let units = i64::try_from(ids.number() % most).unwrap_or_default() + 1;
            Money::new(
                Decimal::new(units, currency.minor_units().unwrap_or(2).into()),
                currency,
            )
        };
        let mut booked = Vec::new();
        for (kind, name, text) in LINES
            .iter()
            .cycle()
            .take(usize::try_from(ids.number() % 8).unwrap_or_default() + 6)
        {
            let text = format!("{text} {}", ids.number() % 10_000);
            booked.push(
                Booking::new(*kind, amount(50_000), day)
                    .counterparty(*name)
                    .narrative(text),
            );
        }
        booked.push(
            Booking::new(BookingKind::CardSettlement, amount(500_000), day)
                .narrative("cards of the day"),
        );
        booked.push(
            Booking::new(BookingKind::Fee, amount(500), day).narrative("fee for card payments"),
        );
        let named = |(at, booking): (usize, Booking)| {
            booking.reference(format!("S{}-{digits}-{at}", seed % 1_000_000))
        };
        booked.into_iter().enumerate().map(named).collect()
    }
}
