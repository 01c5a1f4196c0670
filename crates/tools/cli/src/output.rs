//! Standard output, files, colours.

use crate::failure::Failure;
use crate::files::{unnamed, unwritable};
use crate::text::{counted, shown, shown_json};
use crate::unfinished::Unfinished;
use bankrail::jose::base64url;
use bankrail::values::json::{self, JsonLimits, JsonMember};
use clap::ColorChoice;
use serde::Serialize;
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, LineWriter, Write};
use std::path::{Path, PathBuf};

/// True if what is printed is in colours, to a terminal or elsewhere.
fn is_colored(choice: ColorChoice, terminal: bool) -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            terminal && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// The destination of what a command prints.
pub(crate) struct Output {
    writer: Box<dyn Write>,
    colors: bool,
    log_colors: bool,
    terminal: bool,
}

impl Output {
    /// Standard output.
    pub(crate) fn standard(color: ColorChoice) -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        // On a terminal, each line is shown at once, in order with those of standard error.
        let writer: Box<dyn Write> = if terminal {
            Box::new(LineWriter::new(stdout))
        } else {
            Box::new(BufWriter::with_capacity(1 << 16, stdout))
        };
        let log_colors = is_colored(color, io::stderr().is_terminal());
        Self {
            writer,
            colors: is_colored(color, terminal),
            log_colors,
            terminal,
        }
    }

    /// Returns true if the log on standard error is in colours.
    pub(crate) fn log_colors(&self) -> bool {
        self.log_colors
    }

    /// Returns true if the output goes to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Returns the columns of the terminal; `None` without one.
    pub(crate) fn columns(&self) -> Option<usize> {
        let (terminal_size::Width(columns), _) =
            terminal_size::terminal_size().filter(|_| self.terminal)?;
        // A table is unreadable in fewer columns.
        Some(usize::from(columns).max(40))
    }

    /// Returns a text in a colour, if colours are on.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.colors {
            // Lossless: the styles have codes below 256.
            format!("\x1b[{}m{text}\x1b[0m", style as u8)
        } else {
            text.to_owned()
        }
    }

    /// Returns the number of findings, in a colour.
    pub(crate) fn verdict(&self, findings: impl TryInto<u64>) -> String {
        match findings.try_into().unwrap_or(u64::MAX) {
            0 => self.paint(Style::Green, "no findings"),
            findings => self.paint(Style::Bold, &counted(findings, "finding", "findings")),
        }
    }

    /// Prints one line.
    pub(crate) fn line(&mut self, line: impl std::fmt::Display) -> Result<(), Failure> {
        Ok(writeln!(self, "{line}")?)
    }

    /// Prints a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value).expect("texts and numbers are JSON");
        self.line(shown_json(&text))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.terminal {
            // The line of progress would stand before the text.
            crate::clear_progress();
        }
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The writer of the steps of an explanation, as lines for people or as JSON objects.
pub(crate) struct Steps<'a> {
    pub(crate) output: &'a mut Output,
    pub(crate) json: bool,
}

impl Steps<'_> {
    /// Prints a heading, but not in JSON.
    pub(crate) fn title(&mut self, title: &str) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        self.output.line(self.output.paint(Style::Bold, title))
    }

    /// Prints a line, but not in JSON.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        self.output.line(shown(line))
    }

    /// Prints the members of a JSON object in base64url, each with a remark, but not in JSON.
    pub(crate) fn members(
        &mut self,
        encoded: &str,
        remark: impl Fn(&JsonMember<'_>) -> String,
    ) -> Result<(), Failure> {
        let limits = JsonLimits::new()
            .max_document_bytes(12 * 1024)
            .max_depth(8)
            .max_values(256);
        let Ok(object) = base64url::decode(encoded) else {
            return self.line("  not base64url");
        };
        match json::read_object(&object, &limits) {
            Ok(object) => object.members().iter().try_for_each(|member| {
                let (name, value) = (member.name(), member.json());
                self.line(&format!("  {name}: {value}{}", remark(member)))
            }),
            Err(error) => self.line(&format!("  not one JSON object: {error}")),
        }
    }

    /// Prints a step with its mark (`pass`, `FAIL`, `open` or `note`) and a detail.
    pub(crate) fn step(&mut self, mark: &str, step: &str, detail: &str) -> Result<(), Failure> {
        if self.json {
            let verdict = mark.to_lowercase();
            return self
                .output
                .json(&json!({ "verdict": verdict, "step": step, "detail": detail }));
        }
        let style = match mark {
            "pass" => Style::Green,
            "FAIL" => Style::Red,
            _ => Style::Dim,
        };
        let colon = if step.is_empty() || detail.is_empty() {
            ""
        } else {
            ": "
        };
        self.output.line(format_args!(
            "  {}  {}{colon}{}",
            self.output.paint(style, mark),
            shown(step),
            shown(detail)
        ))
    }
}

/// An emphasis of a text; the value is the number of the ANSI sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    Bold = 1,
    Dim = 2,
    Red = 31,
    Green = 32,
}

/// A file that appears under its name when it is complete, or standard output. Without
/// [`Destination::finish`] a new file is removed, and an earlier file is unchanged.
pub(crate) enum Destination<'a> {
    Output(&'a mut Output),
    /// A device or a pipe, which cannot be replaced.
    Device(PathBuf, File),
    File(PathBuf, BufWriter<Unfinished>),
}

impl<'a> Destination<'a> {
    /// Opens a file, or standard output for `-` or no name. A file that is replaced keeps its
    /// permissions; a link keeps pointing to it.
    pub(crate) fn open(path: Option<&Path>, output: &'a mut Output) -> Result<Self, Failure> {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => Self::open_file(path).map_err(|error| unwritable(path, &error)),
            None => Ok(Self::Output(output)),
        }
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        let (path, file) = match fs::metadata(path) {
            Ok(found) if found.is_file() => {
                // A rename checks only the folder's permissions, so a read-only file is refused
                // here.
                if found.permissions().readonly() {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                drop(OpenOptions::new().append(true).open(path)?);
                let path = fs::canonicalize(path)?;
                // Only the owner can read the file until it gets the permissions of the file that
                // it replaces.
                let file = unnamed(&path, 0o600)?;
                fs::set_permissions(file.path(), found.permissions())?;
                (path, file)
            }
            Ok(_) => {
                return Ok(Self::Device(
                    path.to_owned(),
                    OpenOptions::new().write(true).open(path)?,
                ));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                (path.to_owned(), unnamed(path, 0o666)?)
            }
            Err(error) => return Err(error),
        };
        Ok(Self::File(path, BufWriter::with_capacity(1 << 16, file)))
    }

    /// Returns true if the output goes to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Self::Output(output) => output.is_terminal(),
            Self::Device(_, file) => file.is_terminal(),
            Self::File(..) => false,
        }
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let name = |file: BufWriter<Unfinished>, path: &Path| {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            // Syncs before the file gets its name, so that after a crash either the new file is
            // complete or the old one stays.
            file.sync()?;
            file.persist(path)
        };
        match self {
            Self::Output(output) => Ok(output.flush()?),
            Self::Device(path, mut file) => file.flush().map_err(|error| unwritable(&path, &error)),
            Self::File(path, file) => name(file, &path).map_err(|error| unwritable(&path, &error)),
        }
    }

    fn writer(&mut self) -> (Option<&Path>, &mut dyn Write) {
        match self {
            Self::Output(output) => (None, output),
            Self::Device(path, file) => (Some(path), file),
            Self::File(path, file) => (Some(path), file),
        }
    }
}

/// Errors of writing name the file.
impl Write for Destination<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (path, writer) = self.writer();
        writer.write(bytes).map_err(|error| named(path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let (path, writer) = self.writer();
        writer.flush().map_err(|error| named(path, error))
    }
}

fn named(path: Option<&Path>, error: io::Error) -> io::Error {
    match path {
        Some(path) => io::Error::new(error.kind(), format!("{}: {error}", path.display())),
        None => error,
    }
}
