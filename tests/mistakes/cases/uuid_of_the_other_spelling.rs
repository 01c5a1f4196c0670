//! The identification of a report is a UUID without hyphens.
//! says: call `Into::into` on this expression to convert `HyphenatedUuid` into `SimpleUuid`
use bankrail::camt052::ReportIds;
use bankrail::values::HyphenatedUuid;

fn ids(message: HyphenatedUuid, report: HyphenatedUuid) -> ReportIds {
    ReportIds { message, report }
}

fn main() {}
