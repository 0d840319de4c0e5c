#!/usr/bin/env bash
# Ten turns through milk against a real model server with a window that milk is told is larger: the
# server refuses, milk makes room and goes on. One turn is cancelled, and another process goes on with the session.
# A model as small as this one may not come to an end by itself, so that an answer has at most 400 tokens.
# Usage: long_conversation.sh MILK [DIR for the server] [PORT] [SECONDS a turn may take] [WINDOW in tokens]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
milk=$(cd "$(dirname "${1:?usage: long_conversation.sh MILK [DIR] [PORT] [SECONDS]}")" && pwd)/$(basename "$1")
dir=${2:-${TMPDIR:-/tmp}/milk-model}
port=${3:-18080}
patience=${4:-90}
window=${5:-8192}
work=$(mktemp -d)
"$here/model_server.sh" "$dir" "$port" "$window" > "$work/server" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 300); do
  grep -q ready "$work/server" && break
  kill -0 "$server" 2> /dev/null || { tail -n 20 "$work/server"; exit 1; }
  sleep 1
done
mkdir -p "$work/home/.milk" "$work/project"
printf 'The parser reads the header first.\n' > "$work/project/notes.txt"
export HOME="$work/home" MILK_HOME="$work/home/.milk"
cat > "$MILK_HOME/config.json" <<C
{"agents": [{"name": "llama", "url": "http://127.0.0.1:$port", "context_window_tokens": 65536, "system_prompt_tier": "minimal",
  "max_tokens": 400, "limits": {"included_tools": ["read_file", "grep"]}}]}
C
timeout $((patience * 12 + 120)) python3 "$here/long_conversation.py" "$milk" "$work/project" "$patience" "$window"
