//! `bankrail provider control`: steers a provider that runs.

mod data;
mod past;

pub(super) use data::FolderData;

use super::demo::new_api_key;
use super::folder::{Folders, damaged, read};
use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::keys::write::{NewFile, write};
use crate::output::Output;
use crate::text::shown;
use bankrail::emulator::{Arguments, ControlError, MemberKind, Operation};
use bankrail::http::tls::client_config;
use bankrail::values::SecretString;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use http::StatusCode;
use http::header::AUTHORIZATION;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The bytes of a file that is sent.
const MOST: usize = 8 << 20;

/// Where the control of a provider is, and what opens it.
pub(super) struct Access {
    pub(super) url: String,
    pub(super) token: SecretString,
    /// The file that says so.
    pub(super) file: PathBuf,
}

impl Access {
    /// That of a control at this address, with the token that the folder's file has, or a new one.
    /// The file then says both.
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

/// An operation and what it is given, as the command line says it.
#[derive(Debug)]
pub(super) struct Order {
    operation: Operation,
    /// The file that has all that it is given.
    json: Option<String>,
    given: Vec<(&'static str, MemberKind, String)>,
}

impl FromArgMatches for Order {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, matches) = matches
            .subcommand()
            .ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))?;
        let operation = Operation::named(name);
        let operation =
            operation.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidSubcommand))?;
        let mut given = Vec::new();
        for member in operation.members() {
            let value = matches.get_one::<String>(member.name);
            given.extend(value.map(|value| (member.name, member.kind, value.clone())));
        }
        Ok(Self {
            operation,
            json: matches.try_get_one("json").ok().flatten().cloned(),
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
    let needed = operation
        .members()
        .iter()
        .filter(|member| member.is_required);
    let needed: String = needed
        .map(|member| format!(" --{} …", member.name.replace('_', "-")))
        .collect();
    let command = Command::new(name).about(about);
    let command = command.after_help(format!(
        "Example:\n  bankrail provider control {name}{needed}"
    ));
    let json = Arg::new("json")
        .long("json")
        .value_name("FILE")
        .exclusive(true);
    let json =
        json.help("All of it as one JSON object, such as of a program; - for standard input");
    let command = if operation.members().is_empty() {
        command
    } else {
        command.arg(json)
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
            _ => arg.value_name("TEXT").required(member.is_required),
        })
    })
}

pub(super) async fn run(
    order: &Order,
    folders: &Folders,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let access = Access::read(folders)?;
    let mut given = Vec::with_capacity(order.given.len());
    for (name, kind, value) in &order.given {
        let value = match kind {
            MemberKind::Object | MemberKind::Lines => input::read_text(value, MOST)?,
            _ => Zeroizing::new(value.clone()),
        };
        given.push((*name, value));
    }
    let next = format!(
        "bankrail provider control {} --help",
        order.operation.name()
    );
    let wrong = |error: ControlError| Failure::unable(error, format_args!("{next} says what fits"));
    let given = given.iter().map(|(name, value)| (*name, value.as_str()));
    let arguments = match &order.json {
        Some(file) => Arguments::from_json(order.operation, &input::read(file, MOST)?),
        None => Arguments::from_texts(order.operation, given),
    };
    let (status, said) = ask(&access, &arguments.map_err(wrong)?).await?;
    if status.is_success() {
        output.line(format_args!("{said:#}"))?;
        return Ok(Outcome::Fine);
    }
    let error = said
        .get("error")
        .and_then(Value::as_str)
        .unwrap_or("the answer says nothing more");
    Err(Failure::refused(shown(error), next))
}

/// Sends an operation, and returns the status and the JSON of the answer.
async fn ask(access: &Access, arguments: &Arguments) -> Result<(StatusCode, Value), Failure> {
    let failed = |error: &dyn std::error::Error| {
        let what = format!("{}: {}", access.url, causes(error));
        Failure::unable(
            what,
            "check that the provider runs with --control, or start it",
        )
    };
    let tls = client_config(None).map_err(|error| failed(&error))?;
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .build();
    let client = client.map_err(|error| failed(&error))?;
    let url = format!("{}/_bank/{}", access.url, arguments.operation().name());
    let token = Zeroizing::new(format!("Bearer {}", access.token.expose_secret()));
    let request = client
        .post(url)
        .header(AUTHORIZATION, token.as_str())
        .body(arguments.to_json());
    let answer = request.send().await.map_err(|error| failed(&error))?;
    let status = answer.status();
    let body = answer.bytes().await.map_err(|error| failed(&error))?;
    Ok((
        status,
        serde_json::from_slice(&body).map_err(|error| failed(&error))?,
    ))
}
