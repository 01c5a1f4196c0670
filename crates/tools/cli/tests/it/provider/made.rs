//! The data of a provider without a configuration: made once, complete, private, and never
//! replaced.

use super::bank::{Bank, act, copy_of_data};
use crate::{Folder, command, run, set_mode, text};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// All files below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o700,
                "{}",
                path.display()
            );
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

/// Returns the files that a start leaves as they are.
fn lasting(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = files(folder);
    let changing = [
        "provider.sqlite",
        "audit.jsonl",
        "connection.toml",
        "sample.",
        "page.url",
    ];
    all.retain(|path, _| {
        !changing.iter().any(|name| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(name)
        })
    });
    all
}

#[test]
fn without_descriptors_the_limit_is_to_be_raised_and_no_file_restored() {
    let folder = Folder::new();
    let data = text(&copy_of_data(&folder));
    let provider = ["provider", "--listen", "127.0.0.1:0", "--data", &data];
    // With each limit, another file fails: the runtime's, the certificate, the audit's, the
    // database.
    for files in 5..=20 {
        let (code, err) = limited(&format!("-n {files}"), &provider);
        let advice = format!("raise the limit of open files (ulimit -n), found {files}\n");
        assert!(code == 2 && err.ends_with(&advice), "{files}: {err}");
        assert_eq!(err.lines().count(), 1, "{files}: {err}");
        assert!(!err.contains("restore"), "{files}: {err}");
    }
    // The thread for signals has no runtime; the files are nevertheless written completely or not
    // at all.
    for files in 6..=8 {
        let keys = text(&folder.path(&format!("keys-{files}")));
        let (_, err) = limited(
            &format!("-n {files}"),
            &["keys", "generate", "--only", "signing", &keys],
        );
        assert!(!err.contains("panicked"), "{files}: {err}");
    }
}

/// Returns the exit status of the program under a limit, and its standard error.
fn limited(limit: &str, arguments: &[&str]) -> (i32, String) {
    let shell = format!(r#"ulimit {limit} && exec "$0" "$@""#);
    let program = env!("CARGO_BIN_EXE_bankrail");
    let output = std::process::Command::new("sh")
        .args(["-c", &shell, program])
        .args(arguments)
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), err)
}

#[test]
fn files_that_may_not_be_so_large_leave_no_folder_half_made() {
    let folder = Folder::new();
    let data = folder.path("data");
    for limit in ["-f 0", "-f 1"] {
        let arguments = [
            "provider",
            "--listen",
            "127.0.0.1:0",
            "--data",
            &text(&data),
        ];
        let (code, err) = limited(limit, &arguments);
        assert_eq!(code, 2, "{limit}: {err}");
        let advice = "raise the limit of a file's bytes (ulimit -f), found ";
        assert!(
            err.contains(advice) && err.lines().count() == 1,
            "{limit}: {err}"
        );
        assert_eq!(
            fs::read_dir(data.parent().unwrap()).unwrap().count(),
            0,
            "{limit}"
        );
    }
}

#[test]
fn a_start_that_fails_leaves_nothing() {
    let folder = Folder::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let limits = text(&folder.path("none.toml"));
    let data = folder.path("data");
    for more in [
        &["--operations", taken.as_str()][..],
        &["--page", taken.as_str()],
        &["--limits", limits.as_str()],
    ] {
        Bank::try_start(&data, more).err().unwrap().failed(2);
        let left = fs::read_dir(folder.path("")).unwrap().count();
        assert_eq!(left, 0, "{more:?}");
    }
    // Existing data stays.
    let data = copy_of_data(&folder);
    let before = lasting(&data);
    let run = Bank::try_start(&data, &["--operations", &taken]);
    run.err().unwrap().failed(2);
    assert_eq!(lasting(&data), before);
}

#[test]
fn a_second_name_of_the_database_is_refused() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let (own, other) = (data.join("provider.sqlite"), folder.path("other.sqlite"));
    fs::hard_link(&own, &other).unwrap();
    for further in [&["--listen", "127.0.0.1:0"][..], &["control", "limits"]] {
        let arguments = ["provider", "--data", &text(&data)];
        let line = run([&arguments[..], further].concat()).failed(2);
        assert!(
            line.contains("expected a database with one name, found 2 hard links"),
            "{line}"
        );
    }
    fs::remove_file(other).unwrap();
    drop(Bank::start(&data, &[]));
}

#[test]
fn what_is_made_is_private_and_stays_over_a_restart() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    assert_eq!(
        fs::metadata(&data).unwrap().permissions().mode() & 0o777,
        0o700
    );
    for path in files(&data).keys() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let certificates = ["ca.pem", "server.pem", "receiver.pem"];
        let is_public = name.ends_with(".jwks.json")
            || name.ends_with(".pub.pem")
            || certificates.contains(&name);
        let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let expected = if is_public { 0o644 } else { 0o600 };
        assert_eq!(mode, expected, "{name} {mode:o}");
    }
    let before = lasting(&data);
    let bank = Bank::start(&data, &[]);
    let key = bank.customer("democustomer").text("api_key").to_owned();
    let first = bank.first.join("\n");
    for part in [
        "data folder",
        "issuer",
        "audience",
        "token URL",
        "statement URL",
        "CA file",
        "signing.pub.pem",
        "signing.jwks.json",
        "connection.toml",
        "sample.sh",
        "sample.py",
        "sample.mjs",
        "GBL.INSTO.ACCOUNTS.STATEMENT.READ",
        "999001400100101  AUD",
        "VND000000000108  VND",
        "OTHERCUSTOMER",
        "endpoint     democustomer, https://127.0.0.1:9443",
        "apikey: in connection.toml",
        "page.url",
    ] {
        assert!(first.contains(part), "{part} in {first}");
    }
    // Output that is stored, as in the log of a test, contains no secret.
    let link = fs::read_to_string(data.join("page.url")).unwrap();
    let token = link.split_once("?token=").unwrap().1;
    assert!(!first.contains(&key) && !first.contains(token), "{first}");
    assert_eq!(bank.stop(), ["stopping"]);
    assert_eq!(lasting(&data), before);
    let again = Bank::start(&data, &[]);
    assert_eq!(again.customer("democustomer").text("api_key"), key);
}

#[tokio::test]
async fn two_that_are_started_at_once_on_a_new_folder_end_with_one_set() {
    let folder = Folder::new();
    let data = folder.path("data");
    let both = [(); 2].map(|()| {
        let data = data.clone();
        std::thread::spawn(move || Bank::try_start(&data, &[]))
    });
    let (mut banks, mut refused) = (Vec::new(), Vec::new());
    for one in both {
        match one.join().unwrap() {
            Ok(bank) => banks.push(bank),
            Err(run) => refused.push(run.failed(2)),
        }
    }
    let ([bank], [line]) = (banks.as_slice(), refused.as_slice()) else {
        panic!("{refused:?}")
    };
    assert!(
        line.contains("expected data that no other provider uses"),
        "{line}"
    );
    assert_eq!(
        fs::read_dir(folder.path("")).unwrap().count(),
        1,
        "nothing is left beside the folder"
    );
    // Certificate and authority, assertion key and customer, signing key and its public half belong
    // together.
    for code in ["democustomer", "othercustomer"] {
        let customer = bank.customer(code);
        let token = customer.token().await;
        let account = customer.file["accounts"][0].as_str().unwrap();
        assert_eq!(customer.statement(&token, account).await.status, 200);
    }
    let thumbprint = |name: &str| run(["keys", "thumbprint", &text(&data.join(name))]).fine();
    assert_eq!(thumbprint("signing.pem"), thumbprint("signing.pub.pem"));
    assert_eq!(
        thumbprint("signing.pem"),
        thumbprint("demo/othercustomer/provider.jwks.json")
    );
}

#[test]
fn a_missing_or_damaged_file_is_named_and_nothing_is_replaced() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let before = lasting(&data);
    for name in [
        "signing.pem",
        "server.pem",
        "server-key.pem",
        "ca.pem",
        "cursor.key",
        "customers/othercustomer.toml",
        "demo/democustomer/connection.toml",
    ] {
        let path = data.join(name);
        let content = fs::read(&path).unwrap();
        // Without the file the others would be those of another customer.
        if !name.starts_with("customers/") {
            fs::remove_file(&path).unwrap();
            let line = Bank::try_start(&data, &[]).err().unwrap().failed(2);
            assert!(line.contains(name) && line.contains("; "), "{name}: {line}");
            assert!(!path.exists(), "{name}");
        }
        fs::write(&path, "damaged").unwrap();
        set_mode(&path, 0o600);
        let line = Bank::try_start(&data, &[]).err().unwrap().failed(2);
        let part = if name.starts_with("server") {
            "server"
        } else {
            name
        };
        assert!(line.contains(part), "{name}: {line}");
        assert_eq!(fs::read(&path).unwrap(), b"damaged");
        fs::write(&path, content).unwrap();
    }
    assert_eq!(lasting(&data), before);
    Bank::start(&data, &[]).stop();
}

#[test]
fn the_commands_need_data_and_say_so() {
    let folder = Folder::new();
    for words in [
        &["control", "customers"][..],
        &["control", "messages"],
        &["control", "send", "--endpoint", "x", "--story", "mandate"],
        &["control", "clock"],
    ] {
        let line = act(&folder.path("nothing"), words).failed(2);
        assert!(
            line.contains("expected the data of a provider") && line.contains("--data"),
            "{line}"
        );
    }
    assert!(!folder.path("nothing").exists());
}

#[test]
fn options_of_serving_are_refused_beside_a_command() {
    let folder = Folder::new();
    let command = ["control", "customers"];
    for given in [
        &["--limits", "off"][..],
        &["--strict-clients"],
        &["--listen", "127.0.0.1:8443"],
        &["--seed", "0"],
    ] {
        let line = act(&folder.path("nothing"), given.iter().chain(&command)).failed(2);
        let expected = format!(
            "{}: expected with serving alone, found with a command; leave it out",
            given[0]
        );
        assert!(line.contains(&expected), "{line}");
    }
}

#[test]
fn a_reader_that_has_enough_ends_the_provider_quietly() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    let mut child = command()
        .args(["provider", "--listen", "127.0.0.1:0", "--data"])
        .arg(&data)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The output is closed before the first line.
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!((status.code(), err.as_str()), (Some(0), ""));
}

#[test]
fn the_working_folder_is_not_replaced() {
    let folder = Folder::new();
    let here = folder.path("here");
    fs::create_dir(&here).unwrap();
    let done = command()
        .args(["provider", "--listen", "127.0.0.1:0", "--data", "."])
        .current_dir(&here)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.code() == Some(2) && told.contains("expected another folder"),
        "{told}"
    );
    assert!(fs::read_dir(&here).unwrap().next().is_none());
}

#[test]
fn a_folder_with_customers_of_its_own_gets_no_test_accounts() {
    let folder = Folder::new();
    let data = copy_of_data(&folder);
    fs::remove_dir_all(data.join("demo")).unwrap();
    let before = act(&data, ["control", "customers"]).fine();
    let authority = text(&data.join("ca.pem"));
    let bank = Bank::start(&data, &["--roots", &authority]);
    assert!(
        !bank
            .first
            .iter()
            .any(|line| line.contains("connection.toml")),
        "{:?}",
        bank.first
    );
    drop(bank);
    let line = Bank::try_start(&data, &["--deliver-to", "https://localhost:1"])
        .err()
        .unwrap()
        .failed(2);
    assert!(
        line.contains("--deliver-to: expected a demo customer, found none"),
        "{line}"
    );
    assert_eq!(act(&data, ["control", "customers"]).fine(), before);
}
