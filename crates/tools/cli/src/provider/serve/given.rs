//! Which options of serving were given.

use super::settings::Arguments;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

/// The options of serving. They are refused beside a command, so this type records which of them
/// were given.
#[derive(Debug)]
pub(in crate::provider) struct Given {
    pub(in crate::provider) arguments: Arguments,
    /// An option that was given, such as `--limits`.
    pub(in crate::provider) option: Option<String>,
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            arguments: Arguments::from_arg_matches(matches)?,
            option: option(matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        Arguments::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Arguments::augment_args(command)
    }
}

/// Returns the first option that the command line sets, even to its default.
fn option(matches: &ArgMatches) -> Option<String> {
    let all = Arguments::augment_args(Command::new("provider"));
    let is_given = |option: &&Arg| {
        matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let name = all.get_arguments().find(is_given)?.get_long()?;
    Some(format!("--{name}"))
}
