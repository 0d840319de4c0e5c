// Drives an agent with the official TypeScript SDK: one prompt to its end; then, in a new process of the agent, the
// conversation is listed, opened again with its replay, continued, closed and deleted.
// Usage: ts_client.mjs VERSION CWD AGENT [ARG...]. Exits 0 when everything came as it should.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import assert from "node:assert";

const [version, cwd, command, ...args] = process.argv.slice(2);
const second = version === "2";
const acp = await import("@agentclientprotocol/sdk" + (second ? "/experimental/v2" : ""));
const { agent: methods, client: own } = acp.methods;

let text = "";
let chunks = 0;
let running = false;
let turnEnded = () => {};
const kinds = new Set();

const app = acp.client({ name: "interop" });
app.onNotification(own.session.update, ({ params: { update } }) => {
  kinds.add(update.sessionUpdate);
  if (update.sessionUpdate === "agent_message_chunk") {
    text += update.content.text ?? "";
    chunks += 1;
  }
  if (update.sessionUpdate === "state_update") {
    if (update.state === "running") running = true;
    if (update.state === "idle" && running) turnEnded(update.stopReason);
  }
});
app.onRequest(own.session.requestPermission, ({ params: { options } }) => {
  const allow = options.find((option) => option.kind === "allow_once");
  return { outcome: { outcome: "selected", optionId: allow.optionId } };
});

const info = { name: "interop", version: "1" };
const hello = second
  ? { protocolVersion: 2, info, capabilities: {} }
  : { protocolVersion: 1, clientInfo: info, clientCapabilities: {} };

async function greet(agent) {
  const { protocolVersion } = await agent.request(methods.initialize, hello);
  assert.equal(protocolVersion, Number(version));
}

async function ask(agent, sessionId) {
  text = "";
  running = false;
  const end = new Promise((resolve) => (turnEnded = resolve));
  const prompt = [{ type: "text", text: "What is in this project?" }];
  const answer = await agent.request(methods.session.prompt, { sessionId, prompt });
  const stop = second ? await end : answer.stopReason;
  assert.equal(stop, "end_turn");
  assert.ok(text, "the agent said nothing");
  console.log(`stop=${stop} chunks=${chunks} updates=${[...kinds].join(",")}`);
  console.log(text);
}

async function begin(agent) {
  await greet(agent);
  const { sessionId } = await agent.request(methods.session.new, { cwd, mcpServers: [] });
  await ask(agent, sessionId);
  return sessionId;
}

async function goOn(agent, sessionId) {
  await greet(agent);
  const { sessions } = await agent.request(methods.session.list, { cwd });
  assert.ok(sessions.some((session) => session.sessionId === sessionId));
  kinds.clear();
  if (second) {
    await agent.request(methods.session.resume, { sessionId, cwd, replayFrom: { type: "start" } });
    // The SDK's own schema is older than `replay_complete` and does not hand it over.
    assert.ok(kinds.has("user_message") && kinds.has("agent_message"), [...kinds].join());
  } else {
    await agent.request(methods.session.load, { sessionId, cwd, mcpServers: [] });
    assert.ok(kinds.has("user_message_chunk"), [...kinds].join());
  }
  await ask(agent, sessionId);
  await agent.request(methods.session.close, { sessionId });
  await agent.request(methods.session.delete, { sessionId });
}

// A process of the agent, from its start to its end.
async function withAgent(converse) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.on("exit", resolve));
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  try {
    return await app.connectWith(stream, converse);
  } finally {
    child.stdin.end();
    await exited;
  }
}

try {
  const sessionId = await withAgent(begin);
  await withAgent((agent) => goOn(agent, sessionId));
} catch (error) {
  console.error(error);
  process.exit(1);
}
