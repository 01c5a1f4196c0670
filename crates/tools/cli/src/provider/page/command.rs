//! The commands that a reader of the page may want to give next.

use super::Shared;
use super::control::BUTTONS;
use bankrail::emulator::Operation;
use std::path::Path;

/// A command and its purpose.
pub(super) struct Command {
    pub(super) does: &'static str,
    pub(super) line: String,
    pub(super) button: Option<Button>,
}

/// The form that is sent in place of a command.
pub(super) struct Button {
    pub(super) token: String,
    pub(super) operation: &'static str,
    pub(super) member: &'static str,
    pub(super) about: String,
}

/// A task of a reader: an operation of the control that is given one member.
#[derive(Clone, Copy)]
pub(super) struct Task(&'static str, Operation, &'static str);

pub(super) const SHOW_ENTRY: Task = Task(
    "Show the message and its deliveries",
    Operation::Message,
    "number",
);
pub(super) const RESEND_ENTRY: Task = Task(
    "Resend, under the same X-Message-Id",
    Operation::Resend,
    "number",
);
pub(super) const DROP_ENTRY: Task = Task("Drop: never deliver it", Operation::Drop, "number");
pub(super) const LIST_STATE: Task = Task("List them", Operation::Messages, "state");
pub(super) const PAUSE: Task = Task("Pause deliveries", Operation::Pause, "endpoint");
pub(super) const RESUME: Task = Task(
    "Resume deliveries: send all waiting messages now",
    Operation::Resume,
    "endpoint",
);
pub(super) const RESEND_ALL: Task = Task("Resend all dead letters", Operation::Resend, "endpoint");
pub(super) const SEND: Task = Task("Send a sample message", Operation::Send, "endpoint");

impl Shared {
    /// Returns the command of a task for the data folder of this provider.
    pub(super) fn command(&self, task: Task, about: &str) -> Command {
        let Task(does, operation, member) = task;
        let mut line = format!("bankrail provider --data {}", path(&self.data.data));
        if let Some(config) = &self.data.config {
            line.push_str(" --config ");
            line.push_str(&path(config));
        }
        let operation_name = operation.name();
        line.push_str(&format!(
            " control {operation_name} --{member} {}",
            quoted(about)
        ));
        if operation == Operation::Send {
            line = format!("bankrail message sample query | {line} --message - --wait 20");
        }
        let buttons = self.buttons.as_ref();
        let button = buttons.filter(|_| BUTTONS.contains(&operation));
        let button = button.map(|buttons| Button {
            token: buttons.token.expose_secret().to_owned(),
            operation: operation_name,
            member,
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
