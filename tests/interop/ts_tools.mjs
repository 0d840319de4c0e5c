// Drives an agent with the official TypeScript SDK: an image that the model is to see, an answer cancelled in its
// middle, a command cancelled while it runs, and a permission refused; then the session still works.
// Usage: ts_tools.mjs VERSION CWD AGENT [ARG...]. The model is tests/examples/mock_model.rs.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import assert from "node:assert";

const [version, cwd, command, ...args] = process.argv.slice(2);
const second = version === "2";
const acp = await import("@agentclientprotocol/sdk" + (second ? "/experimental/v2" : ""));
const { agent: methods, client: own } = acp.methods;
// One red pixel.
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

let text = "";
let running = false;
let turnEnded = () => {};
let heard = () => {};
let choice = "allow_once";
const asked = [];

const app = acp.client({ name: "interop" });
app.onNotification(own.session.update, ({ params: { update } }) => {
  if (update.sessionUpdate === "agent_message_chunk") text += update.content.text ?? "";
  if (update.sessionUpdate === "state_update") {
    if (update.state === "running") running = true;
    if (update.state === "idle" && running) turnEnded(update.stopReason);
  }
  heard(update);
});
app.onRequest(own.session.requestPermission, ({ params }) => {
  asked.push(params);
  const option = params.options.find((option) => option.kind === choice);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
});

const info = { name: "interop", version: "1" };
const hello = second
  ? { protocolVersion: 2, info, capabilities: {} }
  : { protocolVersion: 1, clientInfo: info, clientCapabilities: {} };

// One turn; cancelled as soon as an update is `when`. What it ended with, and how long the cancel took.
async function turn(agent, sessionId, prompt, when) {
  text = "";
  running = false;
  let cancelledAt = 0;
  const end = new Promise((resolve) => (turnEnded = resolve));
  heard = (update) => {
    if (!when?.(update) || cancelledAt) return;
    cancelledAt = Date.now();
    agent.notify(methods.session.cancel, { sessionId });
  };
  const answer = await agent.request(methods.session.prompt, { sessionId, prompt });
  const stop = second ? await end : answer.stopReason;
  return { stop, took: cancelledAt ? Date.now() - cancelledAt : undefined };
}

async function converse(agent) {
  const greeting = await agent.request(methods.initialize, hello);
  assert.equal(greeting.protocolVersion, Number(version));
  const takes = second ? greeting.capabilities.session.prompt : greeting.agentCapabilities.promptCapabilities;
  assert.ok(takes.image, JSON.stringify(greeting));
  const { sessionId } = await agent.request(methods.session.new, { cwd, mcpServers: [] });
  const say = (words) => [{ type: "text", text: words }];
  const long = (update) => update.sessionUpdate === "agent_message_chunk" && text.length > 20;

  const image = { type: "image", mimeType: "image/png", data: PNG };
  let { stop, took } = await turn(agent, sessionId, [...say("What is this?"), image]);
  assert.equal(stop, "end_turn");
  assert.equal(text.trim(), `image image/png of ${PNG.length} characters.`);
  console.log(text);

  ({ stop, took } = await turn(agent, sessionId, say("Count."), long));
  assert.equal(stop, "cancelled");
  assert.ok(took < 2000, `the answer went on for ${took} ms`);
  console.log(`an answer was cancelled within ${took} ms`);

  const command = `use bash ${JSON.stringify({ command: "echo begun; sleep 30" })}`;
  const runs = (update) =>
    JSON.stringify(update).includes("begun\\n") || update.status === "in_progress";
  ({ stop, took } = await turn(agent, sessionId, say(command), runs));
  assert.equal(stop, "cancelled");
  assert.ok(took < 2000, `the command went on for ${took} ms`);
  assert.ok(JSON.stringify(asked).includes("sleep 30"), "nothing was asked");
  console.log(`a command was cancelled within ${took} ms`);

  choice = "reject_once";
  ({ stop } = await turn(agent, sessionId, say('use write_file {"path":"no.txt","content":"x"}')));
  assert.equal(stop, "end_turn");
  assert.match(text, /the user denied this call/);
  console.log("a refusal reached the model");
}

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => child.on("exit", resolve));
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
try {
  await app.connectWith(stream, converse);
  child.stdin.end();
  assert.equal(await exited, 0);
} catch (error) {
  console.error(error);
  child.stdin.end();
  process.exit(1);
}
