#!/usr/bin/env bash
# Installs the real ACP clients that run.sh drives, by name from their registries, into DIR. What is there already in
# the right version is left alone. Usage: install.sh DIR
set -euo pipefail
dir=${1:?usage: install.sh DIR}
mkdir -p "$dir"
cd "$dir"

acpx=0.19.1
ts_sdk=2.4.0
py_sdk=0.12.1

# npm_install FOLDER PACKAGE@VERSION…
npm_install() {
  local folder=$1
  shift
  local stamp="$folder/.installed"
  [ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && return
  mkdir -p "$folder"
  [ -f "$folder/package.json" ] || echo '{"name":"interop","private":true}' > "$folder/package.json"
  (cd "$folder" && npm install --silent --no-audit --no-fund --save-exact "$@")
  echo "$*" > "$stamp"
}

# acpx wants Node 22.13 or later; with an older one npm takes an older acpx without a word.
npm_install node node@24.21.0
PATH="$PWD/node/node_modules/.bin:$PATH" npm_install acpx "acpx@$acpx"
npm_install ts-sdk "@agentclientprotocol/sdk@$ts_sdk" zod@4.6.7
if ! venv/bin/python -c "import importlib.metadata as m; assert m.version('agent-client-protocol') == '$py_sdk'" 2>/dev/null; then
  python3 -m venv venv
  venv/bin/pip install --quiet --disable-pip-version-check "agent-client-protocol==$py_sdk"
fi
echo "clients are ready in $dir"
