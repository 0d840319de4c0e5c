//! The fuzz targets' bodies over the seeds of `fuzz/`, in every ordinary test run.

use std::path::Path;

use crate::any_input::{connection, frame_parse};

/// Runs `body` over every seed of `target`, whole and cut short; how many there were.
fn run(target: &str, body: fn(&[u8])) -> usize {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let seeds = std::fs::read_dir(directory).unwrap();
    seeds
        .map(|seed| {
            let bytes = std::fs::read(seed.unwrap().path()).unwrap();
            body(&bytes);
            for cut in (0..bytes.len()).step_by(bytes.len() / 8 + 1) {
                body(&bytes[..cut]);
            }
        })
        .count()
}

#[test]
fn no_seed_breaks_the_parser() {
    assert!(run("frame_parse", frame_parse) >= 25);
}

#[test]
fn no_seed_breaks_or_hangs_a_connection() {
    assert!(run("connection", connection) >= 15);
}
