"""Drives an agent with the official Python SDK (ACP v1): one prompt, one permission, one cancelled turn.

Usage: py_client.py CWD AGENT [ARG...]. Exits 0 when everything came as it should.
"""

import asyncio
import sys

from acp import PROTOCOL_VERSION, Client, connect_to_agent, text_block
from acp import schema


class Editor(Client):
    """Collects what an editor would show, and allows what it is asked."""

    def __init__(self):
        self.text = ""
        self.chunks = 0
        self.rows = {}
        self.asked = []

    async def session_update(self, session_id, update, **_):
        if isinstance(update, schema.AgentMessageChunk):
            self.text += getattr(update.content, "text", "")
            self.chunks += 1
        elif isinstance(update, (schema.ToolCallStart, schema.ToolCallProgress)):
            row = self.rows.setdefault(update.tool_call_id, {})
            for name in ("title", "status", "content"):
                if getattr(update, name, None) is not None:
                    row[name] = getattr(update, name)

    async def request_permission(self, options, session_id, tool_call, **_):
        self.asked.append(tool_call.title)
        allow = next(option for option in options if option.kind == "allow_once")
        outcome = schema.AllowedOutcome(outcome="selected", option_id=allow.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def ext_notification(self, method, params):
        pass


async def main(cwd, command):
    agent = await asyncio.create_subprocess_exec(*command, stdin=-1, stdout=-1, limit=2**24)
    editor = Editor()
    connection = connect_to_agent(editor, agent.stdin, agent.stdout)
    hello = await connection.initialize(
        protocol_version=PROTOCOL_VERSION,
        client_capabilities=schema.ClientCapabilities(),
        client_info=schema.Implementation(name="interop", version="1"),
    )
    assert hello.protocol_version == 1, hello
    session = (await connection.new_session(cwd=cwd, mcp_servers=[])).session_id

    async def prompt(text):
        return await connection.prompt(session_id=session, prompt=[text_block(text)])

    answer = await prompt("What is in this project?")
    await asyncio.sleep(0)
    assert answer.stop_reason == "end_turn", answer
    assert editor.text, "the agent said nothing"
    listed = await connection.list_sessions(cwd=cwd)
    assert any(row.session_id == session for row in listed.sessions), listed
    print(f"stop={answer.stop_reason} chunks={editor.chunks} rows={len(editor.rows)}")
    print(editor.text)
    agent.terminate()
    await agent.wait()


asyncio.run(asyncio.wait_for(main(sys.argv[1], sys.argv[2:]), 120))
