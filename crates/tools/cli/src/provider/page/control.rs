//! The buttons of a provider that runs with its control, and the view of its clock and faults.

use super::Page;
use super::command::{DROP_ENTRY, PAUSE, RESEND_ALL, RESEND_DELIVERED, RESEND_ENTRY, RESUME, Task};
use super::error::{PageError, Refused};
use super::layout::{Head, html};
use super::text::filters;
use crate::clock::readable;
use crate::provider::outbox::intervention;
use askama::Template;
use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse as _, Response};
use bankrail::emulator::{Arguments, Control, ControlError, Fault, MemberKind, Operation};
use bankrail::mailbox::{DropOutcome, EndpointId, EntryId};
use bankrail::values::SecretString;
use serde_json::Value;
use std::collections::BTreeMap;

/// The path that buttons send to.
pub(super) const PATH: &str = "/do";

/// The commands that are buttons too.
const BUTTONS: [Task; 6] = [
    RESEND_ENTRY,
    RESEND_DELIVERED,
    DROP_ENTRY,
    RESEND_ALL,
    PAUSE,
    RESUME,
];

/// The operations that have a form, and what its button says.
const FORMS: [(Operation, &str); 3] = [
    (Operation::SetClock, "Set the clock"),
    (Operation::StepClock, "Step the clock"),
    (Operation::AddFault, "Order a fault"),
];

/// The control of a provider, and the token that its buttons send: no other site knows it.
pub(super) struct Buttons {
    pub(super) control: Control,
    pub(super) token: SecretString,
}

impl Buttons {
    /// The token of the button of a task, if it has one.
    pub(super) fn token_of(&self, task: Task) -> Option<&str> {
        BUTTONS.contains(&task).then(|| self.token.expose_secret())
    }

    /// What an operation without members says under this name.
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

/// What the view says of a provider with a control.
struct Steered<'a> {
    token: &'a str,
    now: String,
    rate: String,
    /// The numbers of the faults that are ordered, and what they say.
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

/// Does what a button says: the member `do` names it, `about` what it is about.
pub(super) async fn act(
    State(page): State<Page>,
    Form(mut given): Form<BTreeMap<String, String>>,
) -> Result<Response, PageError> {
    let mut taken = |name| given.remove(name).unwrap_or_default();
    let [token, what, about] = ["token", "do", "about"].map(&mut taken);
    let buttons = page.buttons.as_ref().ok_or(PageError::NotFound)?;
    if !buttons.token.matches(token.as_bytes()) {
        return Ok(Refused::BUTTON.into_response());
    }
    let next = match BUTTONS.into_iter().find(|(_, words)| *words == what) {
        Some(RESEND_DELIVERED) => {
            let arguments = Arguments::from_texts(Operation::Resend, [("number", &about)])?;
            buttons.control.carry_out(&arguments).await?;
            format!("/outbox/{about}")
        }
        Some(task) => outbox(&page, task, &about).await?,
        None => {
            let operation = Operation::named(&what).ok_or(PageError::NotFound)?;
            let is_offered = FORMS.iter().any(|(form, _)| *form == operation)
                || operation == Operation::RemoveFault;
            if !is_offered {
                return Err(PageError::NotFound);
            }
            given.retain(|_, value| !value.is_empty());
            buttons
                .control
                .carry_out(&Arguments::from_texts(operation, given)?)
                .await?;
            "/control".to_owned()
        }
    };
    Ok((StatusCode::SEE_OTHER, [(LOCATION, next)]).into_response())
}

/// Carries out a task of messages or endpoints, and returns the view that shows what has come of
/// it.
async fn outbox(page: &Page, task: Task, about: &str) -> Result<String, PageError> {
    let dispatcher = &page.data.dispatcher;
    let by = || intervention("on the page").map_err(ControlError::from);
    let not_done =
        |what: &str| PageError::NotDone(format!("Message {about}: {what}. Nothing was changed."));
    if matches!(task, RESEND_ENTRY | DROP_ENTRY) {
        let id = EntryId::new(about.parse().map_err(|_| PageError::NotFound)?);
        if task == DROP_ENTRY {
            match dispatcher.drop_entry(id, &by()?).await? {
                DropOutcome::Dropped => {}
                DropOutcome::Leased { .. } => return Err(not_done("it is being delivered")),
                DropOutcome::NotOpen => {
                    return Err(not_done("expected one to deliver, found another"));
                }
            }
        } else if !dispatcher.resend(id).await? {
            return Err(not_done("expected a dead letter, found another"));
        }
        return Ok(format!("/outbox/{id}"));
    }
    let endpoint = EndpointId::parse(about).map_err(|_| PageError::NotFound)?;
    match task {
        PAUSE => dispatcher.stop(&endpoint, &by()?).await?,
        RESUME => drop(dispatcher.resume(&endpoint).await?),
        _ => drop(dispatcher.resend_all(&endpoint).await?),
    }
    Ok("/endpoints".to_owned())
}
