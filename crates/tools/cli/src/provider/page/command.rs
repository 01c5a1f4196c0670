//! The commands that a reader of the page may want to give next.

use super::Shared;
use std::path::Path;

/// A command and what it does.
pub(super) struct Command {
    pub(super) does: &'static str,
    pub(super) line: String,
    pub(super) button: Option<Button>,
}

/// What a button sends in place of a command.
pub(super) struct Button {
    pub(super) token: String,
    pub(super) task: &'static str,
    pub(super) about: String,
}

/// What a command does, and its words after `bankrail provider`, with `{}` for what it is about.
pub(super) type Task = (&'static str, &'static str);

pub(super) const SHOW_ENTRY: Task = ("Show the message and its deliveries", "outbox show {}");
pub(super) const RESEND_ENTRY: Task = ("Resend", "outbox resend {}");
pub(super) const RESEND_DELIVERED: Task = (
    "Resend now, under the same X-Message-Id",
    "control resend --number {}",
);
pub(super) const DROP_ENTRY: Task = ("Drop: never deliver it", "outbox drop {}");
pub(super) const DEAD_LETTERS: Task = ("List the dead letters", "outbox list --state dead_letter");
pub(super) const PAUSE: Task = ("Pause deliveries", "outbox pause {}");
pub(super) const RESUME: Task = (
    "Resume deliveries: send all waiting messages now",
    "outbox resume {}",
);
pub(super) const RESEND_ALL: Task = ("Resend all dead letters", "outbox resend --endpoint {}");
pub(super) const SEND: Task = ("Send a sample message", "send {} --kind query");
pub(super) const ADD_CUSTOMER: Task = ("Add a customer", "customers add CODE --key PUBLIC.pem");
pub(super) const ROTATE_KEYS: Task = ("Issue a new API key", "customers rotate {}");
pub(super) const BOOK: Task = ("Book an entry", "book {} 25.00");

impl Shared {
    /// The command of a task for the data folder of this provider.
    pub(super) fn command(&self, (does, words): Task, about: &str) -> Command {
        let mut line = format!("bankrail provider --data {}", path(&self.data.data));
        if let Some(config) = &self.data.config {
            line.push_str(" --config ");
            line.push_str(&path(config));
        }
        for word in words.split(' ') {
            line.push(' ');
            line.push_str(&quoted(if word == "{}" { about } else { word }));
        }
        let token = self
            .buttons
            .as_ref()
            .and_then(|buttons| buttons.token_of((does, words)));
        let button = token.map(|token| Button {
            token: token.to_owned(),
            task: words,
            about: about.to_owned(),
        });
        Command { does, line, button }
    }
}

/// A path that is the same wherever the command is given.
fn path(path: &Path) -> String {
    quoted(
        &std::path::absolute(path)
            .unwrap_or_else(|_| path.to_owned())
            .to_string_lossy(),
    )
}

/// A word as a POSIX shell reads it.
pub(super) fn quoted(word: &str) -> String {
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
