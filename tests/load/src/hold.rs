//! Connections that idle.

use crate::Failure;
use crate::connection::{Connection, Dialer, Target};
use futures_util::{StreamExt as _, stream};
use std::io::Write as _;
use std::path::PathBuf;
use tokio::io::AsyncReadExt as _;

/// The connections that are opened at once.
const TOGETHER: usize = 64;

/// Prints how many connections were opened, and at the end of the input how many still answer.
pub(crate) async fn hold(
    target: Target,
    request: PathBuf,
    connections: usize,
) -> Result<(), Failure> {
    let (dialer, request) = (Dialer::new(&target)?, std::fs::read(request)?);
    let open = async |number: usize| -> Result<Connection, Failure> {
        let mut connection = dialer.open(number).await?;
        connection.exchange(&request).await?;
        Ok(connection)
    };
    let opened = stream::iter(0..connections).map(open);
    let mut opened: Vec<_> = opened.buffer_unordered(TOGETHER).collect().await;
    let count = opened
        .iter()
        .filter(|connection| connection.is_ok())
        .count();
    writeln!(std::io::stdout(), "{count}")?;
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    let mut alive = 0;
    for connection in opened.iter_mut().flatten() {
        alive += usize::from(connection.exchange(&request).await.is_ok());
    }
    writeln!(std::io::stdout(), "{alive}")?;
    Ok(())
}
