#!/usr/bin/env bash
# Drives the agent with real ACP clients, v1 and v2, in an empty home. Usage: run.sh MILK [DIR with the clients]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
milk=$(cd "$(dirname "${1:?usage: run.sh MILK [DIR]}")" && pwd)/$(basename "$1")
clients=${2:-${TMPDIR:-/tmp}/milk-interop}
"$here/install.sh" "$clients"
clients=$(cd "$clients" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home" "$work/project"
work=$(cd "$work" && pwd -P)
printf '# Teapot\n\nA small library that pours tea.\n' > "$work/project/README.md"
export HOME="$work/home" MILK_HOME="$work/home/.milk"

failures=0
# check NAME COMMAND…: runs it, shows the end of what it printed when it fails
check() {
  local name=$1
  shift
  if timeout 120 "$@" > "$work/out" 2> "$work/err" < /dev/null; then
    echo "ok      $name: $(grep -v '^$' "$work/out" | head -n 1 | cut -c1-100)"
  else
    echo "FAILED  $name (exit $?)"
    tail -n 20 "$work/out" "$work/err"
    failures=$((failures + 1))
  fi
}

check "Python SDK, v1" "$clients/venv/bin/python" "$here/py_client.py" "$work/project" "$milk" serve --acp

mkdir -p "$work/ts"
cp "$here/ts_client.mjs" "$work/ts/"
ln -s "$clients/ts-sdk/node_modules" "$work/ts/node_modules"
for version in 1 2; do
  check "TypeScript SDK, v$version" node "$work/ts/ts_client.mjs" "$version" "$work/project" "$milk" serve --acp
done

printf '#!/bin/sh\nexec "%s" serve --acp\n' "$milk" > "$work/agent"
chmod +x "$work/agent"
acpx() { PATH="$clients/node/node_modules/.bin:$PATH" "$clients/acpx/node_modules/.bin/acpx" "$@"; }
export -f acpx
export clients
check "acpx, v1" bash -c \
  'acpx --agent "$0" --cwd "$1" --approve-all --format text exec "What is in this project?" | tee "$2" && grep -q Teapot "$2"' \
  "$work/agent" "$work/project" "$work/said"

reopened() {
  acpx --agent "$1" --cwd "$2" --approve-all sessions new --name talk &&
    acpx --agent "$1" --cwd "$2" --approve-all --ttl 1 prompt -s talk "What is in this project?" &&
    sleep 3 && # its owner ends, and with it the agent
    acpx --agent "$1" --cwd "$2" --approve-all --ttl 1 prompt -s talk "And which files are there?" &&
    acpx --agent "$1" --cwd "$2" sessions list | grep "What is in this project" &&
    acpx --agent "$1" --cwd "$2" sessions close talk
}
export -f reopened
check "acpx, v1, a session across restarts" bash -c 'reopened "$0" "$1"' "$work/agent" "$work/project"

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
