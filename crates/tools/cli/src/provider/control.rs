//! `bankrail provider control`: carries out operations on a running provider, or on its folder.

mod data;
mod past;

pub(super) use data::FolderData;

use super::demo::new_api_key;
use super::serve::{self, Bank, FaultNames};
use super::{Folders, damaged, read};
use crate::failure::{Failure, Outcome, causes};
use crate::files::{NewFile, write};
use crate::input;
use crate::output::Output;
use crate::text::{shown, shown_json};
use bankrail::http::tls::client_config;
use bankrail::values::SecretString;
use bankrail_emulator::{Arguments, ControlError, MemberKind, Operation};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use http::header::AUTHORIZATION;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The maximum number of bytes of a file that is sent.
const MAX_FILE_BYTES: usize = 8 << 20;

/// The address of a provider's control, and the token for it.
pub(super) struct Access {
    pub(super) url: String,
    pub(super) token: SecretString,
    /// The file that contains both.
    pub(super) file: PathBuf,
}

impl Access {
    /// Writes the file for a control at an address, with the token that the file already has, or
    /// with a new one.
    pub(super) fn of(folders: &Folders, address: SocketAddr) -> Result<Self, Failure> {
        let (file, url) = (folders.data("control.json"), format!("http://{address}"));
        let token = if file.exists() {
            Self::read(folders)?.token
        } else {
            new_api_key()?.as_str().into()
        };
        let text =
            Zeroizing::new(json!({ "url": url, "token": token.expose_secret() }).to_string());
        write(&[NewFile::private(&file, text.as_bytes())], true)?;
        Ok(Self { url, token, file })
    }

    fn read(folders: &Folders) -> Result<Self, Failure> {
        let file = folders.data("control.json");
        if !file.exists() {
            return Err(Failure::unable(
                format_args!(
                    "{}: expected a provider with a control, found none",
                    folders.root().display()
                ),
                "start bankrail provider with --control 127.0.0.1:0",
            ));
        }
        let text = Zeroizing::new(read(&file)?);
        let said: Value = serde_json::from_slice(&text).map_err(|error| damaged(&file, &error))?;
        let [url, token] =
            ["url", "token"].map(|name| said.get(name).and_then(Value::as_str).unwrap_or_default());
        Ok(Self {
            url: url.to_owned(),
            token: token.into(),
            file,
        })
    }
}

/// An operation with its arguments on the command line.
#[derive(Debug)]
pub(super) struct Order {
    operation: Operation,
    /// The file that has all that it is given.
    from: Option<String>,
    given: Vec<(&'static str, MemberKind, String)>,
}

impl FromArgMatches for Order {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, matches) = matches
            .subcommand()
            .ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))?;
        let operation: Operation = name
            .parse()
            .map_err(|_| clap::Error::new(clap::error::ErrorKind::InvalidSubcommand))?;
        let mut given = Vec::new();
        for member in operation.members() {
            let value = matches.get_one::<String>(member.name);
            given.extend(value.map(|value| (member.name, member.kind, value.clone())));
        }
        Ok(Self {
            operation,
            from: matches.try_get_one("from").ok().flatten().cloned(),
            given,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Order {
    fn augment_args(command: Command) -> Command {
        let command = command
            .subcommand_required(true)
            .arg_required_else_help(true);
        Operation::ALL.iter().fold(command, |command, operation| {
            command.subcommand(described(*operation))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn described(operation: Operation) -> Command {
    let (name, about) = (operation.name(), operation.about().trim_end_matches('.'));
    let example = format!("bankrail provider control {name} {}", operation.example());
    let command = Command::new(name).about(about);
    let command = command.after_help(format!("Example:\n  {}", example.trim_end()));
    let from = Arg::new("from")
        .long("from")
        .value_name("FILE")
        .exclusive(true);
    let from = from.help("A file with all arguments as one JSON object; - for standard input");
    let command = if operation.members().is_empty() {
        command
    } else {
        command.arg(from)
    };
    operation.members().iter().fold(command, |command, member| {
        let arg = Arg::new(member.name)
            .long(member.name.replace('_', "-"))
            .help(member.about.trim_end_matches('.'));
        command.arg(match member.kind {
            MemberKind::Flag => arg
                .action(ArgAction::Set)
                .num_args(0)
                .default_missing_value("true"),
            MemberKind::Number => arg.value_name("NUMBER").required(member.is_required),
            MemberKind::Object | MemberKind::Lines => {
                arg.value_name("FILE").required(member.is_required)
            }
            MemberKind::Text if member.name == "fault" => arg
                .value_name("FAULT")
                .required(true)
                .value_parser(FaultNames)
                .hide_possible_values(true),
            _ => {
                let arg = arg
                    .value_name("TEXT")
                    .required(member.is_required)
                    // A negative number is not taken for an option: the control refuses a negative
                    // amount with a reason, because a debit is a kind of booking.
                    .allow_negative_numbers(true);
                match (member.values)() {
                    any if any.is_empty() => arg,
                    values => arg.value_parser(PossibleValuesParser::new(values)),
                }
            }
        })
    })
}

pub(super) async fn run(
    order: &Order,
    serving: &serve::Arguments,
    folders: &Folders,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let operation = order.operation;
    let mut given = Vec::with_capacity(order.given.len());
    for (name, kind, value) in &order.given {
        let value = match kind {
            MemberKind::Object | MemberKind::Lines => input::read_text(value, MAX_FILE_BYTES)?,
            _ => Zeroizing::new(value.clone()),
        };
        given.push((*name, value));
    }
    let takes_operator = operation.members().iter().any(|of| of.name == "by");
    if takes_operator && !given.iter().any(|(name, _)| *name == "by") {
        given.extend(operator().map(|name| ("by", Zeroizing::new(name))));
    }
    let next = format!("bankrail provider control {} --help", operation.name());
    let wrong =
        |error: ControlError| Failure::unable(error, format_args!("{next} lists what is accepted"));
    let given = given.iter().map(|(name, value)| (*name, value.as_str()));
    let arguments = match &order.from {
        Some(file) => Arguments::from_json(operation, &input::read(file, MAX_FILE_BYTES)?),
        None => Arguments::from_texts(operation, given),
    };
    match carry_out(&arguments.map_err(wrong)?, serving, folders).await? {
        Ok(answer) => {
            output.line(shown_json(&format!("{answer:#}")))?;
            Ok(Outcome::Fine)
        }
        Err(error) => Err(Failure::refused(shown(&error), next)),
    }
}

/// Returns the name of the machine's user who runs this program.
pub(super) fn operator() -> Option<String> {
    ["USER", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
}

/// Carries out an operation: in the running provider if it has a control, otherwise in this process
/// on the folder if that is possible for the operation. The inner error is a refusal.
async fn carry_out(
    arguments: &Arguments,
    serving: &serve::Arguments,
    folders: &Folders,
) -> Result<Result<Value, String>, Failure> {
    let operation = arguments.operation();
    let needs_provider = !operation.acts_on_data();
    // control.json still exists after a provider ends, or starts again without a control.
    let may_be_asked = folders.is_in_use()? && folders.data("control.json").exists();
    if needs_provider || may_be_asked {
        let access = Access::read(folders)?;
        let tls = client_config(None, None)
            .map_err(|error| Failure::unable(causes(&error), "repair the system's certificates"))?;
        let client = reqwest::Client::builder().tls_backend_preconfigured(tls);
        match ask(client, &access, arguments).await {
            Ok(answer) => return Ok(answer),
            Err(error) if needs_provider || !error.is_connect() => {
                let what = format!("{}: {}", access.url, causes(&error));
                let next = "check that the provider runs with --control, or start it";
                return Err(Failure::unable(what, next));
            }
            Err(_) => {}
        }
    }
    if arguments.number("wait").is_some() && !folders.is_in_use()? {
        return Err(Failure::refused(
            "no provider runs on this data",
            "start bankrail provider, which delivers the message, or leave --wait out",
        ));
    }
    let bank = Bank::unserved(serving, folders).await?;
    let answer = bank.control().carry_out(arguments).await;
    bank.store.close().await;
    Ok(answer.map_err(|error| error.to_string()))
}

/// Sends an operation to a running provider, and returns its answer.
async fn ask(
    client: reqwest::ClientBuilder,
    access: &Access,
    arguments: &Arguments,
) -> Result<Result<Value, String>, reqwest::Error> {
    let url = format!("{}/_bank/{}", access.url, arguments.operation().name());
    let token = Zeroizing::new(format!("Bearer {}", access.token.expose_secret()));
    let request = client
        .no_proxy()
        .build()?
        .post(url)
        .header(AUTHORIZATION, token.as_str())
        .body(arguments.to_json());
    let answer = request.send().await?;
    let is_done = answer.status().is_success();
    let body: Value = serde_json::from_slice(&answer.bytes().await?).unwrap_or_default();
    Ok(if is_done {
        Ok(body)
    } else {
        let error = body.get("error").and_then(Value::as_str);
        Err(error.unwrap_or("the answer gives no reason").to_owned())
    })
}
