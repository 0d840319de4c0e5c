//! The merged configuration in typed form.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use router::Rules;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::agent::{AgentSettings, PeerSettings, ProviderKind};
use super::prices::PriceSettings;
use super::redaction::RedactionSettings;

/// Rounds of tool calls in one turn, when nothing says otherwise.
const TOOL_ITERATIONS: u64 = 20;
/// Characters of history in one request, when nothing says otherwise.
const MESSAGE_CHARS: u64 = 24_000;
/// Length of one turn, when nothing says otherwise.
const TURN_SECS: u64 = 600;
/// Length of one tool call, when nothing says otherwise.
const TOOL_SECS: u64 = 120;

/// The agent that needs no entry.
static BUILT_IN: LazyLock<AgentSettings> = LazyLock::new(AgentSettings::builtin_claude);

/// What is configured. Every member has a meaning without a file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The primary agent's name; empty is the first that is a server.
    pub agent: String,
    /// The configured agents.
    pub agents: Vec<AgentSettings>,
    /// The agent hard prompts go to; see [`Settings::escalation`].
    pub escalation_agent: String,
    /// Agents that every agent may ask as tools; see [`Settings::peers`].
    pub agent_tools: Vec<PeerSettings>,
    /// Which prompts go there.
    pub rules: Rules,
    /// Whether what follows a turn that the rules sent there goes there too.
    pub sticky_escalation: bool,
    /// How much one agent is told of what the other did, in characters, by the integer convention.
    pub context_budget_chars: i64,
    /// After so many answers of the primary the escalation agent begins anew, by the integer convention.
    pub returning_fresh_start_local_turns: i64,
    /// Whether `session/new` carries on with the folder's last session.
    pub acp_resume: bool,
    /// Whether reasoning is shown; unset shows it over ACP.
    pub show_reasoning: Option<bool>,
    /// Whether nothing is asked, as said at the root; see [`Settings::skip_permissions`].
    pub dangerously_skip_permissions: Option<bool>,
    /// Commands `bash` runs unasked.
    pub bash_allowed_patterns: Vec<String>,
    /// Rules about calls.
    pub permissions: PermissionSettings,
    /// What is kept from models.
    pub redaction: RedactionSettings,
    /// Rounds of tool calls in one turn, by the integer convention.
    pub local_max_tool_iterations: i64,
    /// Characters of history in one request, by the integer convention.
    pub local_context_budget_chars: i64,
    /// How the protocol is spoken where there is a choice.
    pub acp: AcpSettings,
    /// What models cost, by patterns of their names.
    pub prices: BTreeMap<String, PriceSettings>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            agent: String::new(),
            agents: Vec::new(),
            escalation_agent: String::new(),
            agent_tools: Vec::new(),
            rules: Rules::default(),
            sticky_escalation: true,
            context_budget_chars: 0,
            returning_fresh_start_local_turns: 0,
            acp_resume: true,
            show_reasoning: None,
            dangerously_skip_permissions: None,
            bash_allowed_patterns: Vec::new(),
            permissions: PermissionSettings::default(),
            redaction: RedactionSettings::default(),
            local_max_tool_iterations: 0,
            local_context_budget_chars: 0,
            acp: AcpSettings::default(),
            prices: BTreeMap::new(),
        }
    }
}

/// Rules about calls as they are written: `tool` or `tool(pattern)`. Those of all layers hold together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct PermissionSettings {
    /// What may never run.
    pub deny: Vec<String>,
    /// What is asked each time.
    pub ask: Vec<String>,
    /// What runs unasked.
    pub allow: Vec<String>,
}

/// How the protocol is spoken where there is a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct AcpSettings {
    /// How text is cut into updates.
    pub stream: StreamMode,
    /// When v2's `session/prompt` is answered.
    pub prompt_ack: PromptAck,
    /// What a line that is no JSON is answered with.
    pub malformed: Malformed,
}

/// How text is cut into updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamMode {
    /// As it comes from the model.
    #[default]
    Token,
    /// One update per stretch of text between tool rows.
    Segment,
}

/// When v2's `session/prompt` is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptAck {
    /// At the end of the turn.
    #[default]
    TurnEnd,
    /// As soon as the message is part of the conversation.
    Insertion,
}

/// What a line that is no JSON is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Malformed {
    /// Nothing.
    #[default]
    Silent,
    /// Error -32700.
    Reply,
}

/// A limit by the integer convention: negative is none, 0 the built-in one, anything else itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// No limit.
    Unlimited,
    /// This much.
    Exactly(u64),
}

impl Budget {
    /// Reads a configured number.
    #[must_use]
    pub fn new(configured: i64, built_in: u64) -> Self {
        match u64::try_from(configured) {
            Err(_) => Self::Unlimited,
            Ok(0) => Self::Exactly(built_in),
            Ok(exact) => Self::Exactly(exact),
        }
    }

    /// The limit, when there is one.
    #[must_use]
    pub fn limit(self) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Exactly(limit) => Some(limit),
        }
    }
}

/// What holds for one agent after all fallbacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// Rounds of tool calls in one turn; `None` is no limit.
    pub max_tool_iterations: Option<u64>,
    /// Characters of history in one request; `None` is no limit.
    pub message_budget_chars: Option<u64>,
    /// The same as somebody has set it; a model's window says enough otherwise.
    pub message_limit: Option<u64>,
    /// How long a turn may take; `None` is no limit.
    pub turn_timeout: Option<Duration>,
    /// How long a tool call may take; `None` is no limit.
    pub tool_timeout: Option<Duration>,
}

impl Settings {
    /// Reads a checked, merged document.
    ///
    /// # Errors
    /// What does not fit; a document that passed the check fits.
    pub(super) fn from_document(root: Map<String, Value>) -> Result<Self, serde_json::Error> {
        serde_json::from_value(Value::Object(root))
    }

    /// The agent of this name, in any case. `claude` is there also where nobody configured it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&AgentSettings> {
        let wanted = name.trim().to_lowercase();
        let configured = self.agents.iter().find(|agent| agent.name.trim().to_lowercase() == wanted);
        configured.or_else(|| (wanted == BUILT_IN.name).then(|| &*BUILT_IN))
    }

    /// The configured primary: the one named, else the first that is a server.
    #[must_use]
    pub fn primary(&self) -> Option<&AgentSettings> {
        let named = if self.agent.trim().is_empty() { None } else { self.find(&self.agent) };
        named.or_else(|| self.agents.iter().find(|agent| agent.kind().is_http()))
    }

    /// The agent that takes what is too much for the primary: the one named; without a name one called `claude`, when
    /// one is configured. `claude` can also be named without an entry. None when it is the primary itself.
    #[must_use]
    pub fn escalation(&self) -> Option<&AgentSettings> {
        let is = |agent: &AgentSettings, name: &str| agent.name.trim().eq_ignore_ascii_case(name);
        let agent = match self.escalation_agent.trim() {
            "" => self.agents.iter().find(|agent| is(agent, &BUILT_IN.name)),
            named => self.find(named),
        };
        agent.filter(|agent| !self.primary().is_some_and(|primary| is(primary, agent.name.trim())))
    }

    /// Whether sessions start without asking: the root's word, else the first claude-cli entry's.
    #[must_use]
    pub fn skip_permissions(&self) -> bool {
        self.dangerously_skip_permissions.unwrap_or_else(|| {
            let cli = self.agents.iter().find(|agent| agent.kind() == ProviderKind::ClaudeCli);
            cli.is_some_and(|agent| agent.dangerously_skip_permissions)
        })
    }

    /// Whether one of the configured agents takes sounds.
    #[must_use]
    pub fn hears(&self) -> bool {
        self.agents.iter().any(AgentSettings::hears)
    }

    /// Whether reasoning is shown to an ACP client.
    #[must_use]
    pub fn shows_reasoning(&self) -> bool {
        self.show_reasoning != Some(false)
    }

    /// The limits that hold for an agent (or, with `None`, for one that is not configured).
    ///
    /// `window` is the context window as known from elsewhere, for an agent that does not say its own.
    #[must_use]
    pub fn effective(&self, agent: Option<&AgentSettings>, window: Option<u64>) -> Effective {
        let limits = agent.map(|agent| agent.limits.clone()).unwrap_or_default();
        let said = agent.and_then(|agent| u64::try_from(agent.context_window_tokens).ok()).filter(|w| *w > 0);
        let window = said.or(window);
        let iterations = window.map_or(TOOL_ITERATIONS, |tokens| (tokens / 4096).max(5));
        let chars = window.map_or(MESSAGE_CHARS, |tokens| tokens.saturating_mul(3));
        let pick = |own: Option<i64>, root: i64, derived: u64, built_in: u64| match own {
            Some(own) => Budget::new(own, built_in),
            None => Budget::new(root, derived),
        };
        let seconds = |own, built_in| pick(own, 0, built_in, built_in).limit().map(Duration::from_secs);
        Effective {
            max_tool_iterations: pick(
                limits.max_tool_iterations,
                self.local_max_tool_iterations,
                iterations,
                TOOL_ITERATIONS,
            )
            .limit(),
            message_budget_chars: pick(
                limits.message_budget_chars,
                self.local_context_budget_chars,
                chars,
                MESSAGE_CHARS,
            )
            .limit(),
            message_limit: limits
                .message_budget_chars
                .or(Some(self.local_context_budget_chars))
                .and_then(|chars| u64::try_from(chars).ok())
                .filter(|chars| *chars > 0),
            turn_timeout: seconds(limits.turn_timeout_secs, TURN_SECS),
            tool_timeout: seconds(limits.tool_timeout_secs, TOOL_SECS),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(document: &Value) -> Settings {
        Settings::from_document(document.as_object().unwrap().clone()).unwrap()
    }

    #[test]
    fn nothing_configured_means_the_defaults() {
        assert_eq!(settings(&json!({})), Settings::default());
        assert!(Settings::default().acp_resume);
        assert!(Settings::default().shows_reasoning());
        assert!(!Settings::default().skip_permissions());
    }

    #[test]
    fn integers_follow_the_convention() {
        let table = [(-1, None), (-9, None), (0, Some(20)), (1, Some(1)), (500, Some(500))];
        for (configured, limit) in table {
            assert_eq!(Budget::new(configured, 20).limit(), limit, "{configured}");
        }
    }

    #[test]
    fn limits_fall_back_from_agent_to_root_to_window_to_built_in() {
        let iterations = |root: i64, own: Value, window: i64| {
            let settings = settings(&json!({
                "local_max_tool_iterations": root,
                "agents": [{"name": "a", "context_window_tokens": window, "limits": {"max_tool_iterations": own}}],
            }));
            settings.effective(settings.agents.first(), None).max_tool_iterations
        };
        assert_eq!(iterations(0, Value::Null, 0), Some(20));
        assert_eq!(iterations(7, Value::Null, 0), Some(7));
        assert_eq!(iterations(-1, Value::Null, 0), None);
        assert_eq!(iterations(7, json!(3), 131_072), Some(3));
        assert_eq!(iterations(7, json!(0), 131_072), Some(20));
        assert_eq!(iterations(7, json!(-1), 0), None);
        assert_eq!(iterations(0, Value::Null, 131_072), Some(32));
        assert_eq!(iterations(0, Value::Null, 8192), Some(5));
    }

    #[test]
    fn the_window_sets_the_message_budget_and_timeouts_have_theirs() {
        let effective = Settings::default().effective(None, Some(8192));
        assert_eq!((effective.message_budget_chars, effective.message_limit), (Some(24_576), None));
        for (own, limit) in
            [(Value::Null, Some(9_000)), (json!(5_000), Some(5_000)), (json!(-1), None), (json!(0), None)]
        {
            let limited = settings(&json!({"local_context_budget_chars": 9_000,
                "agents": [{"limits": {"message_budget_chars": own}}]}));
            assert_eq!(limited.effective(limited.agents.first(), None).message_limit, limit, "{own}");
        }
        assert_eq!(effective.turn_timeout, Some(Duration::from_mins(10)));
        assert_eq!(effective.tool_timeout, Some(Duration::from_mins(2)));
        let endless =
            settings(&json!({"agents": [{"limits": {"turn_timeout_secs": -1, "tool_timeout_secs": 5}}]}));
        let effective = endless.effective(endless.agents.first(), None);
        assert_eq!((effective.turn_timeout, effective.tool_timeout), (None, Some(Duration::from_secs(5))));
    }

    #[test]
    fn permissions_are_skipped_by_the_roots_word_or_the_first_claude_entrys() {
        let table = [
            (json!({"dangerously_skip_permissions": true}), true),
            (json!({"agents": [{"provider": "claude-cli", "dangerously_skip_permissions": true}]}), true),
            (json!({"agents": [{"provider": "bearer", "dangerously_skip_permissions": true}]}), false),
            (
                json!({"agents": [{"provider": "claude-cli"},
                    {"provider": "claude-cli", "dangerously_skip_permissions": true}]}),
                false,
            ),
            (
                json!({"dangerously_skip_permissions": false,
                    "agents": [{"provider": "claude-cli", "dangerously_skip_permissions": true}]}),
                false,
            ),
        ];
        for (document, expected) in table {
            assert_eq!(settings(&document).skip_permissions(), expected, "{document}");
        }
    }

    #[test]
    fn the_primary_is_the_named_agent_or_the_first_server() {
        let agents =
            json!([{"name": "cc", "provider": "claude-cli"}, {"name": "Lama", "url": "u"}, {"name": "b"}]);
        let primary = |agent: &str| {
            settings(&json!({"agent": agent, "agents": agents})).primary().map(|agent| agent.name.clone())
        };
        assert_eq!(primary("").as_deref(), Some("Lama"));
        assert_eq!(primary("CC").as_deref(), Some("cc"));
        assert_eq!(primary("B ").as_deref(), Some("b"));
        assert_eq!(primary("nobody").as_deref(), Some("Lama"));
        assert_eq!(settings(&json!({})).primary(), None);
    }

    #[test]
    fn the_escalation_agent_is_the_named_one_or_a_claude_and_never_the_primary() {
        let agents = json!([{"name": "a", "url": "u"}, {"name": "Big", "url": "u"}]);
        let escalation = |agents: &Value, name: &str| {
            let settings = settings(&json!({"escalation_agent": name, "agents": agents}));
            settings.escalation().map(|agent| (agent.name.clone(), agent.kind()))
        };
        let found = |name: &str, kind| Some((name.to_owned(), kind));
        assert_eq!(escalation(&agents, ""), None, "one agent is enough");
        assert_eq!(escalation(&agents, " big"), found("Big", ProviderKind::Local));
        assert_eq!(escalation(&agents, "A"), None, "the primary itself");
        assert_eq!(escalation(&agents, "nobody"), None);
        assert_eq!(escalation(&agents, "Claude"), found("claude", ProviderKind::ClaudeCli));
        let own = json!([{"name": "a", "url": "u"}, {"name": "CLAUDE", "provider": "anthropic"}]);
        assert_eq!(escalation(&own, ""), found("CLAUDE", ProviderKind::Anthropic));
        assert_eq!(escalation(&json!([]), ""), None);
    }

    #[test]
    fn a_secret_does_not_show_and_is_trimmed() {
        let settings = settings(&json!({"agents": [{"api_key": " sk-1\n", "headers": {"X": "sk-2"}}]}));
        assert_eq!(settings.agents[0].api_key.expose(), "sk-1");
        assert!(!format!("{settings:?}").contains("sk-"));
    }
}
