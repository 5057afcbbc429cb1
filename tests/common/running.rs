//! The program as a process: requests over a real connection, signals, output and memory.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;
use siaga::auth::KeyDigest;
use tempfile::TempDir;

use crate::eventually::{LONG, eventually_blocking};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_siaga");
/// A key with the scope `admin`.
pub(crate) const KEY: &str = "a key for everything";

pub(crate) fn keys() -> String {
    format!(r#"[{{name="root",sha256="{}",scopes=["admin"]}}]"#, KeyDigest::new(KEY).to_hex())
}

/// Returns a memory field of a process in bytes: current (`VmRSS`) or peak (`VmHWM`).
pub(crate) fn memory_of(process: &str, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(":"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// A running service, killed on drop.
pub(crate) struct Running {
    pub(crate) process: Child,
    /// Its output during startup.
    pub(crate) lines: Vec<String>,
    pub(crate) authority: String,
    /// Its output after startup.
    output: Option<JoinHandle<String>>,
    pub(crate) folder: TempDir,
}

impl Running {
    /// Starts the service on a free port and waits until it prints a line with a text.
    pub(crate) fn start(variables: &[(&str, &str)], until: &str) -> Self {
        Self::start_with(variables, until, "")
    }

    /// Starts the service with the demo or without data, and a temporary key.
    pub(crate) fn demo(variables: &[(&str, &str)]) -> Self {
        Self::start(variables, "it allows everything")
    }

    /// The same, with a `Rocket.toml`.
    pub(crate) fn start_with(variables: &[(&str, &str)], until: &str, file: &str) -> Self {
        Self::spawn(Command::new(PROGRAM), variables, until, file)
    }

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
        // Keeps reading, because the service would block on a full pipe.
        let output = thread::spawn(move || {
            let mut printed = String::new();
            output.read_to_string(&mut printed).unwrap();
            printed
        });
        Self { process, lines, authority, output: Some(output), folder }
    }

    /// The key printed at startup.
    pub(crate) fn key(&self) -> &str {
        self.lines.iter().find_map(|line| line.trim_start().strip_prefix("export KEY=")).unwrap()
    }

    /// Sends bytes and returns the response until the service closes the connection.
    pub(crate) fn send(&self, request: &str) -> String {
        send(&self.authority, request).unwrap()
    }

    pub(crate) fn request(&self, method: &str, target: &str, rest: &str) -> String {
        self.send(&request(&self.authority, method, target, rest))
    }

    /// Opens a connection and sends the beginning of a request.
    pub(crate) fn begin(&self, head: &str, body: &[u8]) -> TcpStream {
        let mut connection = TcpStream::connect(&self.authority).unwrap();
        connection.set_read_timeout(Some(LONG)).unwrap();
        connection.write_all(head.as_bytes()).unwrap();
        // The service may have responded and closed the connection.
        let _ = connection.write_all(body);
        connection
    }

    /// Starts the service in a shell after commands such as `ulimit`.
    pub(crate) fn start_after(commands: &str, variables: &[(&str, &str)], until: &str) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("{commands}; exec {PROGRAM}")]);
        Self::spawn(shell, variables, until, "")
    }

    /// Sends it a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.process.id().to_string()]).status();
        assert!(sent.unwrap().success(), "SIG{name}");
    }

    /// Standard error so far.
    pub(crate) fn errors(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("errors")).unwrap()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Polls until `found` returns a value.
    pub(crate) fn until<T: Debug>(&self, condition: &str, mut found: impl FnMut(&Self) -> Option<T>) -> T {
        // On failure, shows the log of the service.
        let look = || found(self).ok_or_else(|| self.errors());
        eventually_blocking(condition, LONG, look, Result::is_ok).unwrap()
    }

    /// Waits until it exits by itself; returns the exit code and the duration.
    pub(crate) fn wait_for_exit(&mut self) -> (Option<i32>, Duration) {
        let since = Instant::now();
        let look = || self.process.try_wait().unwrap().ok_or_else(|| self.errors());
        let status = eventually_blocking("it ends", LONG, look, Result::is_ok).unwrap();
        (status.code(), since.elapsed())
    }

    /// Sends a photo to an upload address; returns the response.
    pub(crate) fn upload(&self, target: &str, photo: &[u8]) -> String {
        let head = format!("Content-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", photo.len());
        let mut connection = TcpStream::connect(&self.authority).unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        connection.write_all(request(&self.authority, "PUT", target, &head).as_bytes()).unwrap();
        connection.write_all(photo).unwrap();
        let mut response = String::new();
        connection.read_to_string(&mut response).unwrap();
        response
    }

    /// Kills it; returns its output after startup and its standard error.
    pub(crate) fn kill(mut self) -> String {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.output.take().unwrap().join().unwrap() + &self.errors()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        self.process.wait().unwrap();
    }
}

/// A raw request; `rest` is further headers, the empty line and the body.
pub(crate) fn request(authority: &str, method: &str, target: &str, rest: &str) -> String {
    format!("{method} {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{rest}")
}

/// Sends bytes and reads until the connection is closed.
pub(crate) fn send(authority: &str, request: &str) -> io::Result<String> {
    let mut connection = TcpStream::connect(authority)?;
    connection.set_read_timeout(Some(Duration::from_secs(20)))?;
    connection.write_all(request.as_bytes())?;
    let mut response = Vec::new();
    // A service that did not read the whole request may reset the connection after its response.
    let _ = connection.read_to_end(&mut response);
    Ok(decode_chunked(String::from_utf8(response).unwrap()))
}

/// Decodes a chunked response (RFC 9112 §7.1). A truncated one stays unchanged.
pub(crate) fn decode_chunked(response: String) -> String {
    let Some((head, mut chunks)) = response.split_once("\r\n\r\n") else { return response };
    if !head.to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked") {
        return response;
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

/// Returns the path of the upload address in a response about a card's images. The service does not know its port.
pub(crate) fn upload_path(response: &Value) -> String {
    let address = response["signedRequest"].as_str().unwrap_or_else(|| panic!("{response}"));
    address[address.find("/v1/").unwrap()..].to_owned()
}
