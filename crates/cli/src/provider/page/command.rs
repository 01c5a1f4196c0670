//! The commands that a reader of the page may want to give next.

use super::Shared;
use bankrail::mailbox::EntryId;
use std::path::Path;

/// A command and what it does.
pub(super) struct Command {
    pub(super) does: &'static str,
    pub(super) line: String,
}

/// The commands for the data folder of this provider.
pub(super) struct Commands<'a>(&'a Shared);

impl<'a> Commands<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self(shared)
    }

    fn command(&self, does: &'static str, words: &[&str]) -> Command {
        let mut line = format!("bankrail provider --data {}", path(&self.0.data.data));
        if let Some(config) = &self.0.data.config {
            line.push_str(" --config ");
            line.push_str(&path(config));
        }
        for word in words {
            line.push(' ');
            line.push_str(&quoted(word));
        }
        Command { does, line }
    }

    pub(super) fn show_entry(&self, id: EntryId) -> Command {
        self.command("Show the message and its deliveries", &["outbox", "show", &id.to_string()])
    }

    pub(super) fn resend_entry(&self, id: EntryId) -> Command {
        self.command("Resend it", &["outbox", "resend", &id.to_string()])
    }

    pub(super) fn drop_entry(&self, id: EntryId) -> Command {
        self.command("Drop it: it is never delivered then", &["outbox", "drop", &id.to_string()])
    }

    pub(super) fn dead_letters(&self) -> Command {
        self.command("List the dead letters", &["outbox", "list", "--state", "dead_letter"])
    }

    pub(super) fn pause(&self, endpoint: &str) -> Command {
        self.command("Stop deliveries to it", &["outbox", "pause", endpoint])
    }

    pub(super) fn resume(&self, endpoint: &str) -> Command {
        self.command("Resume deliveries to it", &["outbox", "resume", endpoint])
    }

    pub(super) fn resend_all(&self, endpoint: &str) -> Command {
        self.command("Resend all its dead letters", &["outbox", "resend", "--endpoint", endpoint])
    }

    pub(super) fn send(&self, endpoint: &str) -> Command {
        self.command("Send it a sample message", &["send", endpoint, "--kind", "query"])
    }

    pub(super) fn add_customer(&self) -> Command {
        self.command("Add a customer", &["customers", "add", "CODE", "--key", "PUBLIC.pem"])
    }

    pub(super) fn rotate_keys(&self, customer: &str) -> Command {
        self.command("Give it a new API key", &["customers", "rotate", customer])
    }

    pub(super) fn book(&self, account: &str) -> Command {
        self.command("Book an entry", &["book", account, "25.00"])
    }
}

/// A path that is the same wherever the command is given.
fn path(path: &Path) -> String {
    quoted(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy())
}

/// A word as a POSIX shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+=,-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_mean_nothing_to_a_shell() {
        for (word, expected) in [
            ("/var/lib/bank-1/data", "/var/lib/bank-1/data"),
            ("my data", "'my data'"),
            ("$(reboot)", "'$(reboot)'"),
            ("a'b;c", r"'a'\''b;c'"),
            ("~", "'~'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
