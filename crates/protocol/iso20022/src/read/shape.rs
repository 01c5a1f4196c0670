//! The element names of a message.

use crate::field::Field;
use crate::finding::FindingKind;
use crate::version::Version;
use std::borrow::Cow;

/// The names of a message and its nesting. The document element holds the message, the message
/// holds groups, and a group holds units. In a bank's report the groups are reports and the units
/// are entries.
#[derive(Debug)]
pub struct Shape {
    /// The namespace of the message; with versions, all of it but the two digits of the version.
    pub namespace: &'static str,
    /// The oldest and the newest known version, if the message has versions.
    pub versions: Option<[u8; 2]>,
    /// The message's element, the only one in the document element.
    pub root: &'static [Field],
    /// The groups, directly in the message.
    pub group: &'static str,
    /// The units, directly in a group.
    pub unit: &'static str,
    /// The maximum nesting of elements.
    pub depth: usize,
}

/// The number of elements around a group: the document element and the message's.
pub(super) const AROUND: usize = 2;

impl Shape {
    pub(super) const NONE: Self = Self {
        namespace: "",
        versions: None,
        root: &[],
        group: "",
        unit: "",
        depth: 0,
    };

    /// Returns the namespace of a version.
    pub(crate) fn namespace(&self, version: Version) -> Cow<'static, str> {
        match self.versions {
            None => self.namespace.into(),
            Some(_) => format!("{}{version}", self.namespace).into(),
        }
    }

    /// Returns the namespaces of the known versions among some, for an error text.
    pub(super) fn namespaces(&self, [first, last]: [Version; 2]) -> String {
        let Some(known) = self.versions.map(|known| known.map(Version::new)) else {
            return self.namespace.to_owned();
        };
        let namespace = self.namespace(first.max(known[0]));
        if first == last {
            namespace.into_owned()
        } else {
            format!("{namespace} to .{}", last.min(known[1]))
        }
    }

    /// Returns the version of a namespace, if the namespace is the message's and the version is
    /// within `versions`.
    pub(super) fn version_of(
        &self,
        namespace: &str,
        [first, last]: [Version; 2],
    ) -> Option<Version> {
        let Some([oldest, _]) = self.versions else {
            return (namespace == self.namespace).then(Version::default);
        };
        let digits = namespace.strip_prefix(self.namespace)?;
        let is_two = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
        let version = digits.parse().ok().filter(|_| is_two).map(Version::new)?;
        (version.number() >= oldest && (first..=last).contains(&version)).then_some(version)
    }

    /// Returns the number of a version, or of the newest known one if that is older.
    pub(crate) fn known(&self, version: Version) -> u8 {
        let newest = self.versions.map_or(u8::MAX, |[_, newest]| newest);
        version.number().min(newest)
    }

    /// Returns the finding of a version that is newer than the newest known one.
    pub(crate) fn newer(&self, version: Version) -> Option<FindingKind> {
        let known = Version::new(self.known(version));
        let found = version;
        (known < found).then_some(FindingKind::NewerVersion { known, found })
    }

    /// Returns the name of the message's element.
    pub(crate) fn root_name(&self) -> &'static str {
        self.root.first().map_or("", |root| root.wire)
    }

    /// Returns true for an element that is counted separately: a group or a unit. `around` is the
    /// number of elements around it.
    pub(super) fn is_counted_apart(&self, around: usize, name: &str) -> bool {
        self.is_group(around, name) || self.is_unit(around, name)
    }

    pub(super) fn is_group(&self, around: usize, name: &str) -> bool {
        around == AROUND && name == self.group
    }

    pub(super) fn is_unit(&self, around: usize, name: &str) -> bool {
        around == AROUND + 1 && name == self.unit
    }
}
