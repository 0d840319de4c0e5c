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

# Criterion: frames, messages, and echoes beside the official SDK's connection and a bare loop.
bench-rpc *ARGS:
    cd bench && cargo bench --bench frames --bench messages --bench echo -- {{ARGS}}
    cd bench && cargo bench --bench echo -- table

# Fuzzes one target of fuzz/ for some seconds; needs a nightly compiler and cargo-fuzz.
fuzz TARGET SECONDS="600":
    mkdir -p fuzz/corpus/{{TARGET}}
    cd fuzz && cargo +nightly fuzz run {{TARGET}} corpus/{{TARGET}} seeds/{{TARGET}} -- -max_total_time={{SECONDS}}

# What changed in acp-rpc's public API; needs a nightly compiler and cargo-public-api.
api:
    cargo +nightly public-api -p acp-rpc -sss > crates/acp-rpc/public-api.txt
    git diff --exit-code -- crates/acp-rpc/public-api.txt
