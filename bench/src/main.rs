//! Times ACP agents as whole processes, side by side in one run: medians of fresh processes, ratios against the floor.
//!
//! Usage: `milk-bench MILK [--runs N]`. Linux only (it reads `/proc`). Starts a model server of its own on loopback.

mod agent;
mod model;
mod table;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent::{Agent, Command};
use table::Table;

/// What is measured of one process, in the order of the table.
const ROWS: [&str; 15] = [
    "spawn to `initialize` answered, ms",
    "`session/new`, ms",
    "first prompt of one token, ms",
    "warm prompt of one token, ms",
    "first chunk of a warm prompt, ms",
    "turn of 5,000 chunks, ms",
    "CPU of that turn, ms",
    "turn of 200 tool calls, ms",
    "turn with 1 MiB of a command's output, ms",
    "200 `session/new` one after another, ms",
    "50 prompts in 50 sessions at once, ms",
    "resident after `initialize`, MiB",
    "resident after 5,000 chunks, MiB",
    "resident with 100 sessions, MiB",
    "end of input to exit, ms",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let milk = PathBuf::from(arguments.next().expect("usage: milk-bench MILK [--runs N]"));
    let runs = arguments.nth(1).map_or(9, |runs| runs.parse().expect("a number of runs"));
    let url = model::serve();
    let own = std::env::current_exe().expect("a path").parent().expect("a folder").to_owned();
    let commands = commands(&milk, &own, &url);
    let mut table = Table::new(&ROWS);
    for run in 0..runs {
        // Round about, so that a machine that slows down slows all alike.
        for command in &commands {
            let values = measure(command, &url);
            // The first round warms the caches.
            if run > 0 || runs == 1 {
                table.add(&command.name, values);
            }
        }
    }
    let sizes: Vec<(String, f64)> =
        commands.iter().map(|command| (command.name.clone(), mebibytes(&command.program))).collect();
    println!("{}", table.render("floor", &sizes));
}

fn commands(milk: &Path, own: &Path, url: &str) -> Vec<Command> {
    let milk = milk.canonicalize().expect("milk is built");
    let milk = |version| Command {
        name: format!("milk v{version}"),
        program: milk.clone(),
        arguments: vec!["serve".into(), "--acp".into()],
        version,
        tools: true,
    };
    vec![
        Command {
            name: "floor".into(),
            program: own.join("floor"),
            arguments: vec![url.into()],
            version: 1,
            tools: true,
        },
        Command {
            name: "Rust SDK 5.2".into(),
            program: own.join("sdk_agent"),
            arguments: vec![],
            version: 1,
            tools: false,
        },
        milk(1),
        milk(2),
    ]
}

fn mebibytes(program: &Path) -> f64 {
    std::fs::metadata(program).map_or(f64::NAN, |meta| meta.len() as f64 / 1_048_576.0)
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// One fresh process through everything.
fn measure(command: &Command, url: &str) -> Vec<f64> {
    let (mut agent, init) = Agent::spawn(command, url);
    let rss_init = agent.resident();
    let start = Instant::now();
    let session = agent.new_session();
    let new = start.elapsed();
    let (first, _) = agent.prompt(&session, 1);
    let mut warm: Vec<(Duration, Duration)> = (0..20).map(|_| agent.prompt(&session, 1)).collect();
    warm.sort();
    let (warm_turn, _) = warm[10];
    warm.sort_by_key(|(_, chunk)| *chunk);
    let (_, warm_chunk) = warm[10];
    let cpu = agent.cpu();
    let (flood, _) = agent.prompt(&session, 5000);
    let flood_cpu = agent.cpu() - cpu;
    let rss_flood = agent.resident();
    let [reads, output] = if command.tools { work(&mut agent) } else { [f64::NAN; 2] };
    let start = Instant::now();
    let mut sessions = Vec::new();
    for _ in 0..200 {
        sessions.push(agent.new_session());
    }
    let many_new = start.elapsed();
    let many_prompts = agent.prompt_all(&sessions[..50]);
    let ended = agent.end();

    let (mut agent, _) = Agent::spawn(command, url);
    for _ in 0..100 {
        agent.new_session();
    }
    let rss_sessions = agent.resident();
    agent.end();
    vec![
        ms(init),
        ms(new),
        ms(first),
        ms(warm_turn),
        ms(warm_chunk),
        ms(flood),
        flood_cpu,
        reads,
        output,
        ms(many_new),
        ms(many_prompts),
        rss_init,
        rss_flood,
        rss_sessions,
        ms(ended),
    ]
}

/// Turns in which tools run, each in a session of its own.
fn work(agent: &mut Agent) -> [f64; 2] {
    let session = agent.new_session();
    let reads = agent.work(&session, &format!("{} reads", agent::FILES), agent::FILES);
    let session = agent.new_session();
    let output = agent.work(&session, &format!("{} bytes", 1 << 20), 1);
    [ms(reads), ms(output)]
}
