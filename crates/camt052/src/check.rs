//! What is not as it should be in a model.

use crate::beyond::Tally;
use crate::extra::{ExtraPart, Extras};
use crate::finding::{Finding, FindingKind, shown};
use crate::model::{Document, ROOT};
use crate::schema::{Fault, Field, Node};
use bankrail_values::excerpt;
use std::fmt::Write as _;

impl Document {
    /// Everything that is not as it should be in this document: what reading it strictly would report, whether the schema
    /// refuses it ([`FindingKind::is_schema`]) or counts, sums, currencies and check digits disagree.
    ///
    /// Without a finding of the schema, [`Document::to_xml`] gives a schema-valid document.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        check(self, false)
    }
}

/// The first mandatory part that is missing.
pub(crate) fn first_missing(document: &Document) -> Option<Finding> {
    check(document, true).into_iter().next()
}

/// The first finding of the schema.
pub(crate) fn first_of_schema(document: &Document) -> Option<Finding> {
    check(document, false).into_iter().find(|finding| finding.kind.is_schema())
}

fn check(document: &Document, only_missing: bool) -> Vec<Finding> {
    let mut checker = Checker { findings: Vec::new(), path: Vec::new(), only_missing, tally: Tally::default() };
    checker.enter(Field { wire: ROOT, min: 1, max: 1 }, 0);
    Node::check(document, &mut checker);
    checker.findings
}

/// Collects findings while a model is walked.
pub(crate) struct Checker {
    findings: Vec<Finding>,
    path: Vec<(Field, usize)>,
    pub(crate) only_missing: bool,
    /// What has been counted in the report so far.
    pub(crate) tally: Tally,
}

impl Checker {
    pub(crate) fn enter(&mut self, field: Field, index: usize) {
        self.path.push((field, index));
    }

    pub(crate) fn leave(&mut self) {
        self.path.pop();
    }

    pub(crate) fn cardinality(&mut self, field: Field, count: usize) {
        if count == 0 && field.min > 0 {
            self.report(FindingKind::Missing { name: field.wire.to_owned() });
        } else if u32::try_from(count).unwrap_or(u32::MAX) > field.max && !self.only_missing {
            self.report(FindingKind::Repeated { name: field.wire, max: field.max });
        }
    }

    pub(crate) fn fault(&mut self, fault: Fault, found: &str) {
        self.report(fault_kind(fault, found));
    }

    pub(crate) fn no_choice(&mut self, fields: &[Field]) {
        if !self.only_missing {
            self.report(FindingKind::Missing { name: alternatives(fields) });
        }
    }

    pub(crate) fn extras(&mut self, extras: &Extras) {
        if self.only_missing {
            return;
        }
        for extra in extras.parts() {
            self.report(match &extra.part {
                ExtraPart::Xml(xml) => FindingKind::UnknownElement { name: shown(element_name(xml)) },
                ExtraPart::Text(text) => FindingKind::UnexpectedText { found: excerpt(text) },
                ExtraPart::Attribute { name, .. } => FindingKind::UnknownAttribute { name: shown(name) },
            });
        }
    }

    pub(crate) fn report(&mut self, kind: FindingKind) {
        let mut path = String::from("/Document");
        for (field, index) in &self.path {
            push_step(&mut path, field.wire, (field.max > 1).then_some(*index));
        }
        self.findings.push(Finding { kind, path, position: None });
    }
}

/// Appends one step to an element path; the number of repeating elements counts from 1.
pub(crate) fn push_step(path: &mut String, name: &str, index: Option<usize>) {
    path.push('/');
    path.push_str(name);
    if let Some(index) = index {
        // Writing into a string cannot fail.
        let _ = write!(path, "[{}]", index + 1);
    }
}

pub(crate) fn fault_kind(fault: Fault, found: &str) -> FindingKind {
    match fault {
        Fault::Length { min, max, length } => FindingKind::Length { min, max, length },
        Fault::Pattern { expected } => FindingKind::Pattern { expected, found: excerpt(found) },
        Fault::Code { known } => FindingKind::UnknownCode { found: excerpt(found), known },
    }
}

pub(crate) fn alternatives(fields: &[Field]) -> String {
    fields.iter().map(|field| field.wire).collect::<Vec<_>>().join("|")
}

fn element_name(xml: &str) -> &str {
    let name = xml.trim_start_matches('<');
    let end = name.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(name.len());
    name.get(..end).unwrap_or_default()
}
