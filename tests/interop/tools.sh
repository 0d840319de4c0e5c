#!/usr/bin/env bash
# Drives tool calls, permissions, images and cancels through real clients, in an empty home, with a scripted model.
# Usage: tools.sh MILK MOCK_MODEL [DIR with the clients]; MOCK_MODEL is tests/examples/mock_model.rs, built.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
usage="usage: tools.sh MILK MOCK_MODEL [DIR]"
milk=$(realpath "${1:?$usage}")
mock=$(realpath "${2:?$usage}")
clients=${3:-${TMPDIR:-/tmp}/milk-interop}
"$here/install.sh" "$clients"
clients=$(cd "$clients" && pwd)

work=$(cd "$(mktemp -d)" && pwd -P)
mkdir -p "$work/home/.milk" "$work/ts"
export HOME="$work/home" MILK_HOME="$work/home/.milk"
# Slow enough that an answer can be cancelled in its middle.
"$mock" --chunks 400 --delay-us 20000 > "$work/url" &
model=$!
trap 'kill "$model" 2> /dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  [ -s "$work/url" ] && break
  sleep 0.1
done
printf '{"agents": [{"name": "mock", "url": "%s"}]}\n' "$(cat "$work/url")" > "$MILK_HOME/config.json"
printf '#!/bin/sh\nexec "%s" serve --acp\n' "$milk" > "$work/agent"
chmod +x "$work/agent"

failures=0
# verdict NAME: ok when the command before it succeeded
verdict() {
  if [ "$2" = 0 ]; then
    echo "ok      $1"
  else
    echo "FAILED  $1"
    tail -n 40 "$work/out"
    failures=$((failures + 1))
  fi
}

# acpx FOLDER OPTION… : one prompt with acpx, everything it read and wrote in $work/out
acpx() {
  local folder=$1
  shift
  PATH="$clients/node/node_modules/.bin:$PATH" timeout 60 "$clients/acpx/node_modules/.bin/acpx" \
    --agent "$work/agent" --cwd "$folder" --format json "$@" > "$work/out" 2>&1 < /dev/null
}
said() { grep -qF "$1" "$work/out"; }
silent() { ! grep -qF "$1" "$work/out"; }

edits() { # with the files of: client | disk
  local folder=$1 files=$2
  shift 2
  printf 'one\ntwo\n' > "$folder/notes.txt"
  acpx "$folder" --approve-all "$@" exec 'use edit_file {"path":"notes.txt","old_string":"two","new_string":"three"}' || return 1
  [ "$(cat "$folder/notes.txt")" = $'one\nthree' ] || return 1
  said '"method":"session/request_permission"' && said '"oldText":"one\ntwo\n","newText":"one\nthree\n"' || return 1
  if [ "$files" = client ]; then said '"method":"fs/write_text_file"'; else silent '"method":"fs/'; fi
}

runs() { # in a terminal of: client | milk
  local folder=$1 terminal=$2
  shift 2
  rm -f "$folder/made.txt"
  acpx "$folder" --approve-all "$@" exec 'use bash {"command":"printf made > made.txt; cat made.txt"}' || return 1
  [ "$(cat "$folder/made.txt")" = made ] || return 1
  said '"method":"session/request_permission"' && said '"rawOutput":{"output":"made","exit_code":0}' || return 1
  if [ "$terminal" = client ]; then
    said '"method":"terminal/create"' && said '"method":"terminal/release"'
  else
    silent '"method":"terminal/'
  fi
}

denied() {
  local folder=$1
  acpx "$folder" --deny-all exec 'use write_file {"path":"no.txt","content":"x"}' || true
  said 'the user denied this call' && said '"stopReason":"end_turn"' && [ ! -e "$folder/no.txt" ]
}

number=0
case_() { # NAME COMMAND…
  local name=$1 outcome=0
  shift
  "$@" || outcome=$?
  verdict "$name" "$outcome"
}

for options in "client client" "disk client --no-fs" "client milk --no-terminal" "disk milk --no-fs --no-terminal"; do
  read -r files terminal flags <<< "$options"
  number=$((number + 1))
  folder="$work/project$number"
  mkdir -p "$folder"
  # shellcheck disable=SC2086
  case_ "acpx ${flags:-with both}: a diff, a permission, an edit" edits "$folder" "$files" $flags
  # shellcheck disable=SC2086
  case_ "acpx ${flags:-with both}: a permission, a command" runs "$folder" "$terminal" $flags
done
mkdir -p "$work/denied"
case_ "acpx: denied" denied "$work/denied"

cp "$here/ts_tools.mjs" "$work/ts/"
ln -s "$clients/ts-sdk/node_modules" "$work/ts/node_modules"
for version in 1 2; do
  mkdir -p "$work/ts$version"
  outcome=0
  timeout 60 node "$work/ts/ts_tools.mjs" "$version" "$work/ts$version" "$milk" serve --acp > "$work/out" 2>&1 < /dev/null || outcome=$?
  verdict "TypeScript SDK, v$version: $(grep -m 1 -F 'image' "$work/out" | cut -c1-90)" "$outcome"
done

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
