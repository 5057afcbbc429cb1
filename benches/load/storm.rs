//! A storm of changes: sets a fixed number of area states per second, however long each takes.
//!
//! `storm ADDRESS KEY AREAS RATE SECONDS` changes the states of the areas in the file AREAS (one identifier per line), one
//! after the other. It prints how many changes were due, how many got a response of 200, and by how many milliseconds the
//! latest one was late. Each change has a fixed time at which it is due, even if those before it are late: a server that falls
//! behind gets the missed changes at once.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;

/// The number of connections, so that one slow response does not delay the next change.
const CONNECTIONS: u32 = 16;

/// The changes to make, with the address of the server.
#[derive(Clone, Debug)]
struct Storm {
    address: String,
    key: String,
    areas: Vec<String>,
    rate: f64,
    changes: u32,
}

/// The results of changes.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    succeeded: usize,
    latest: Duration,
}

impl Outcome {
    fn and(self, other: Self) -> Self {
        Self { succeeded: self.succeeded + other.succeeded, latest: self.latest.max(other.latest) }
    }
}

impl Storm {
    fn from_arguments() -> Result<Self, Failure> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [address, key, areas, rate, seconds] = &arguments[..] else {
            return Err("usage: storm ADDRESS KEY AREAS RATE SECONDS".into());
        };
        let areas: Vec<String> = std::fs::read_to_string(areas)?.lines().map(str::to_owned).collect();
        let rate: f64 = rate.parse()?;
        let changes = (rate * seconds.parse::<f64>()?) as u32;
        Ok(Self { address: address.clone(), key: key.clone(), areas, rate, changes })
    }

    /// Returns the request for a change. Consecutive changes are of areas far apart in the list.
    fn request(&self, number: u32) -> String {
        let area = &self.areas[number as usize * 997 % self.areas.len()];
        let body = format!("{{\"state\":{}}}", 1 + number / 7 % 4);
        format!(
            "PUT /v1/floods/{area} HTTP/1.1\r\nHost: {}\r\nX-Api-Key: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            self.key,
            body.len(),
        )
    }

    /// Sends every [`CONNECTIONS`]th change from `first` on, when it is due.
    fn connection(&self, first: u32, start: Instant) -> Result<Outcome, Failure> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let mut responses = BufReader::new(stream.try_clone()?);
        let mut outcome = Outcome::default();
        for number in (first..self.changes).step_by(CONNECTIONS as usize) {
            let due = start + Duration::from_secs_f64(f64::from(number) / self.rate);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let latest = Instant::now().saturating_duration_since(due);
            (&stream).write_all(self.request(number).as_bytes())?;
            let succeeded = usize::from(status(&mut responses)? == 200);
            outcome = outcome.and(Outcome { succeeded, latest });
        }
        Ok(outcome)
    }
}

/// Returns the status of the next response, and reads the rest of it.
fn status(responses: &mut impl BufRead) -> Result<u16, Failure> {
    let mut line = String::new();
    responses.read_line(&mut line)?;
    let status = line.split_whitespace().nth(1).ok_or("no status line")?.parse()?;
    let mut length = 0;
    loop {
        line.clear();
        responses.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse()?;
            }
            Some(_) => {}
            None => break,
        }
    }
    io::copy(&mut responses.take(length), &mut io::sink())?;
    Ok(status)
}

fn main() -> Result<(), Failure> {
    let storm = Storm::from_arguments()?;
    let start = Instant::now();
    let outcome = thread::scope(|scope| {
        let connections: Vec<_> = (0..CONNECTIONS)
            .map(|first| {
                let storm = &storm;
                scope.spawn(move || storm.connection(first, start))
            })
            .collect();
        let mut outcomes = connections.into_iter().map(|connection| connection.join().expect("no panic"));
        outcomes.try_fold(Outcome::default(), |sum, outcome| Ok::<_, Failure>(sum.and(outcome?)))
    })?;
    println!("{} {} {}", storm.changes, outcome.succeeded, outcome.latest.as_millis());
    Ok(())
}
