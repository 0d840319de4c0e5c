//! How compactions are told.

use session_model::{Compaction, CompactionState, Event, Summary};

use super::{lines, said, v1, v1_full, v2};

fn states(requested: bool) -> Vec<Event> {
    let summary = Summary { turns: 4, last: "t4".into(), text: "It began.".to_owned() };
    let states = [
        CompactionState::Running,
        CompactionState::Done(summary),
        CompactionState::Failed("no server".to_owned()),
        CompactionState::Cancelled,
    ];
    states.map(|state| Event::Compaction(Compaction { id: "k1".into(), requested, state })).to_vec()
}

#[test]
fn whoever_follows_compactions_is_told_every_state() {
    insta::assert_snapshot!(said(&v2(), &states(false)), @r#"
    {"sessionUpdate":"compaction_update","compactionId":"k1","status":"in_progress"}
    {"sessionUpdate":"compaction_update","compactionId":"k1","status":"completed","summary":[{"type":"text","text":"It began."}]}
    {"sessionUpdate":"compaction_update","compactionId":"k1","status":"failed","error":"no server"}
    {"sessionUpdate":"compaction_update","compactionId":"k1","status":"cancelled"}
    "#);
    assert_eq!(said(&v1_full(), &states(true)), said(&v2(), &states(false)));
}

#[test]
fn others_are_told_how_it_ended_unless_the_users_command_says_it() {
    let dialect = v1();
    insta::assert_snapshot!(said(&dialect, &states(false)), @r#"
    {"sessionUpdate":"agent_message_chunk","messageId":"k1","content":{"type":"text","text":"The 4 oldest turns were summarised to make room.\n\n"}}
    {"sessionUpdate":"agent_message_chunk","messageId":"k1","content":{"type":"text","text":"The oldest turns could not be summarised: no server\n\n"}}
    "#);
    assert_eq!(lines(&dialect, &mut dialect.view("s1".into()), &states(true)), "");
}
