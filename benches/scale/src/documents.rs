//! Reports against their entries, for each entry.

use crate::Curve;
use bankrail_benches::report::report;
use bankrail_camt052::Document;
use std::time::Instant;

pub(crate) fn measure(curve: &Curve<'_>) {
    for size in curve.sizes() {
        let xml = report(size);
        let times = (100_000 / size).max(1);
        let mut last = None;
        let each = |begun: Instant| begun.elapsed().as_secs_f64() * 1e9 / (size * times) as f64;
        let begun = Instant::now();
        for _ in 0..times {
            last = Some(Document::parse(xml.as_str()).unwrap().document);
        }
        curve.point("parse an entry", size, "ns", each(begun));
        let document = last.unwrap();
        let begun = Instant::now();
        for _ in 0..times {
            assert!(document.to_xml().unwrap().len() > 100);
        }
        curve.point("write an entry", size, "ns", each(begun));
    }
}
