//! The program as a process, spoken to over a real connection.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_siaga");

/// A running service, stopped when it is dropped.
pub(crate) struct Running {
    pub(crate) process: Child,
    /// What it printed at its start.
    pub(crate) lines: Vec<String>,
    /// Where it listens.
    pub(crate) authority: String,
    /// What it prints after its start.
    output: Option<JoinHandle<String>>,
    pub(crate) folder: TempDir,
}

impl Running {
    /// Starts the service on a free port and waits until it has printed a line with a text.
    pub(crate) fn start(variables: &[(&str, &str)], until: &str) -> Self {
        Self::start_with(variables, until, "")
    }

    /// The same, with a `Rocket.toml`.
    pub(crate) fn start_with(variables: &[(&str, &str)], until: &str, file: &str) -> Self {
        Self::spawn(Command::new(PROGRAM), variables, until, file)
    }

    /// The same, by a command that runs the program.
    pub(crate) fn spawn(mut program: Command, variables: &[(&str, &str)], until: &str, file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Rocket.toml"), file).unwrap();
        let mut process = program
            .current_dir(&folder)
            .env_clear()
            .env("ROCKET_PORT", "0")
            .env("ROCKET_LOG_LEVEL", "off")
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join("errors")).unwrap())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut lines: Vec<String> = Vec::new();
        while !lines.last().is_some_and(|line| line.contains(until)) {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "ended after {lines:?}");
            lines.push(line.trim_end().to_owned());
        }
        let authority = lines.iter().find_map(|line| line.split("://").nth(1)).unwrap();
        let authority = authority.split('/').next().unwrap().to_owned();
        // Read on all the while: a service whose output nobody takes stands still.
        let output = thread::spawn(move || {
            let mut printed = String::new();
            output.read_to_string(&mut printed).unwrap();
            printed
        });
        Self { process, lines, authority, output: Some(output), folder }
    }

    /// The key that was printed at the start.
    pub(crate) fn key(&self) -> &str {
        self.lines.iter().find_map(|line| line.trim_start().strip_prefix("export KEY=")).unwrap()
    }

    /// The answer to a request sent as these bytes, until the service closes the connection.
    pub(crate) fn send(&self, request: &str) -> String {
        send(&self.authority, request).unwrap()
    }

    pub(crate) fn request(&self, method: &str, target: &str, rest: &str) -> String {
        self.send(&request(&self.authority, method, target, rest))
    }

    /// Ends it as a crash would; answers what it printed after its start, on both outputs.
    pub(crate) fn kill(mut self) -> String {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.output.take().unwrap().join().unwrap()
            + &std::fs::read_to_string(self.folder.path().join("errors")).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have been killed before.
        let _ = self.process.kill();
        self.process.wait().unwrap();
    }
}

/// A request as it goes over the connection; `rest` is further headers, the empty line and the body.
pub(crate) fn request(authority: &str, method: &str, target: &str, rest: &str) -> String {
    format!("{method} {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{rest}")
}

/// Sends bytes and reads until the connection is closed.
pub(crate) fn send(authority: &str, request: &str) -> io::Result<String> {
    let mut connection = TcpStream::connect(authority)?;
    connection.set_read_timeout(Some(Duration::from_secs(20)))?;
    connection.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    // A service that did not read the whole request may reset the connection after its answer.
    let _ = connection.read_to_end(&mut answer);
    Ok(joined(String::from_utf8(answer).unwrap()))
}

/// The response with the chunks of its body together (RFC 9112 §7.1). One that was cut off stays as it is.
pub(crate) fn joined(answer: String) -> String {
    let Some((head, mut chunks)) = answer.split_once("\r\n\r\n") else { return answer };
    if !head.to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked") {
        return answer;
    }
    let mut whole = format!("{head}\r\n\r\n");
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        let Some((chunk, rest)) = rest.split_at_checked(size).filter(|_| size > 0) else { break };
        whole.push_str(chunk);
        chunks = rest.strip_prefix("\r\n").unwrap_or_default();
    }
    whole
}
