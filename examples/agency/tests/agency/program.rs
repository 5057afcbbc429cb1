use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn a_request_that_a_guard_of_the_agency_rejects_is_not_logged() {
    let mut service = Command::new(env!("CARGO_BIN_EXE_agency"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("ROCKET_PORT", "0")
        .env("SIAGA_IMAGES__URL", "memory:///")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(service.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let authority = line.split("://").nth(1).unwrap().split('/').next().unwrap();
    let mut answer = String::new();
    let mut link = TcpStream::connect(authority).unwrap();
    link.write_all(b"GET /v1/warnings?city=x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    link.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    service.kill().unwrap();
    let errors = service.wait_with_output().unwrap().stderr;
    assert_eq!(String::from_utf8(errors).unwrap(), "");
}
