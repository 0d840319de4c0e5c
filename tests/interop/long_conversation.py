"""Holds a long conversation with milk over version 1 of the protocol, and says what happened turn by turn.

Usage: long_conversation.py MILK FOLDER SECONDS WINDOW
"""

import json
import subprocess
import sys
import threading
import time
from queue import Empty, Queue

TURNS = 10
CANCELLED = 4
SENTENCE = "Line {n} of the log says that worker {w} read record {r} of the file and found it to be in order. "


class Milk:
    """One process of milk."""

    def __init__(self, program, folder):
        command = [program, "serve", "--acp"]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = Queue()
        self.ids = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def write(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def call(self, method, params, cancel_after=None, heard=None):
        """The answer. Asks for leave are refused; after so many seconds the turn is cancelled."""
        self.ids += 1
        own, began, cancelled = self.ids, time.monotonic(), False
        self.write({"id": own, "method": method, "params": params})
        while True:
            late = cancel_after is not None and not cancelled and time.monotonic() - began > cancel_after
            if late:
                self.write({"method": "session/cancel", "params": {"sessionId": params["sessionId"]}})
                cancelled = True
            try:
                line = self.lines.get(timeout=0.2)
            except Empty:
                continue
            if line is None:
                sys.exit("milk ended")
            if line.get("id") == own and "method" not in line:
                return line
            if line.get("method") == "session/request_permission":
                outcome = {"outcome": {"outcome": "selected", "optionId": "reject"}}
                self.write({"id": line["id"], "result": outcome})
            if heard is not None:
                heard.append(line)

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=10)


def text_of(lines):
    updates = [line.get("params", {}).get("update", {}) for line in lines]
    said = [u["content"].get("text", "") for u in updates if u.get("sessionUpdate") == "agent_message_chunk"]
    return "".join(said)


def rows_of(lines):
    return sum(line.get("params", {}).get("update", {}).get("sessionUpdate") == "tool_call" for line in lines)


def prompt_of(turn, window):
    # A sixth of the window each: about 25 tokens a line.
    count = window // 6 // 25
    log = "".join(SENTENCE.format(n=turn * count + n, w=n % 4, r=turn * 100 + n) for n in range(count))
    return f"Turn {turn}. Keep this in mind and answer in one short sentence: which workers appear?\n{log}"


def main():
    program, folder, patience, window = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    milk = Milk(program, folder)
    # `session` says that usage is understood.
    hello = {"protocolVersion": 1, "clientCapabilities": {"session": {}}}
    milk.call("initialize", hello)
    session = milk.call("session/new", {"cwd": folder, "mcpServers": []})["result"]["sessionId"]
    stops, made_room = [], 0
    for turn in range(TURNS):
        heard, began = [], time.monotonic()
        params = {"sessionId": session, "prompt": [{"type": "text", "text": prompt_of(turn, window)}]}
        answer = milk.call("session/prompt", params, 2.0 if turn == CANCELLED else patience, heard)
        said = text_of(heard)
        room = "summarised to make room" in said or "are left out" in said
        made_room += room
        stop = answer.get("result", {}).get("stopReason") or answer["error"]["message"]
        stops.append(stop)
        gauges = [line["params"]["update"] for line in heard if '"usage_update"' in json.dumps(line)]
        gauge = f"{gauges[-1]['used']}/{gauges[-1]['size']}" if gauges else "-"
        took = time.monotonic() - began
        print(f"turn {turn}: {stop}, {took:.0f} s, {len(said)} characters, {rows_of(heard)} calls, {gauge}"
              f"{', made room' if room else ''}", flush=True)
    heard = []
    params = {"sessionId": session, "prompt": [{"type": "text", "text": "/usage"}]}
    milk.call("session/prompt", params, None, heard)
    print(text_of(heard))
    assert milk.close() == 0, "milk ended badly"

    later = Milk(program, folder)
    later.call("initialize", hello)
    heard = []
    loaded = later.call("session/load", {"sessionId": session, "cwd": folder, "mcpServers": []}, None, heard)
    assert "result" in loaded, loaded
    shown = text_of(heard)
    heard = []
    params = {"sessionId": session, "prompt": [{"type": "text", "text": "Answer with one word: are you there?"}]}
    answer = later.call("session/prompt", params, patience, heard)
    print("after a restart:", answer.get("result") or answer.get("error"))
    assert later.close() == 0, "milk ended badly"

    good = {"end_turn", "cancelled", "max_tokens", "max_turn_requests"}
    bad = [stop for stop in stops if stop not in good]
    assert not bad, f"turns that failed: {bad}"
    assert stops[CANCELLED] == "cancelled", "the cancel came to nothing"
    assert made_room, "the window was never too small"
    assert "summarised to make room" in shown or "left out" in text_of(heard) or made_room, "no trace of the summary"
    assert "result" in answer, "the session could not be gone on with"
    print(f"{TURNS} turns, room made {made_room} times")


main()
