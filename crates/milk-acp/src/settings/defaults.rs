//! The built-in values as a document: the bottom layer of what `milk config show` prints.

use agent_runtime::handover::BRICK_CHARS;
use router::Rules;
use serde_json::{Map, Value, json};

use crate::drivers::FRESH_AFTER;

/// Members with a default.
pub(super) fn document() -> Map<String, Value> {
    let defaults = json!({
        "agent": "",
        "agents": [],
        "escalation_agent": "",
        "agent_tools": [],
        "mcp_servers": [],
        "mcp_connect_timeout_secs": 5,
        "show_reasoning": null,
        "sticky_escalation": true,
        "rules": Rules::default(),
        "context_budget_chars": BRICK_CHARS,
        "returning_fresh_start_local_turns": FRESH_AFTER,
        "local_context_budget_chars": 24000,
        "local_max_tool_iterations": 20,
        "acp_resume": true,
        "bash_allowed_patterns": [],
        "trusted_folders": [],
        "dangerously_skip_permissions": false,
        "max_background_agents": 3,
        "permissions": {
            "deny": [],
            "ask": [],
            "allow": [],
            "background_timeout_secs": 360,
            "background_default": "deny",
            "safety_timeout_secs": 360,
            "safety_default": "deny",
        },
        "redaction": {"enabled": true, "values": []},
        "acp": {"stream": "token", "prompt_ack": "turn_end", "malformed": "silent"},
    });
    match defaults {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
