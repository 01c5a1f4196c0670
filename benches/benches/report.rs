//! Reading, writing and streaming reports, beside quick-xml's bare event loops on the same octets.

use bankrail_benches::report::{indented, report};
use bankrail_camt052::{Document, EntryReader, Mode, ReadOptions, StreamItem, WriteOptions};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
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
        match reader.read_resolved_event().expect("the report is well-formed") {
            (_, Event::Eof) => return count,
            _ => count += 1,
        }
    }
}

fn streamed(xml: &str) -> u64 {
    EntryReader::new(xml.as_bytes())
        .map(|item| u64::from(matches!(item.expect("the report is readable"), StreamItem::Entry(_))))
        .sum()
}

fn reading(criterion: &mut Criterion) {
    // Compact: what the service sends. Indented: a text event between any two tags.
    for (name, xml) in [("compact", report(ENTRIES)), ("indented", indented(&report(ENTRIES)))] {
        let mut group = criterion.benchmark_group(format!("report/parse/{name}"));
        group.throughput(Throughput::Bytes(xml.len() as u64)).sample_size(20);
        let mut strict = ReadOptions::default();
        strict.mode = Mode::Strict;
        strict.deny_findings = true;
        let parsed = Document::parse_with(&xml, &strict).expect("the report is valid");
        assert_eq!(parsed.document.reports.iter().map(|report| report.entries.len() as u64).sum::<u64>(), ENTRIES);
        assert_eq!(streamed(&xml), ENTRIES);
        group.bench_function("10k_entries", |bencher| {
            bencher.iter_with_large_drop(|| Document::parse(black_box(&xml)).expect("readable"));
        });
        group.bench_function("10k_entries_with_drop", |bencher| {
            bencher.iter(|| Document::parse(black_box(&xml)).expect("readable").findings.len());
        });
        group.bench_function("stream", |bencher| bencher.iter(|| streamed(black_box(&xml))));
        group.bench_function("peer_quick_xml_events", |bencher| bencher.iter(|| events(black_box(&xml))));
        group.bench_function("peer_quick_xml_resolved", |bencher| bencher.iter(|| resolved_events(black_box(&xml))));
        group.finish();
    }
}

fn writing(criterion: &mut Criterion) {
    let xml = report(ENTRIES);
    let document = Document::parse(&xml).expect("readable").document;
    assert_eq!(document.to_xml().expect("writable"), xml);
    let mut group = criterion.benchmark_group("report/write");
    group.throughput(Throughput::Bytes(xml.len() as u64)).sample_size(20);
    group.bench_function("10k_entries", |bencher| bencher.iter(|| black_box(&document).to_xml().expect("writable")));
    group.bench_function("10k_entries_to_sink", |bencher| {
        bencher.iter(|| {
            let options = WriteOptions::default();
            black_box(&document).write_to(&mut std::io::sink(), options).expect("writable");
        });
    });
    group.bench_function("10k_entries_into_json", |bencher| {
        bencher.iter_batched_ref(
            String::new,
            |json| black_box(&document).write_json_string(json).expect("writable"),
            BatchSize::LargeInput,
        );
    });
    group.bench_function("check", |bencher| bencher.iter(|| black_box(&document).check()));
    group.finish();
}

criterion_group!(benches, reading, writing);
criterion_main!(benches);
