//! The clients in `examples/clients` of docs/staying-up-to-date.md: they miss nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::blocks::{Block, marked};
use crate::demo::Demo;
use crate::port::free_port;
use crate::tools::{folder_with, node, printed, program, python};

/// Returns the only block of the page with a mark.
fn block(mark: &str) -> Block {
    let [block] = <[Block; 1]>::try_from(marked(mark)).unwrap();
    assert_eq!(block.page, "docs/staying-up-to-date.md");
    block
}

/// Runs a Python script with a client, stand-ins for other servers, and a program of the examples.
fn python_script(script: &str, program: &str, arguments: &[&str]) {
    let script_path = format!("tests/documentation/{script}");
    let folder = folder_with(&[&script_path, "tests/documentation/stand_in.py", "examples/clients/live.py"]);
    image::RgbImage::new(60, 30).save(folder.path().join("photo.jpg")).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(program);
    let mut python = python();
    printed(script, python.current_dir(&folder).arg(script).arg(program).args(arguments));
}

/// Reads the output of a program up to a matching line, then ends the program.
fn until(command: &mut Command, wanted: impl Fn(&str) -> bool) {
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let found = lines.map(Result::unwrap).any(|line| wanted(&line));
    // It may have ended by itself.
    let _ = process.kill();
    process.wait().unwrap();
    assert!(found, "{command:?}");
}

#[test]
fn eight_tabs_of_a_browser_share_one_stream_and_miss_nothing() {
    let demo = Demo::configured(&[("SIAGA_METRICS__ENABLED", "true")]);
    let folder = folder_with(&["examples/clients/live.js", "tests/documentation/tabs.mjs"]);
    fs::write(folder.path().join("page.html"), demo.fill_in(&block("tabs").text)).unwrap();
    let mut tabs = node(folder.path());
    tabs.args(["tabs.mjs", &demo.base(), &demo.origin("/metrics"), demo.key()]);
    println!("{}", printed("tabs.mjs", &mut tabs));
    demo.end();
}

#[test]
fn the_client_in_python_follows_a_service_that_changes_refuses_and_cuts_streams() {
    let demo = Demo::start();
    python_script("following.py", "clients/live.py", &[&demo.base(), demo.key()]);
    demo.end();
}

#[test]
fn the_program_of_the_page_prints_how_many_areas_are_flooded() {
    let (demo, folder) = (Demo::start(), folder_with(&["examples/clients/live.py"]));
    fs::write(folder.path().join("program.py"), demo.fill_in(&block("live").text)).unwrap();
    let flooded = format!("{} flooded areas;", demo.flooded());
    until(python().current_dir(&folder).args(["-u", "program.py"]), |line| line.starts_with(&flooded));
    demo.end();
}

#[test]
fn curl_prints_the_stream_as_it_comes() {
    let demo = Demo::start();
    let mut shell = program("sh");
    shell.env("BASE", demo.base()).args(["-c", &format!("exec {}", block("stream").text)]);
    until(&mut shell, |line| line.starts_with("data:{") && line.contains(r#""full":true"#));
    demo.end();
}

#[test]
fn the_bridge_sends_changes_to_telegram_and_waits_when_it_is_refused() {
    let demo = Demo::start();
    python_script("telegram.py", "bridge/telegram.py", &[&demo.base(), demo.key()]);
    demo.end();
}

#[test]
fn the_bot_for_reports_sends_each_person_a_link_to_the_form_and_adds_their_photo_to_the_report() {
    let demo = Demo::start();
    python_script("reports_bot.py", "bridge/reports.py", &[&demo.base(), demo.key(), "photo.jpg"]);
    demo.end();
}

#[test]
fn the_program_for_mails_sends_the_body_of_a_webhook() {
    python_script("mail_bot.py", "webhooks/mail.py", &[]);
}

#[test]
fn the_bot_thanks_for_a_report_by_a_webhook_that_only_siaga_can_send() {
    let port = free_port().to_string();
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let demo = Demo::configured(&[
        ("SIAGA_WEBHOOKS__THANKS__URL", &format!("http://127.0.0.1:{port}/")),
        ("SIAGA_WEBHOOKS__THANKS__EVENT", "report"),
        ("SIAGA_WEBHOOKS__THANKS__SECRET", secret),
        ("SIAGA_WEBHOOKS__THANKS__PRIVATE", "true"),
        ("SIAGA_WEBHOOKS__THANKS__PERSONAL", "true"),
    ]);
    python_script("thanks_bot.py", "bridge/thanks.py", &[&port, secret, &demo.base(), demo.key()]);
    let log = demo.log();
    assert!(log.contains("a webhook request failed and is retried"), "the first message was lost: {log}");
}

#[test]
fn libraries_for_server_sent_events_read_the_full_state_first_and_then_a_change() {
    let (demo, folder) = (Demo::start(), folder_with(&["tests/documentation/clients/stream.mjs"]));
    printed("eventsource", node(folder.path()).args(["stream.mjs", &demo.base(), demo.key()]));
    let script = include_str!("clients/stream.py");
    printed("httpx-sse", python().args(["-c", script, &demo.base(), demo.key()]));
    demo.end();
}
