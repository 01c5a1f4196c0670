//! The buttons of a provider that runs with its control, and the view of its clock and faults.

use super::Page;
use super::error::{PageError, Refused};
use super::text::filters;
use super::{Head, html};
use crate::clock::readable;
use crate::provider::control::operator;
use askama::Template;
use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse as _, Response};
use bankrail::values::SecretString;
use bankrail_emulator::{Arguments, Control, ControlError, Fault, MemberKind, Operation};
use serde_json::Value;
use std::collections::BTreeMap;

/// The path that buttons send to.
pub(super) const PATH: &str = "/do";

/// The operations whose commands are buttons too.
pub(super) const BUTTONS: [Operation; 4] = [
    Operation::Resend,
    Operation::Drop,
    Operation::Pause,
    Operation::Resume,
];

/// The operations that have a form, and the labels of their buttons.
const FORMS: [(Operation, &str); 4] = [
    (Operation::SetClock, "Set the clock"),
    (Operation::StepClock, "Step the clock"),
    (Operation::AddFault, "Order a fault"),
    (Operation::Resend, "Resend messages"),
];

/// The control of a provider, and the token that its buttons send: no other site knows it.
pub(super) struct Buttons {
    pub(super) control: Control,
    pub(super) token: SecretString,
}

impl Buttons {
    /// Carries out an operation without members, and returns this member of its answer.
    async fn said(&self, operation: Operation, name: &str) -> Result<Value, PageError> {
        let nothing: [(&str, &str); 0] = [];
        let said = self
            .control
            .carry_out(&Arguments::from_texts(operation, nothing)?)
            .await?;
        Ok(said.get(name).cloned().unwrap_or_default())
    }
}

impl From<ControlError> for PageError {
    fn from(error: ControlError) -> Self {
        Self::NotDone(error.to_string())
    }
}

/// The state of a provider with a control.
struct Steered<'a> {
    token: &'a str,
    now: String,
    rate: String,
    /// The numbers and descriptions of the faults that are ordered.
    faults: Vec<(u64, String)>,
}

#[derive(Template)]
#[template(path = "page/control.html")]
struct ControlView<'a> {
    head: Head,
    steered: Option<Steered<'a>>,
}

pub(super) async fn show(State(page): State<Page>) -> Result<Response, PageError> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let steered = match &page.buttons {
        None => None,
        Some(buttons) => {
            let faults = buttons.said(Operation::Faults, "faults").await?;
            let fault = |fault: &Value| {
                (
                    fault["number"].as_u64().unwrap_or_default(),
                    text(&fault["fault"]),
                )
            };
            Some(Steered {
                token: buttons.token.expose_secret(),
                now: readable(&text(&buttons.said(Operation::Clock, "now").await?)),
                rate: text(&buttons.said(Operation::Clock, "rate").await?),
                faults: faults.as_array().into_iter().flatten().map(fault).collect(),
            })
        }
    };
    Ok(html(&ControlView {
        head: Head::new("Control", "/control"),
        steered,
    }))
}

/// Carries out the operation that the member `do` names, with all other members.
pub(super) async fn act(
    State(page): State<Page>,
    Form(mut given): Form<BTreeMap<String, String>>,
) -> Result<Response, PageError> {
    let mut taken = |name| given.remove(name).unwrap_or_default();
    let [token, name] = ["token", "do"].map(&mut taken);
    let buttons = page.buttons.as_ref().ok_or(PageError::NotFound)?;
    if !buttons.token.matches(token.as_bytes()) {
        return Ok(Refused::BUTTON.into_response());
    }
    let operation = Operation::named(&name).ok_or(PageError::NotFound)?;
    let has_form = FORMS.iter().any(|(form, _)| *form == operation);
    if !has_form && operation != Operation::RemoveFault && !BUTTONS.contains(&operation) {
        return Err(PageError::NotFound);
    }
    given.retain(|_, value| !value.is_empty());
    let next = match given.get("number") {
        Some(number) if BUTTONS.contains(&operation) => format!("/outbox/{number}"),
        _ if BUTTONS.contains(&operation) => "/endpoints".to_owned(),
        _ => "/control".to_owned(),
    };
    if operation.members().iter().any(|member| member.name == "by") {
        given.insert("reason".to_owned(), "on the page".to_owned());
        given.extend(operator().map(|name| ("by".to_owned(), name)));
    }
    let arguments = Arguments::from_texts(operation, given)?;
    buttons.control.carry_out(&arguments).await?;
    Ok((StatusCode::SEE_OTHER, [(LOCATION, next)]).into_response())
}
