#!/usr/bin/env bash
# One prompt through milk against a real model server: the answer has to arrive in at least two chunks.
# Usage: real_model.sh MILK [DIR for the server] [PORT]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
milk=$(cd "$(dirname "${1:?usage: real_model.sh MILK [DIR] [PORT]}")" && pwd)/$(basename "$1")
dir=${2:-${TMPDIR:-/tmp}/milk-model}
port=${3:-18080}
work=$(mktemp -d)
"$here/model_server.sh" "$dir" "$port" > "$work/server" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 300); do
  grep -q ready "$work/server" && break
  kill -0 "$server" 2> /dev/null || { tail -n 20 "$work/server"; exit 1; }
  sleep 1
done
mkdir -p "$work/home" "$work/project"
export HOME="$work/home" MILK_HOME="$work/home/.milk"
mkdir -p "$MILK_HOME"
cat > "$MILK_HOME/config.json" <<C
{"agents": [{"name": "llama", "url": "http://127.0.0.1:$port", "system_prompt_tier": "minimal"}]}
C
cd "$work/project"
timeout 300 "$milk" run --json "Say hello in five words" > "$work/lines" < /dev/null
chunks=$(grep -c '"agent_message_chunk"' "$work/lines" || true)
echo "the answer came in $chunks chunks"
[ "$chunks" -ge 2 ] || { tail -n 5 "$work/lines"; exit 1; }
