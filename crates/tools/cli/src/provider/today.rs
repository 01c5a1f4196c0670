//! The entries of the test accounts, booked every day.

use crate::failure::{Failure, causes};
use bankrail::bank::SqliteLedger;
use bankrail::values::Date;
use bankrail_emulator::{Emulator, TestAccount};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The pause between two looks for a new day.
const PAUSE: Duration = Duration::from_secs(1);

/// Opens the test accounts, and books their entries of today, each once.
pub(super) async fn book(ledger: &SqliteLedger, emulator: &Emulator) -> Result<Date, Failure> {
    let today = emulator.today();
    book_day(ledger, today).await.map_err(|error| {
        let what = format!("the test accounts cannot be booked: {}", causes(&*error));
        Failure::unable(what, "start with another folder with --data")
    })?;
    Ok(today)
}

async fn book_day(ledger: &SqliteLedger, day: Date) -> Result<(), Box<dyn Error>> {
    for account in TestAccount::ALL {
        ledger
            .open_account(&account.id(), account.opening())
            .await?;
        for booking in account.bookings(day) {
            ledger.book(&account.id(), &booking).await?;
        }
    }
    Ok(())
}

/// Books each day that begins after `day`; runs forever.
pub(super) async fn follow(ledger: SqliteLedger, emulator: Arc<Emulator>, mut day: Date) {
    loop {
        // A test may set the clock, so the day is looked at and not waited for.
        tokio::time::sleep(PAUSE).await;
        let today = emulator.today();
        if today == day {
            continue;
        }
        match book_day(&ledger, today)
            .await
            .map_err(|error| error.to_string())
        {
            Ok(()) => day = today,
            Err(error) => tracing::error!(error, "the test accounts were not booked"),
        }
    }
}
