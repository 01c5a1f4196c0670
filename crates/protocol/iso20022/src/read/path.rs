//! The open elements that the schema knows.

use super::tokens::Mark;
use crate::extra::ExtraStep;
use crate::finding::push_step;

/// An open element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Its number among those of the same name, from 0.
    pub(crate) index: usize,
    /// True when the schema allows several; then the number is part of the path.
    pub(crate) repeats: bool,
    /// Where its start tag begins.
    pub(crate) mark: Mark,
    /// The last child that the schema knows.
    pub(crate) last: Option<(&'static str, usize)>,
    /// The number of parts beyond the schema that had been kept before it.
    pub(crate) extras: usize,
    /// For an element that is counted apart: what had been used of the limits outside of it.
    pub(crate) outer: Option<Used>,
}

/// The use of the limits that units, groups and the message have apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    /// Elements begun.
    pub(crate) elements: usize,
    /// Bytes kept beyond the schema.
    pub(crate) kept: usize,
}

/// The open elements, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Path {
    steps: Vec<Step>,
    /// The element that the one just begun should have stood before.
    late: Option<&'static str>,
}

impl Path {
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    #[inline]
    pub(crate) fn last(&self) -> Option<&Step> {
        self.steps.last()
    }

    /// Returns the name of the element around which so many are open.
    pub(crate) fn name_at(&self, around: usize) -> &'static str {
        self.steps.get(around).map_or("", |step| step.name)
    }

    pub(crate) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    pub(crate) fn pop(&mut self) -> Option<Step> {
        self.steps.pop()
    }

    /// Ends the current element, which becomes the last child of its parent.
    #[inline]
    pub(crate) fn leave(&mut self) -> Option<Step> {
        let step = self.steps.pop()?;
        self.set_last(Some((step.name, step.index)));
        Some(step)
    }

    /// Sets the last child of the current element; returns the one before.
    pub(crate) fn set_last(
        &mut self,
        last: Option<(&'static str, usize)>,
    ) -> Option<(&'static str, usize)> {
        self.steps
            .last_mut()
            .and_then(|step| std::mem::replace(&mut step.last, last))
    }

    /// Sets the number of the current element, which may occur several times.
    pub(crate) fn set_index(&mut self, index: usize) {
        if let Some(step) = self.steps.last_mut() {
            step.index = index;
            step.repeats = true;
        }
    }

    /// Notes that the element about to begin should have stood before another.
    pub(crate) fn set_late(&mut self, before: Option<&'static str>) {
        self.late = before;
    }

    /// Takes the element that the one just begun should have stood before, if any.
    #[inline]
    pub(crate) fn take_late(&mut self) -> Option<&'static str> {
        self.late.take()
    }

    /// Returns the way from the element that is `base` deep down to the current one.
    pub(crate) fn below(&self, base: usize) -> Vec<ExtraStep> {
        let steps = self.steps.get(base..).unwrap_or_default();
        steps
            .iter()
            .map(|step| ExtraStep {
                name: step.name.into(),
                index: step.index,
            })
            .collect()
    }

    /// Returns the path as findings and errors have it.
    pub(crate) fn text(&self) -> String {
        self.text_to(self.steps.len())
    }

    /// Returns the path of the element that is so deep.
    pub(crate) fn text_to(&self, depth: usize) -> String {
        let steps = self.steps.get(..depth).unwrap_or_default();
        // A number has seldom more than four digits.
        let length: usize = steps
            .iter()
            .map(|step| 1 + step.name.len() + if step.repeats { 6 } else { 0 })
            .sum();
        let mut path = String::with_capacity(length);
        for step in steps {
            push_step(&mut path, step.name, step.repeats.then_some(step.index));
        }
        path
    }
}
