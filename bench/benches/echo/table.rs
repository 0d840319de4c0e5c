//! All servers measured in turns, as a table.

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use acp_rpc::End;

use crate::servers::Server;
use crate::{MODES, connected, cpu_time, drive};

/// How often each server has its turn.
const TURNS: usize = 200;

/// Requests in one turn: a few milliseconds.
const REQUESTS: u16 = 6_400;

/// A server with its client's end, and what each turn took, in nanoseconds a request.
struct Measured {
    server: Server,
    runtime: Runtime,
    end: End,
    _tasks: JoinSet<()>,
    times: Vec<f64>,
}

impl Measured {
    fn new(server: Server) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut tasks = JoinSet::new();
        let end = connected(&runtime, &mut tasks, server);
        Self { server, runtime, end, _tasks: tasks, times: Vec::with_capacity(TURNS) }
    }

    fn turn(&mut self, in_flight: usize) {
        let begun = cpu_time();
        self.runtime.block_on(drive(&mut self.end, REQUESTS.into(), in_flight));
        self.times.push((cpu_time() - begun).as_secs_f64() * 1e9 / f64::from(REQUESTS));
    }

    fn median(&mut self) -> f64 {
        self.times.sort_by(f64::total_cmp);
        self.times[TURNS / 2]
    }
}

/// Prints the medians, and each as a multiple of the bare loop's.
pub(crate) fn print() {
    println!("| server | in flight | µs a request | requests a second | of the bare loop |");
    println!("|---|--:|--:|--:|--:|");
    for (_, in_flight) in MODES {
        let mut all: Vec<_> = Server::ALL.into_iter().map(Measured::new).collect();
        // The first turn warms the caches.
        for turn in 0..=TURNS {
            for measured in &mut all {
                measured.turn(in_flight);
                if turn == 0 {
                    measured.times.clear();
                }
            }
        }
        let bare = all[0].median();
        for measured in &mut all {
            let median = measured.median();
            let name = measured.server.name();
            let (micros, rate) = (median / 1e3, 1e9 / median);
            println!("| {name} | {in_flight} | {micros:.2} | {rate:.0} | {:.2}x |", median / bare);
        }
    }
}
