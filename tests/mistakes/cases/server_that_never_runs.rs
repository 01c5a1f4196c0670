//! Health and metrics are listened for and never served.
//! says: a server serves while its `run` is awaited
#![deny(unused_must_use)]
use bankrail::http::operations::{Operations, OperationsOptions};

async fn operate(options: OperationsOptions) -> std::io::Result<()> {
    Operations::listen("127.0.0.1:9091", options).await?;
    Ok(())
}

fn main() {}
