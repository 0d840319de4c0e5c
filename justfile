# What CI runs, by hand. `just` lists the recipes.

default:
    @just --list

# Everything that must hold before a commit lands.
check: fmt lint test doc

fmt:
    cargo fmt --all --check

lint:
    cargo clippy --workspace --all-targets -- -D warnings

test:
    cargo test --workspace

# Takes over the snapshots that the last test run produced; read the diff before committing.
accept:
    INSTA_UPDATE=always cargo test --workspace

doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Licences, duplicate crates, sources.
deny:
    cargo deny check

# Real clients from their registries against the release binary.
interop:
    tests/interop/run.sh target/release/milk

# The figures of bench/README.md.
bench:
    bench/run.sh
