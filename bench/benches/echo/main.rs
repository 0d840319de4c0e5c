//! Echoes a second over one in-memory pipe, for three servers in the same run: a bare read-parse-write loop,
//! acp-rpc, and the official Rust SDK's connection.
//!
//! One client drives all three: it writes finished lines and counts line feeds, so that what differs is the server.
//! Both ends share one thread, and what is counted is that thread's CPU time: nothing here waits for anything but the
//! other end.
//!
//! `cargo bench --bench echo -- table` prints the table of README.md: it gives each server a short turn, round about, so
//! that a machine that slows down slows all alike. Anything else is Criterion's, one server after the other.

mod servers;
mod table;

use std::time::Duration;

use acp_rpc::{End, memory};
use criterion::{Criterion, Throughput, criterion_group};
use rustix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use servers::Server;

/// How many requests are under way at once.
const MODES: [(&str, usize); 2] = [("sequential", 1), ("pipelined", 64)];

/// About as long as a short prompt.
const TEXT: &str = "Please rename the function `parse` in src/lib.rs to `decode`, and mend what called it.";

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).expect("below a second"))
}

/// Finished requests with the identifiers `0..count`, which are free again once the first of them is answered.
fn requests(count: usize) -> Vec<Vec<u8>> {
    let request = |id| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"echo\",\"params\":{{\"session\":\"sess_0198c0de\",\"text\":\"{TEXT}\"}}}}\n"
        )
    };
    (0..count).map(|id| request(id).into_bytes()).collect()
}

/// Sends `total` requests, `in_flight` at once, and waits for all answers.
async fn drive(end: &mut End, total: u64, in_flight: usize) {
    let lines = requests(in_flight);
    let mut next = lines.iter().cycle();
    let (mut sent, mut answered) = (0_u64, 0_u64);
    let mut due = in_flight as u64;
    let mut out = Vec::new();
    let mut input = vec![0; 64 << 10];
    while answered < total {
        let now = due.min(total - sent);
        out.clear();
        for line in next.by_ref().take(usize::try_from(now).expect("few")) {
            out.extend_from_slice(line);
        }
        end.writer.write_all(&out).await.expect("the server reads");
        sent += now;
        let read = end.reader.read(&mut input).await.expect("the server writes");
        assert!(read > 0, "the server went on");
        due = input[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
        answered += due;
    }
}

/// What the server says to one request.
async fn one_answer(end: &mut End) -> serde_json::Value {
    end.writer.write_all(&requests(1)[0]).await.expect("the server reads");
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        end.reader.read_buf(&mut line).await.expect("the server writes");
    }
    serde_json::from_slice(&line).expect("one JSON line")
}

fn connected(runtime: &Runtime, tasks: &mut JoinSet<()>, server: Server) -> End {
    let (mut near, far) = memory();
    runtime.block_on(async {
        tasks.spawn(server.serve(far));
        let answer = one_answer(&mut near).await;
        let expected = serde_json::json!({
            "jsonrpc": "2.0", "id": 0, "result": { "session": "sess_0198c0de", "text": TEXT },
        });
        assert_eq!(answer, expected, "{}", server.name());
    });
    near
}

fn echo(criterion: &mut Criterion) {
    for (mode, in_flight) in MODES {
        let mut group = criterion.benchmark_group(format!("echo/{mode}"));
        group.throughput(Throughput::Elements(1));
        for server in Server::ALL {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            let mut tasks = JoinSet::new();
            let mut end = connected(&runtime, &mut tasks, server);
            group.bench_function(server.name(), |bencher| {
                bencher.iter_custom(|total| {
                    let begun = cpu_time();
                    runtime.block_on(drive(&mut end, total, in_flight));
                    cpu_time() - begun
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, echo);

fn main() {
    if std::env::args().any(|argument| argument == "table") {
        table::print();
    } else {
        benches();
        Criterion::default().configure_from_args().final_summary();
    }
}
