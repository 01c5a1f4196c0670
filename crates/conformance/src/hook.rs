//! How the judge orders what the judged side offers beside the specification: a booking, another time.

use crate::client::address;
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// A command that gets one JSON object on its standard input, or an address that it is posted to.
///
/// A text that begins with `https://` is an address; any other is a command, which `sh` runs. An order is carried out
/// when the command ends with 0, or the address answers with a status of success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook(String);

impl Hook {
    /// This command or address.
    #[must_use]
    pub fn new(order: impl Into<String>) -> Self {
        Self(order.into())
    }

    /// Gives an order.
    ///
    /// # Errors
    /// What became of it.
    pub(crate) async fn order(&self, client: &reqwest::Client, order: &Value) -> Result<(), String> {
        let Ok(url) = address(&self.0) else {
            let (command, order) = (self.0.clone(), order.to_string());
            let ran = tokio::task::spawn_blocking(move || run(&command, &order)).await;
            return ran.map_err(|error| error.to_string())?;
        };
        let request = client.post(url).header("content-type", "application/json").body(order.to_string());
        let answer = request.send().await.map_err(|error| bankrail_values::causes(&error.without_url()))?;
        let status = answer.status();
        let wrong = || format!("expected a status of success, found {}", status.as_u16());
        status.is_success().then_some(()).ok_or_else(wrong)
    }
}

fn run(command: &str, order: &str) -> Result<(), String> {
    let mut command = Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let child = command.as_mut().map_err(|error| error.to_string())?;
    // A command that does not read all of it may still do what it should.
    drop(child.stdin.take().map(|mut input| input.write_all(order.as_bytes())));
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("expected the command to end with 0, found {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_the_order_and_says_whether_it_is_done() {
        assert_eq!(run("grep -q '\"amount\":\"12.50\"'", "{\"amount\":\"12.50\"}"), Ok(()));
        assert!(run("exit 3", "{}").unwrap_err().contains("found exit status: 3"));
    }
}
