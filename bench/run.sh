#!/usr/bin/env bash
# Builds milk and the agents it is measured against, and prints the table of README.md. Usage: run.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")"
cargo build --release --manifest-path ../Cargo.toml -p milk
cargo build --release
target/release/milk-bench ../target/release/milk --runs "${1:-9}"
