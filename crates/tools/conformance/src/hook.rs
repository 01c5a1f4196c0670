//! Orders to the judged side that the specification does not have, such as a booking or a step of
//! the clock.

use crate::client::address;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// A command that receives one JSON object on its standard input, or an address that the object is
/// posted to.
///
/// A text that begins with `https://` is an address; any other is a command, which `sh` runs. An
/// order is carried out when the command ends with 0, or the address answers with a status of
/// success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook(String);

impl Hook {
    /// Makes a hook from a command or an address.
    #[must_use]
    pub fn new(order: impl Into<String>) -> Self {
        Self(order.into())
    }

    /// Carries out an order.
    ///
    /// # Errors
    /// The reason why the order was not carried out.
    pub(crate) async fn order(
        &self,
        client: &reqwest::Client,
        longest: Duration,
        order: &Value,
    ) -> Result<(), String> {
        let Ok(url) = address(&self.0) else {
            return run(&self.0, &order.to_string(), longest).await;
        };
        let request = client
            .post(url)
            .header("content-type", "application/json")
            .body(order.to_string());
        let answer = request
            .send()
            .await
            .map_err(|error| bankrail_values::causes(&error.without_url()))?;
        let status = answer.status();
        let wrong = || format!("expected a status of success, found {}", status.as_u16());
        status.is_success().then_some(()).ok_or_else(wrong)
    }
}

async fn run(command: &str, order: &str, longest: Duration) -> Result<(), String> {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        // A command that takes too long must not continue during the following rows.
        .kill_on_drop(true);
    let mut child = shell.spawn().map_err(|error| error.to_string())?;
    let input = child.stdin.take();
    // A command that hangs would keep the judge from all rows that follow.
    let ended = timeout(longest, async {
        if let Some(mut input) = input {
            // A command may do its work without reading all of the input.
            let _ = input.write_all(order.as_bytes()).await;
        }
        child.wait().await
    });
    let ended = ended
        .await
        .map_err(|_| format!("expected the command to end within {} s", longest.as_secs()))?;
    let status = ended.map_err(|error| error.to_string())?;
    if status.success() {
        Ok(())
    } else {
        Err(format!(
            "expected the command to end with 0, found {status}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_command_gets_the_order_and_says_whether_it_is_done() {
        let order = "{\"amount\":\"12.50\"}";
        assert_eq!(
            run("grep -q '\"amount\":\"12.50\"'", order, LONGEST).await,
            Ok(())
        );
        assert!(
            run("exit 3", order, LONGEST)
                .await
                .unwrap_err()
                .contains("found exit status: 3")
        );
        let endless = run("exec sleep 600", order, Duration::from_millis(50))
            .await
            .unwrap_err();
        assert!(
            endless.contains("expected the command to end within"),
            "{endless}"
        );
    }
}
