//! The handler of conflicts is given to the method for every kind.
//! says: expected function signature `fn(Delivery<
use bankrail::client::receivers::{Conflict, Delivery, HandlerError, Handlers};

async fn contradicted(_: Delivery<Conflict>) -> Result<(), HandlerError> {
    Ok(())
}

fn handlers() -> Handlers {
    Handlers::new().on_any(contradicted)
}

fn main() {}
