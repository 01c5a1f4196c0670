//! Checks a model in memory for findings.

use crate::extra::{ExtraPart, Extras, element_name};
use crate::field::{DOCUMENT, Field, alternatives};
use crate::finding::{Finding, FindingKind, push_step, shown};
use crate::read::Shape;
use crate::watch::{Memory, Watch};
use bankrail_values::excerpt;

/// The kinds of findings that a walk through a model looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckScope {
    /// The schema and the rules beyond it.
    Everything,
    /// The findings of the schema only.
    Schema,
    /// The mandatory parts of the schema that are missing.
    MissingParts,
}

/// Collects findings while a model is walked.
#[derive(Debug)]
pub struct Checker {
    findings: Vec<Finding>,
    /// The path of the element that the walk begins at.
    start: String,
    path: Vec<(&'static Field, usize)>,
    asked: CheckScope,
    /// Markup was met that only reading the document again can judge.
    met_markup: bool,
    /// The version of the schema.
    version: u8,
    /// The memory of the message's rules; `None` when only a part of a document is checked.
    memory: Option<Memory>,
}

impl Checker {
    /// Makes a checker for a whole message.
    pub(crate) fn new(shape: &'static Shape, asked: CheckScope, version: u8) -> Self {
        let mut start = String::new();
        push_step(&mut start, DOCUMENT.wire, None);
        push_step(&mut start, shape.root_name(), None);
        let memory = Some(Memory::default());
        Self {
            findings: Vec::new(),
            start,
            path: Vec::new(),
            asked,
            met_markup: false,
            version,
            memory,
        }
    }

    /// Makes a checker for the element at a path. Only rules beyond the schema within the element
    /// are applied.
    pub(crate) fn within(shape: &'static Shape, start: String, version: u8) -> Self {
        let mut checker = Self::new(shape, CheckScope::Everything, version);
        (checker.start, checker.memory) = (start, None);
        checker
    }

    /// Returns the version of the schema.
    #[inline]
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Checks the content of a field by the version that the field's row names, which may be an
    /// older one.
    #[inline]
    pub(crate) fn as_of(&mut self, field: &Field, check: impl FnOnce(&mut Self)) {
        let own = self.version;
        self.version = field.version_in(own);
        check(self);
        self.version = own;
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// Returns true when nothing has been found, and no markup was met that only reading the
    /// document again can check.
    pub(crate) fn is_clean(&self) -> bool {
        self.findings.is_empty() && !self.met_markup
    }

    /// Notes markup that only reading the document again can check.
    pub(crate) fn meet_markup(&mut self) {
        self.met_markup = true;
    }

    /// Returns true when the walk looks only for missing parts.
    pub(crate) fn only_missing(&self) -> bool {
        self.asked == CheckScope::MissingParts
    }

    /// Returns true when the walk applies the rules beyond the schema to the current element.
    pub fn asks_rules(&self) -> bool {
        // The reader asks the rule of the element that a partial walk begins at, so the walk does
        // not.
        self.asked == CheckScope::Everything && (self.memory.is_some() || !self.path.is_empty())
    }

    #[inline]
    pub(crate) fn enter(&mut self, field: &'static Field, index: usize) {
        self.path.push((field, index));
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.path.pop();
    }

    /// Reports a mandatory element that is missing.
    pub(crate) fn missing(&mut self, field: &Field) {
        self.report(FindingKind::Missing {
            name: field.wire.to_owned(),
        });
    }

    /// Reports that the current element occurs too often.
    #[cold]
    pub(crate) fn repeated(&mut self, field: &Field) {
        self.report(FindingKind::Repeated {
            name: field.wire,
            max: field.max,
        });
    }

    /// Reports a choice without any of its alternatives.
    pub fn no_choice(&mut self, fields: &[Field]) {
        if !self.only_missing() {
            self.report(FindingKind::Missing {
                name: alternatives(fields, self.version),
            });
        }
    }

    /// Reports an element that the version of the schema does not have. Writing would lose the
    /// element, so a search for missing parts reports it as well.
    #[cold]
    pub(crate) fn not_in_version(&mut self, field: &Field) {
        self.push(FindingKind::UnknownElement {
            name: field.wire.to_owned(),
        });
    }

    /// Reports an alternative where the version of the schema has no choice.
    #[cold]
    pub fn not_bare(&mut self, fields: &[Field]) {
        let version = self.version;
        let other = fields.iter().skip(1).find(|field| field.is_in(version));
        other
            .into_iter()
            .for_each(|field| self.not_in_version(field));
    }

    /// Reports the parts kept beyond the schema.
    #[inline]
    pub fn extras(&mut self, extras: &Extras) {
        if !extras.is_empty() {
            self.beyond_schema(extras);
        }
    }

    /// Reports the parts of a model that no document can hold. For any other model, the document is
    /// written and read again, which finds more.
    #[cold]
    fn beyond_schema(&mut self, extras: &Extras) {
        for extra in extras.parts() {
            self.report(match &extra.part {
                ExtraPart::Xml(xml) => FindingKind::UnknownElement {
                    name: shown(element_name(xml)),
                },
                ExtraPart::Text(text) => FindingKind::UnexpectedText {
                    found: excerpt(text),
                },
                ExtraPart::Attribute { name, .. } => {
                    FindingKind::UnknownAttribute { name: shown(name) }
                }
            });
        }
    }

    pub(crate) fn report(&mut self, kind: FindingKind) {
        if self.only_missing()
            && !matches!(
                kind,
                FindingKind::Missing { .. } | FindingKind::MissingCurrency
            )
        {
            return;
        }
        self.push(kind);
    }

    /// Reports a finding about the document element.
    pub(crate) fn report_document(&mut self, kind: FindingKind) {
        let root = self.start.rfind('/').unwrap_or(self.start.len());
        let message = self.start.split_off(root);
        self.report(kind);
        self.start.push_str(&message);
    }

    fn push(&mut self, kind: FindingKind) {
        let mut path = self.start.clone();
        for (field, index) in &self.path {
            push_step(&mut path, field.wire, (field.max > 1).then_some(*index));
        }
        self.findings.push(Finding {
            kind,
            path,
            position: None,
        });
    }
}

impl Watch for Checker {
    fn memory(&mut self) -> Option<&mut Memory> {
        self.memory.as_mut()
    }

    fn report(&mut self, kind: FindingKind) {
        Self::report(self, kind);
    }
}
