//! The rings of ARCHITECTURE.md, which restrict the dependencies of crates.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The folders of the rings, lowest first. A crate depends on its own ring and on lower ones.
const RINGS: [&str; 4] = ["protocol", "runtime", "bankrail", "tools"];

/// External crates of sockets, clocks, runtimes and databases, which protocol crates must not use.
const BEYOND_PROTOCOL: [&str; 18] = [
    "async-trait",
    "axum",
    "futures-util",
    "hyper",
    "hyper-util",
    "jiff",
    "metrics-exporter-prometheus",
    "redis",
    "reqwest",
    "rusqlite",
    "rustls",
    "socket2",
    "sqlx",
    "tokio",
    "tokio-postgres",
    "tokio-rustls",
    "tokio-util",
    "tower",
];

/// Returns every package of `crates`, with its ring and the names of its dependencies.
fn packages() -> Vec<(String, usize, Vec<String>)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut packages = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let manifest = text(&package["manifest_path"]);
        let Some((_, below)) = manifest.rsplit_once("/crates/") else {
            continue;
        };
        let folder = below.split('/').next().unwrap();
        let ring = RINGS.iter().position(|ring| *ring == folder);
        let ring = ring.unwrap_or_else(|| panic!("{manifest} is in no ring"));
        let dependencies = package["dependencies"].as_array().unwrap();
        // Dependencies of tests may point to any ring.
        let dependencies = dependencies
            .iter()
            .filter(|dependency| dependency["kind"] != "dev")
            .map(|dependency| text(&dependency["name"]))
            .collect();
        packages.push((text(&package["name"]), ring, dependencies));
    }
    packages
}

#[test]
fn no_arrow_points_up() {
    let packages = packages();
    assert!(packages.len() >= 20, "{}", packages.len());
    let ring_of = |wanted: &str| {
        let found = packages.iter().find(|(name, ..)| name == wanted);
        found.map(|(_, ring, _)| *ring)
    };
    for (name, ring, dependencies) in &packages {
        for dependency in dependencies {
            let Some(other) = ring_of(dependency) else {
                continue;
            };
            assert!(
                other <= *ring,
                "{name} depends on {dependency}, a ring above"
            );
        }
    }
}

#[test]
fn protocol_crates_know_no_socket_clock_runtime_or_database() {
    for (name, ring, dependencies) in packages() {
        if ring > 0 {
            continue;
        }
        for dependency in &dependencies {
            assert!(
                !BEYOND_PROTOCOL.contains(&dependency.as_str()),
                "{name} depends on {dependency}"
            );
        }
    }
}
