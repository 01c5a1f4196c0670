//! Shows the webhook messages. One is read with findings, and one is refused. A sample of each kind
//! is shown with its duplicate key, and then the state of a payment whose outcomes arrive out of
//! order.

use bankrail::values::{HyphenatedUuid, MainError};
use bankrail::webhook::history::PaymentHistory;
use bankrail::webhook::{Message, MessageKind, PaymentOutcome, TransactionStatus, samples};

fn main() -> Result<(), MainError> {
    println!("a message that is read with findings:");
    let json = br#"{"creation_date_time":"2021-07-29T01:02:03Z","transaction_status":"RJCT",
                    "instruction_identification":"I-42"}"#;
    let parsed = Message::from_json(MessageKind::PaymentOutcome, json)?;
    for finding in &parsed.findings {
        println!("  {finding}");
    }
    let refused = Message::from_json(MessageKind::PaymentOutcome, br#"{"transaction_status":7}"#);
    println!(
        "  refused: {}\n",
        refused.err().ok_or("expected a refusal")?
    );

    println!("one valid message of each kind:");
    let message_id: HyphenatedUuid = "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11".parse()?;
    for kind in MessageKind::ALL {
        let message = samples::all()
            .into_iter()
            .find(|message| message.kind() == kind)
            .ok_or("expected a sample")?;
        let key = message.duplicate_key("CUSTOMERCODE", message_id);
        println!(
            "  POST {}, {} duplicate key(s)",
            kind.default_path(),
            key.hashes().len()
        );
        println!("    {}", message.to_json());
    }

    println!("\nsettled (ACSC) arrives before warehoused (PDNG):");
    let mut history = PaymentHistory::new();
    for (status, at) in [
        (
            TransactionStatus::SettlementCompleted,
            "2021-07-30T04:00:00.000Z",
        ),
        (TransactionStatus::Warehoused, "2021-07-29T01:00:00.000Z"),
    ] {
        let outcome = PaymentOutcome::new(at.parse()?, status);
        println!(
            "  {} of {at}: {:?}",
            outcome.transaction_status,
            history.apply(&outcome)
        );
    }
    println!("  the payment is {:?}", history.state());
    Ok(())
}
