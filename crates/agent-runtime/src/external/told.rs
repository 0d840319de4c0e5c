//! What an external agent is told of a conversation it was not part of: earlier turns as text.

use session_model::{AgentId, Entry, Item, TurnId};

use crate::context;

/// What a session's history means to one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The last turn the agent itself answered, if it ever did.
    pub answered: Option<TurnId>,
    /// What happened since that turn.
    pub since: String,
    /// What happened at all.
    pub whole: String,
}

/// Sorts `history` (without the present turn) for `agent`; each text takes at most about `room` bytes.
///
/// A turn that `known` names counts as answered by the agent, whatever the history says of it.
#[must_use]
pub fn past(history: &[Entry], agent: &AgentId, known: Option<&TurnId>, room: usize) -> Past {
    let own = |entry: &&Entry| match &entry.item {
        Item::TurnEnd { route: Some(route), .. } => route.agent == *agent || known == Some(&entry.turn),
        Item::TurnEnd { route: None, .. } => known == Some(&entry.turn),
        Item::User { .. }
        | Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. } => false,
    };
    let answered = history.iter().rev().find(own).map(|entry| entry.turn.clone());
    let last = answered.as_ref().and_then(|turn| history.iter().rposition(|entry| entry.turn == *turn));
    let rest = last.map_or(history, |at| &history[at + 1..]);
    Past { answered, since: context::transcript(rest, room), whole: context::transcript(history, room) }
}

#[cfg(test)]
mod tests {
    use session_model::{Content, MessageId, Route, StopReason};
    use time::OffsetDateTime;

    use super::*;

    fn turn(id: &str, agent: &str, said: &str) -> Vec<Entry> {
        let route = Route {
            agent: AgentId::from(agent),
            target: "primary".to_owned(),
            reason: String::new(),
            conclusive: None,
        };
        let items = [
            Item::User {
                id: MessageId::from("u"),
                content: vec![Content::text(format!("ask {said}"))],
                key: None,
            },
            Item::Agent { id: MessageId::from(id), step: 0, text: said.to_owned() },
            Item::TurnEnd { stop: StopReason::EndTurn, error: None, route: Some(route) },
        ];
        let at = OffsetDateTime::UNIX_EPOCH;
        items.into_iter().map(|item| Entry { turn: TurnId::from(id), at, item }).collect()
    }

    #[test]
    fn an_agent_is_told_what_happened_since_it_last_spoke() {
        let history =
            [turn("1", "claude", "one"), turn("2", "local", "two"), turn("3", "local", "three")].concat();
        let told = past(&history, &AgentId::from("claude"), None, 10_000);
        assert_eq!(told.answered, Some(TurnId::from("1")));
        assert_eq!(told.since, "USER: ask two\n\nAGENT: two\n\nUSER: ask three\n\nAGENT: three");
        assert!(told.whole.starts_with("USER: ask one"), "{}", told.whole);
        let stranger = past(&history, &AgentId::from("other"), None, 10_000);
        assert_eq!((stranger.answered, stranger.since), (None, told.whole));
    }

    #[test]
    fn whole_turns_are_left_out_when_there_is_no_room() {
        let history = [turn("1", "a", "one"), turn("2", "a", "two")].concat();
        let told = past(&history, &AgentId::from("b"), None, 30);
        assert_eq!(told.whole, "[1 earlier turns left out]\n\nUSER: ask two\n\nAGENT: two");
        assert_eq!(past(&history, &AgentId::from("b"), None, 5).whole, "");
    }
}
