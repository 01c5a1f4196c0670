//! Reading, writing and streaming reports, compared with quick-xml's bare event loops on the same
//! bytes and with two peers:
//!
//! - `sepa` reads this version of the message into a smaller model.
//! - `open-payments-iso20022-camt` reads and writes only version 12. It gets the same report in
//!   that version, which is about 5 % longer; its throughput counts those bytes.

use bankrail_benches::report::{doubtful, indented, mixed, prefixed, report, version_12};
use bankrail_camt052::{Document, EntryReader, Mode, ReadOptions, StreamItem, WriteOptions};
use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main,
};
use open_payments_iso20022_camt::camt_052_001_12::BankToCustomerAccountReportV12;
use quick_xml::events::Event;
use quick_xml::{NsReader, Reader};
use std::hint::black_box;

const ENTRIES: u64 = 10_000;

fn events(xml: &str) -> u64 {
    let mut reader = Reader::from_str(xml);
    let mut count = 0;
    loop {
        match reader.read_event().expect("the report is well-formed") {
            Event::Eof => return count,
            _ => count += 1,
        }
    }
}

fn resolved_events(xml: &str) -> u64 {
    let mut reader = NsReader::from_str(xml);
    let mut count = 0;
    loop {
        match reader
            .read_resolved_event()
            .expect("the report is well-formed")
        {
            (_, Event::Eof) => return count,
            _ => count += 1,
        }
    }
}

fn streamed(xml: &str) -> u64 {
    EntryReader::new(xml.as_bytes(), ReadOptions::default())
        .map(|item| {
            u64::from(matches!(
                item.expect("the report is readable"),
                StreamItem::Entry(_)
            ))
        })
        .sum()
}

fn reading(criterion: &mut Criterion) {
    // Compact: the form that the service sends. Indented: white space between any two tags.
    // Prefixed: each name with a prefix. Mixed: CDATA, references and comments in each entry.
    // Quoted: each amount needs the reader over events.
    let compact = report(ENTRIES);
    let forms = [
        ("compact", compact.clone()),
        ("indented", indented(&compact)),
        ("prefixed", prefixed(&compact)),
        ("mixed", mixed(&compact)),
        ("quoted", compact.replace(" Ccy=\"AUD\"", " Ccy='AUD'")),
    ];
    for (name, xml) in forms {
        let mut group = criterion.benchmark_group(format!("report/parse/{name}"));
        group
            .throughput(Throughput::Bytes(xml.len() as u64))
            .sample_size(20);
        let strict = ReadOptions::default()
            .mode(Mode::Strict)
            .deny_findings(true);
        let parsed = Document::parse_with(&xml, &strict).expect("the report is valid");
        assert_eq!(
            parsed
                .document
                .reports
                .iter()
                .map(|report| report.entries.len() as u64)
                .sum::<u64>(),
            ENTRIES
        );
        assert_eq!(streamed(&xml), ENTRIES);
        group.bench_function("10k_entries", |bencher| {
            bencher.iter_with_large_drop(|| Document::parse(black_box(&xml)).expect("readable"));
        });
        group.bench_function("10k_entries_with_drop", |bencher| {
            bencher.iter(|| {
                Document::parse(black_box(&xml))
                    .expect("readable")
                    .findings
                    .len()
            });
        });
        group.bench_function("stream", |bencher| {
            bencher.iter(|| streamed(black_box(&xml)))
        });
        group.bench_function("peer_quick_xml_events", |bencher| {
            bencher.iter(|| events(black_box(&xml)))
        });
        group.bench_function("peer_quick_xml_resolved", |bencher| {
            bencher.iter(|| resolved_events(black_box(&xml)))
        });
        if matches!(name, "compact" | "indented") {
            reading_peers(&mut group, &xml);
        }
        group.finish();
    }
}

/// A finding beyond the schema in every entry.
fn reading_doubtful(criterion: &mut Criterion) {
    let xml = doubtful(&report(ENTRIES));
    let parsed = Document::parse(&xml).expect("readable");
    assert_eq!(
        parsed.findings.len() as u64 + parsed.further_findings.total(),
        ENTRIES
    );
    let mut group = criterion.benchmark_group("report/parse/doubtful");
    group
        .throughput(Throughput::Bytes(xml.len() as u64))
        .sample_size(20);
    group.bench_function("10k_entries", |bencher| {
        bencher.iter_with_large_drop(|| Document::parse(black_box(&xml)).expect("readable"));
    });
    group.bench_function("peer_quick_xml_events", |bencher| {
        bencher.iter(|| events(black_box(&xml)))
    });
    group.finish();
}

/// The document of the peer that reads version 12.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Document")]
struct Version12 {
    #[serde(rename = "BkToCstmrAcctRpt")]
    report: BankToCustomerAccountReportV12,
}

fn open_payments(xml: &str) -> Version12 {
    quick_xml::de::from_str(xml).expect("the peer reads its version")
}

fn sepa(xml: &str) -> sepa::camt052::Camt052Document {
    // Its default limits are below ten thousand entries.
    let limits = sepa::ParseLimits {
        nodes: 10_000_000,
        total_text_bytes: 1 << 30,
        ..Default::default()
    };
    sepa::camt052::parse_camt052_with_limits(xml, limits).expect("the peer reads this version")
}

fn reading_peers(group: &mut BenchmarkGroup<'_, WallTime>, xml: &str) {
    assert_eq!(
        sepa(xml)
            .reports
            .iter()
            .map(|report| report.entries.len() as u64)
            .sum::<u64>(),
        ENTRIES
    );
    group.sample_size(10);
    group.bench_function("peer_sepa", |bencher| {
        bencher.iter_with_large_drop(|| sepa(black_box(xml)))
    });
    let xml = version_12(xml);
    let read = open_payments(&xml).report.rpt;
    assert_eq!(
        read.iter()
            .flat_map(|report| report.ntry.iter().flatten())
            .count() as u64,
        ENTRIES
    );
    group.throughput(Throughput::Bytes(xml.len() as u64));
    group.bench_function("peer_open_payments_v12", |bencher| {
        bencher.iter_with_large_drop(|| open_payments(black_box(&xml)));
    });
}

fn writing(criterion: &mut Criterion) {
    let xml = report(ENTRIES);
    let document = Document::parse(&xml).expect("readable").document;
    assert_eq!(document.to_xml().expect("writable"), xml);
    let mut group = criterion.benchmark_group("report/write");
    group
        .throughput(Throughput::Bytes(xml.len() as u64))
        .sample_size(20);
    group.bench_function("10k_entries", |bencher| {
        bencher.iter(|| black_box(&document).to_xml().expect("writable"))
    });
    group.bench_function("10k_entries_to_sink", |bencher| {
        bencher.iter(|| {
            let options = WriteOptions::default();
            black_box(&document)
                .write_to(&mut std::io::sink(), &options)
                .expect("writable");
        });
    });
    group.bench_function("10k_entries_into_json", |bencher| {
        bencher.iter_batched_ref(
            String::new,
            |json| {
                black_box(&document)
                    .write_json_string(json)
                    .expect("writable")
            },
            BatchSize::LargeInput,
        );
    });
    let peer = open_payments(&version_12(&xml));
    group.bench_function("peer_open_payments_v12", |bencher| {
        bencher.iter(|| {
            quick_xml::se::to_string(black_box(&peer))
                .expect("the peer writes what it read")
                .len()
        });
    });
    group.bench_function("check", |bencher| {
        bencher.iter(|| black_box(&document).check())
    });
    group.finish();
}

criterion_group!(benches, reading, reading_doubtful, writing);
criterion_main!(benches);
