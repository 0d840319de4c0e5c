//! Blocking streams on threads of their own.

use std::io::{Read, Write};
use std::time::Duration;

use acp_rpc::stdio::{ThreadReader, ThreadWriter};
use acp_rpc::{Config, Handlers, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[test]
fn an_open_but_silent_input_does_not_hold_the_runtime_up() {
    let (silent, _open) = std::io::pipe().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut reader = ThreadReader::new(silent).unwrap();
        let read = tokio::time::timeout(Duration::from_millis(1), reader.read_u8()).await;
        assert!(read.is_err(), "there is nothing to read");
    });
    // Would not return if the runtime waited for the read.
    drop(runtime);
}

#[test]
fn a_connection_runs_over_blocking_pipes_and_large_writes_arrive_whole() {
    let (input, mut to_server) = std::io::pipe().unwrap();
    let (mut from_server, output) = std::io::pipe().unwrap();
    let text = "x".repeat(3 << 20);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"text": text}});
    let writing = std::thread::spawn(move || to_server.write_all(format!("{request}\n").as_bytes()).unwrap());
    let reading = std::thread::spawn(move || {
        let mut answer = String::new();
        from_server.read_to_string(&mut answer).unwrap();
        answer
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let reader = ThreadReader::new(input).unwrap();
        let writer = ThreadWriter::new(output).unwrap();
        let service = |peer| Handlers::new(peer).answer("echo", |params: Value| Ok(params));
        serve(reader, writer, Config::default(), service).await.unwrap();
    });
    writing.join().unwrap();
    let answer: Value = serde_json::from_str(&reading.join().unwrap()).unwrap();
    assert_eq!(answer["result"]["text"], json!(text));
}

#[tokio::test]
async fn a_writer_whose_reader_has_gone_reports_a_broken_pipe() {
    let (gone, output) = std::io::pipe().unwrap();
    drop(gone);
    let mut writer = ThreadWriter::new(output).unwrap();
    writer.write_all(b"x").await.unwrap();
    assert_eq!(writer.flush().await.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(writer.write_all(b"x").await.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}
