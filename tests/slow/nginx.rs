//! nginx in front of the service, with Debian's configuration and with `deploy/nginx.conf`: it forwards events at once.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::demo::Demo;
use crate::eventually::{LONG, eventually_blocking, patiently};
use crate::port::free_port;
use crate::tools::{printed, program};

const SOON: Duration = Duration::from_secs(1);

/// A process stopped on drop, by SIGTERM so that nginx can stop its workers.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        Command::new("kill").arg(self.0.id().to_string()).status().unwrap();
        self.0.wait().unwrap();
    }
}

pub(crate) struct Proxy {
    _process: Process,
    _folder: TempDir,
    pub(crate) base: String,
    /// The arguments for curl.
    arguments: Vec<String>,
}

/// Replaces texts, each of which must occur.
pub(crate) fn replaced(text: &str, pairs: &[(&str, &str)]) -> String {
    pairs.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// Returns the lines of a configuration without those that this machine does not support.
pub(crate) fn lines_without(text: &str, parts: &[&str]) -> String {
    let lines = text.lines().filter(|line| !parts.iter().any(|part| line.contains(part)));
    lines.map(|line| format!("{line}\n")).collect()
}

impl Proxy {
    /// Starts nginx with the package's `nginx.conf` and these sites on a port.
    pub(crate) fn start(folder: TempDir, sites: &str, port: u16, base: String, arguments: &[&str]) -> Self {
        program("nginx").arg("-v").output().unwrap();
        let path = folder.path().display();
        let text = fs::read_to_string("/etc/nginx/nginx.conf").unwrap();
        let pairs = [
            ("/run/nginx.pid", &*format!("{path}/pid")),
            ("/var/log/nginx/", &format!("{path}/")),
            // The folder is for the user of the test only.
            ("user www-data;", "user root;"),
            ("include /etc/nginx/conf.d/*.conf;", sites),
            ("include /etc/nginx/sites-enabled/*;", ""),
        ];
        let file = folder.path().join("nginx.conf");
        fs::write(&file, replaced(&text, &pairs)).unwrap();
        let mut nginx = Command::new("nginx");
        nginx.args(["-e", "stderr", "-g", "daemon off;", "-c"]).arg(file);
        let process = Process(nginx.spawn().unwrap());
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
        eventually_blocking("the proxy listens", LONG, connect, |found| *found);
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Self { _process: process, _folder: folder, base, arguments }
    }

    /// Debian's configuration with only the address of the service.
    fn with_debians_configuration(demo: &Demo) -> Self {
        let (port, service) = (free_port(), demo.origin(""));
        let site = format!("server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {service}; }} }}");
        Self::start(tempfile::tempdir().unwrap(), &site, port, format!("http://127.0.0.1:{port}/v1"), &[])
    }

    /// The same with `deploy/nginx.conf`.
    fn with_our_configuration(demo: &Demo) -> Self {
        let (folder, plain, port) = (tempfile::tempdir().unwrap(), free_port(), free_port());
        let path = folder.path().display().to_string();
        let certificate = format!("{path}/fullchain.pem");
        let mut openssl = program("openssl");
        openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]);
        openssl.args(["-subj", "/CN=data.example.org", "-addext", "subjectAltName=DNS:data.example.org"]);
        openssl.args(["-out", &certificate, "-keyout", &format!("{path}/privkey.pem")]);
        printed("openssl", &mut openssl);
        let pairs = [
            ("server 127.0.0.1:8000;", &*format!("server {};", demo.origin("").replace("http://", ""))),
            ("/etc/letsencrypt/live/data.example.org", &path),
            ("listen 80;", &format!("listen 127.0.0.1:{plain};")),
            ("listen 443 ", &format!("listen 127.0.0.1:{port} ")),
        ];
        let text = lines_without(include_str!("../../deploy/nginx.conf"), &["listen [::]"]);
        let resolve = format!("data.example.org:{port}:127.0.0.1");
        let arguments = ["--cacert", &certificate, "--resolve", &resolve];
        let base = format!("https://data.example.org:{port}/v1");
        Self::start(folder, &replaced(&text, &pairs), port, base, &arguments)
    }

    pub(crate) fn curl(&self, arguments: &[&str]) -> Command {
        let mut curl = program("curl");
        curl.args(["-sN", "--no-progress-meter"]).args(&self.arguments).args(arguments);
        curl
    }

    /// Requests addresses; sends each line of the responses as it is received.
    fn stream(&self, address: &str) -> (Process, Receiver<String>) {
        let mut curl =
            self.curl(&["--parallel", "--parallel-max", "200", &format!("{}/{address}", self.base)]);
        let mut process = curl.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        (Process(process), receiver)
    }
}

/// Waits for a number of lines with a text.
fn wait_for(lines: &Receiver<String>, text: &str, times: usize) {
    let (limit, begun, mut seen) = (patiently(LONG), Instant::now(), 0);
    while seen < times {
        let line = lines.recv_timeout(limit).ok().filter(|_| begun.elapsed() < limit);
        seen += line.unwrap_or_else(|| panic!("{text} came {seen} times")).matches(text).count();
    }
}

/// Sends JSON to the service itself.
pub(crate) fn put(demo: &Demo, target: &str, body: &str) {
    let mut curl = program("curl");
    curl.args(["-sf", "-X", "PUT", "-H", &format!("X-Api-Key: {}", demo.key()), "-d", body]);
    printed("curl", curl.arg(demo.address(target)));
}

/// Changes a state repeatedly, and measures the delay of each event through nginx.
pub(crate) fn events_come_soon(demo: &Demo, nginx: &Proxy) {
    let (_curl, lines) = nginx.stream("changes/stream");
    wait_for(&lines, "\"full\":true", 1);
    let mut slowest = Duration::ZERO;
    for state in [1, 2, 3, 4, 1, 2, 3, 4] {
        let begun = Instant::now();
        put(demo, "floods/5", &format!("{{\"state\":{state}}}"));
        wait_for(&lines, &format!("\"area_id\":\"5\",\"state\":{state}"), 1);
        slowest = slowest.max(begun.elapsed());
    }
    println!("{}: at most {slowest:?} from the request to the event", nginx.base);
    assert!(slowest < patiently(SOON), "{slowest:?}");
}

#[test]
fn nginx_with_debians_configuration_forwards_events_within_a_second() {
    let demo = Demo::start();
    events_come_soon(&demo, &Proxy::with_debians_configuration(&demo));
    demo.end();
}

#[test]
fn nginx_with_our_configuration_forwards_events_long_polls_and_the_streams_of_an_address() {
    let demo = Demo::start();
    let nginx = Proxy::with_our_configuration(&demo);
    events_come_soon(&demo, &nginx);
    let cursor = demo.get("changes")["result"]["cursor"].as_str().unwrap().to_owned();
    let waits = format!("{}/changes?wait=30&since={cursor}", nginx.base);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let begun = Instant::now();
            let printed = printed("curl", &mut nginx.curl(&["-w", "%{http_code}", &waits]));
            assert!(printed.ends_with("200"), "{printed}");
            begun.elapsed()
        });
        // Short events, because curl mixes what it receives at the same time.
        let (_curl, lines) = nginx.stream("changes/stream?minimum_state=4#[1-100]");
        wait_for(&lines, "\"full\":true", 100);
        let waited = waiting.join().unwrap();
        assert!(waited > Duration::from_secs(29), "{waited:?}");
    });
    drop(nginx);
    demo.end();
}

#[test]
fn nginx_rejects_forms_with_a_page_that_the_report_was_not_received() {
    let demo = Demo::start();
    let nginx = Proxy::with_our_configuration(&demo);
    let files = tempfile::tempdir().unwrap();
    let photo = files.path().join("large.jpg");
    fs::write(&photo, vec![0; 9_000_000]).unwrap();
    let report = nginx.base.replace("/v1", "/report");
    let file = format!("photo=@{}", photo.display());
    let large = printed("curl", &mut nginx.curl(&["-i", "-H", "Expect:", "-F", &file, &report]));
    for part in [" 413 ", "text/html", "not received"] {
        assert!(large.to_ascii_lowercase().contains(part), "{large}");
    }

    // 64 are received at once: these are sent so slowly that none ends during the test.
    let body = files.path().join("slow.form");
    let head = b"--part\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\n\r\n";
    fs::write(&body, [head.to_vec(), vec![0; 3_000_000], b"\r\n--part--\r\n".to_vec()].concat()).unwrap();
    let body = format!("@{}", body.display());
    let responses = files.path().join("responses");
    let mut slow =
        nginx.curl(&["-i", "--http1.1", "--parallel", "--parallel-max", "70", "--limit-rate", "1k"]);
    slow.args(["-H", "Content-Type: multipart/form-data; boundary=part", "--data-binary", &body]);
    slow.args(vec![report.as_str(); 70]).stdout(fs::File::create(&responses).unwrap());
    let slow = Process(slow.spawn().unwrap());
    let refusal = "was <b>not received</b>: too many";
    let refused = || fs::read_to_string(&responses).unwrap().matches(refusal).count();
    eventually_blocking("all beyond 64 are refused", LONG, refused, |refused| *refused == 6);
    let text = fs::read_to_string(&responses).unwrap().to_ascii_lowercase();
    assert_eq!(text.matches("retry-after: 30").count(), 6);
    drop(slow);
    let another = || printed("curl", &mut nginx.curl(&["-i", "-F", "text=water", &report]));
    eventually_blocking("the next is received", LONG, another, |response| !response.contains(refusal));
    drop(nginx);
    demo.end();
}
