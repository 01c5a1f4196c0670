//! The buttons of a provider with a control, and the view of its clock and faults.

use super::text::filters;
use super::{After, Head, Page, PageError, PageState, Refused, endpoints, html, outbox};
use crate::provider::control::operator;
use askama::Template;
use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse as _, Response};
use bankrail_emulator::{
    Arguments, ControlError, Fault, FaultOrder, Member, MemberKind, Operation,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The path that buttons send to.
pub(super) const PATH: &str = "/do";

/// The operations that have a button in place of a command.
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

/// The kinds of calls that a fault can be for, each with its prefix of the fault's name.
const FAULT_KINDS: [(&str, &str); 4] = [
    ("All calls that can meet it", ""),
    ("Token calls", "token-"),
    ("Statement calls", "statement-"),
    ("Deliveries", "webhook-"),
];

pub(super) fn has_form(operation: Operation) -> bool {
    FORMS.iter().any(|(form, _)| *form == operation)
}

/// An operation that was refused.
#[derive(Clone)]
pub(super) struct Refusal {
    pub(super) operation: Operation,
    given: BTreeMap<String, String>,
    pub(super) why: String,
}

/// The form of an operation.
struct ControlForm {
    operation: Operation,
    button: &'static str,
    fields: Vec<Field>,
    /// The reason of the refusal, unless a field shows it.
    refused: Option<String>,
}

/// A field of a form.
struct Field {
    member: &'static Member,
    /// The existing values, in groups; empty for a field of free text.
    choices: Vec<(&'static str, Vec<String>)>,
    given: String,
    refused: Option<String>,
}

#[derive(Template)]
#[template(path = "page/control.html")]
struct ControlView {
    head: Head,
    token: Option<String>,
    forms: Vec<ControlForm>,
}

pub(super) async fn show(State(page): State<Page>) -> Result<Response, PageError> {
    let mut forms = Vec::new();
    for (operation, button) in FORMS {
        let refusal = page
            .refusal
            .as_ref()
            .filter(|refusal| refusal.operation == operation);
        let mut refused = refusal.map(|refusal| refusal.why.clone());
        let mut fields = Vec::new();
        for member in operation.members() {
            let name = member.name;
            let begins = [format!("{name}: "), format!("expected {name}, ")];
            let is_meant = |why: &mut String| begins.iter().any(|begin| why.starts_with(begin));
            let given = refusal.and_then(|refusal| refusal.given.get(name));
            fields.push(Field {
                member,
                choices: choices(&page, name).await?,
                given: given.cloned().unwrap_or_default(),
                refused: refused.take_if(is_meant),
            });
        }
        forms.push(ControlForm {
            operation,
            button,
            fields,
            refused,
        });
    }
    let token = page.token.as_ref();
    Ok(html(&ControlView {
        head: page.head("Control", "/control").await?,
        token: token.map(|token| token.expose_secret().to_owned()),
        forms,
    }))
}

/// Returns the existing values of a member, in groups.
async fn choices(
    page: &PageState,
    name: &str,
) -> Result<Vec<(&'static str, Vec<String>)>, PageError> {
    let fits = |name: &String| FaultOrder::new(name).is_ok();
    let faults = |(kind, begin): (&'static str, &str)| {
        let names = Fault::names().map(|name| format!("{begin}{name}"));
        (kind, names.filter(fits).collect())
    };
    let values = match name {
        "fault" => return Ok(FAULT_KINDS.map(faults).into()),
        "customer" => {
            let customers = page.data.bank.directory.current();
            let codes = customers
                .records()
                .map(|record| record.customer.code.to_string());
            codes.collect()
        }
        "endpoint" => {
            let snapshot = page.data.bank.emulator.dispatcher().snapshot().await?;
            endpoints::all(page, &snapshot).await?.into_keys().collect()
        }
        "assertions" => vec!["real".to_owned(), "bank".to_owned()],
        _ => return Ok(Vec::new()),
    };
    Ok(vec![("", values)])
}

/// Carries out the operation that the member `do` names, with all other members. A refusal is
/// answered with the page of the button or form, and its reason.
pub(super) async fn act(
    State(page): State<Page>,
    Form(mut given): Form<BTreeMap<String, String>>,
) -> Result<Response, PageError> {
    let mut taken = |name| given.remove(name).unwrap_or_default();
    let [token, name] = ["token", "do"].map(&mut taken);
    let own = page.token.as_ref().ok_or(PageError::NotFound)?;
    if !own.matches(token.as_bytes()) {
        return Ok(Refused::BUTTON.into_response());
    }
    let operation: Operation = name.parse().map_err(|_| PageError::NotFound)?;
    let is_button = BUTTONS.contains(&operation);
    if !is_button && !has_form(operation) && operation != Operation::RemoveFault {
        return Err(PageError::NotFound);
    }
    given.retain(|_, value| !value.is_empty());
    let number = given.get("number").filter(|_| is_button);
    let Err(error) = carry_out(&page, operation, given.clone()).await else {
        let next = match number {
            Some(number) => format!("/outbox/{number}"),
            None if is_button => "/endpoints".to_owned(),
            None => "/control".to_owned(),
        };
        return Ok((StatusCode::SEE_OTHER, [(LOCATION, next)]).into_response());
    };
    let number = number.and_then(|number| number.parse().ok());
    let refusal = Some(Refusal {
        operation,
        given,
        why: crate::text::shown(&error.to_string()).into_owned(),
    });
    let page = State(Arc::new(PageState {
        refusal,
        ..PageState::clone(&page)
    }));
    let view = match number {
        _ if has_form(operation) || !is_button => show(page).await,
        Some(number) => outbox::show(page, Path(number)).await,
        None => endpoints::list(page, Query(After { after: None })).await,
    };
    Ok((StatusCode::CONFLICT, view?).into_response())
}

/// Carries out an operation in the name of the operator.
async fn carry_out(
    page: &PageState,
    operation: Operation,
    mut given: BTreeMap<String, String>,
) -> Result<(), ControlError> {
    if operation.members().iter().any(|member| member.name == "by") {
        given.insert("reason".to_owned(), "on the page".to_owned());
        given.extend(operator().map(|name| ("by".to_owned(), name)));
    }
    let arguments = Arguments::from_texts(operation, given)?;
    page.data.control.carry_out(&arguments).await?;
    Ok(())
}
