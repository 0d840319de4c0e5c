//! Whole workflows over scripted stages.

use session_model::PlanStatus;
use workflow::{
    Event, Judgement, Machine, Move, Phase, RoleName, StageError, StageReply, Step, Verdict, Workflow,
    WorkflowError,
};

use crate::support::Script;

const PLAN: &str = "NO_QUESTIONS\nmax_passes: 2\n## Sprint 1\nthe parser\n## Sprint 2\nthe printer";

fn dev() -> Machine {
    Machine::new(Workflow::Dev, "write a formatter")
}

fn judgement(sprint: u32, pass: u32, verdict: Option<Verdict>) -> Judgement {
    Judgement { sprint, pass, verdict }
}

#[tokio::test]
async fn sprints_pass_through_generator_and_evaluator_until_the_plan_is_done() {
    let script = Script::new([
        ("designer", PLAN),
        ("generator", "parser written"),
        ("evaluator", "no tests\nneeds_refinement"),
        ("generator", "tests added"),
        ("evaluator", "good_to_go"),
        ("generator", "printer written"),
        ("evaluator", "sprint_done"),
    ]);
    let (report, events) = script.go(dev()).await;
    let judgements = vec![
        judgement(1, 1, Some(Verdict::NeedsRefinement)),
        judgement(1, 2, Some(Verdict::GoodToGo)),
        judgement(2, 1, Some(Verdict::SprintDone)),
    ];
    let report = report.unwrap();
    assert_eq!((report.judgements, report.summary.as_str()), (judgements, "printer written"));
    let (first, second, third) = (script.prompt(1), script.prompt(3), script.prompt(5));
    assert!(
        first.contains("the parser") && !first.contains("the printer") && !first.contains("Findings"),
        "{first}"
    );
    assert!(second.contains("no tests") && second.contains("pass 2 of 2"), "{second}");
    assert!(
        third.contains("the printer") && !third.contains("no tests") && third.contains("pass 1 of 2"),
        "{third}"
    );
    assert!(script.prompt(4).contains("tests added") && script.prompt(4).contains("last pass"));
    assert_eq!(script.last().phase, Phase::Done);
    let Some(Event::Progress(progress)) = events.last() else { panic!("{events:?}") };
    assert_eq!(progress.len(), 7);
    assert!(progress.iter().all(|entry| entry.status == PlanStatus::Completed), "{progress:?}");
}

#[tokio::test]
async fn questions_are_put_to_the_user_and_the_plan_is_made_with_the_answers() {
    let mut script = Script::new([
        ("designer", "## Questions\n- Q1: tabs?\n## Defaults\n- Q1: no"),
        ("designer", "just do it"),
        ("generator", "done"),
        ("evaluator", "good_to_go"),
    ]);
    script.answer = Some("tabs, please");
    let (report, events) = script.go(dev()).await;
    assert_eq!(report.unwrap().plan, "just do it");
    let second = script.prompt(1);
    assert!(second.contains("Q1: tabs?") && second.contains("tabs, please"), "{second}");
    let told = |event: &Event| matches!(event, Event::Answered { answer, .. } if answer == "tabs, please");
    assert!(events.iter().any(told));
}

#[tokio::test]
async fn a_silent_generator_is_replaced_by_the_changes_or_by_a_request_to_look() {
    for (changes, expected) in
        [(Some("1 file changed\n+fn"), "1 file changed"), (None, "inspect the files yourself")]
    {
        let mut script =
            Script::new([("designer", "do it"), ("generator", " \n"), ("evaluator", "good_to_go")]);
        script.changes = changes;
        script.go(dev()).await.0.unwrap();
        assert!(script.prompt(2).contains(expected), "{}", script.prompt(2));
    }
}

#[tokio::test]
async fn an_evaluation_without_a_verdict_is_refined_with_a_warning() {
    let script = Script::new([
        ("designer", "do it"),
        ("generator", "done"),
        ("evaluator", "this is not good to go"),
        ("generator", "done again"),
        ("evaluator", "good_to_go"),
    ]);
    let (report, events) = script.go(dev()).await;
    assert_eq!(report.unwrap().judgements[0], judgement(1, 1, None));
    let warning = "the evaluator gave no verdict in sprint 1, pass 1; taken as a need for refinement";
    assert!(events.contains(&Event::Warning(warning.to_owned())), "{events:?}");
}

#[tokio::test]
async fn passes_that_run_out_are_an_error_and_resuming_allows_as_many_again() {
    let script = Script::new([
        ("designer", PLAN),
        ("generator", "a"),
        ("evaluator", "needs_refinement"),
        ("generator", "b"),
        ("evaluator", "still wrong\nneeds_refinement"),
    ]);
    let (result, _) = script.go(dev()).await;
    assert_eq!(result, Err(WorkflowError::Exhausted { sprint: 1, limit: 2 }));
    let again = Script::new([
        ("generator", "c"),
        ("evaluator", "good_to_go"),
        ("generator", "d"),
        ("evaluator", "good_to_go"),
    ]);
    let (report, _) = again.go(Machine::resume(script.last()).unwrap()).await;
    assert_eq!(report.unwrap().judgements.len(), 4);
    let (first, third) = (again.prompt(0), again.prompt(2));
    assert!(first.contains("pass 3 of 4") && first.contains("still wrong"), "{first}");
    assert!(third.contains("pass 1 of 2"), "{third}");
}

#[tokio::test]
async fn a_workflow_resumes_at_the_turn_that_was_cut_off_wherever_that_was() {
    let whole = [
        ("designer", "## Questions\n- Q1: x?"),
        ("designer", PLAN),
        ("generator", "one"),
        ("evaluator", "needs_refinement"),
        ("generator", "two"),
        ("evaluator", "good_to_go"),
        ("generator", "three"),
        ("evaluator", "good_to_go"),
    ];
    let uncut = Script::new(whole);
    let expected = uncut.go(dev()).await.0.unwrap();
    for cut in 0..whole.len() {
        let before = Script::new(whole[..cut].iter().copied()).then(whole[cut].0, Err(StageError::Cancelled));
        assert_eq!(before.go(dev()).await.0, Err(WorkflowError::Cancelled));
        let after = Script::new(whole[cut..].iter().copied());
        let (report, _) = after.go(Machine::resume(before.last()).unwrap()).await;
        assert_eq!(report, Ok(expected.clone()), "cut at turn {cut}");
        assert_eq!(before.prompt(cut), after.prompt(0), "the same turn is asked for again");
    }
}

#[tokio::test]
async fn a_failed_turn_names_its_role_and_can_be_tried_again() {
    let script = Script::new([("designer", "do it")])
        .then("generator", Err(StageError::Failed("no model".to_owned())));
    let (result, _) = script.go(dev()).await;
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the generator's turn failed: no model; resume the workflow to try it again"
    );
    let again = Script::new([("generator", "done"), ("evaluator", "good_to_go")]);
    again.go(Machine::resume(script.last()).unwrap()).await.0.unwrap();
}

#[tokio::test]
async fn without_a_plan_nothing_is_done() {
    let script = Script::new([("designer", "NO_QUESTIONS\n \n")]);
    assert_eq!(script.go(dev()).await.0, Err(WorkflowError::NoPlan));
    assert_eq!(script.last().phase, Phase::Design, "resuming asks again");
}

#[tokio::test]
async fn in_pair_the_user_may_overrule_the_verdict() {
    let mut script = Script::new([
        ("designer", "max_passes: 2\ndo it"),
        ("generator", "a"),
        ("evaluator", "good_to_go"),
        ("generator", "b"),
        ("evaluator", "good_to_go"),
    ]);
    script.answer = Some("make it blue");
    let (result, _) = script.go(Machine::new(Workflow::Pair, "paint")).await;
    assert_eq!(result, Err(WorkflowError::Exhausted { sprint: 1, limit: 2 }));
    assert!(script.prompt(3).contains("make it blue"));
    let agreeing = Script::new([("designer", "do it"), ("generator", "a"), ("evaluator", "good_to_go")]);
    agreeing.go(Machine::new(Workflow::Pair, "paint")).await.0.unwrap();
}

#[tokio::test]
async fn progress_that_cannot_be_saved_is_said_and_does_not_stop_the_work() {
    let mut script = Script::new([("designer", "do it"), ("generator", "a"), ("evaluator", "good_to_go")]);
    script.full = true;
    let (report, events) = script.go(dev()).await;
    report.unwrap();
    let warning = "the workflow's progress could not be saved: the disk is full";
    assert!(events.contains(&Event::Warning(warning.to_owned())));
}

#[test]
fn a_complete_or_newer_checkpoint_is_not_resumed() {
    let mut checkpoint = dev().checkpoint().clone();
    checkpoint.format = 9;
    assert_eq!(Machine::resume(checkpoint.clone()).err(), Some(WorkflowError::Newer { found: 9, known: 1 }));
    checkpoint.format = 1;
    checkpoint.phase = Phase::Done;
    assert_eq!(Machine::resume(checkpoint).err(), Some(WorkflowError::Complete));
}

#[test]
fn a_step_that_answers_nothing_changes_nothing() {
    let mut machine = dev();
    let first = machine.next(Step::Begin);
    assert!(matches!(&first, Move::Stage(stage) if stage.role == RoleName::DESIGNER));
    for stray in [Step::Answer("x".to_owned()), Step::Changes(None), Step::Begin] {
        assert_eq!(machine.next(stray), first);
    }
}

#[test]
fn progress_shows_the_stage_under_way() {
    let mut machine = dev();
    let progress = |machine: &Machine| -> Vec<_> {
        machine.checkpoint().progress().into_iter().map(|entry| (entry.content, entry.status)).collect()
    };
    let reply = |text: &str| Step::Reply(StageReply { text: text.to_owned() });
    assert_eq!(progress(&machine)[0], ("designer".to_owned(), PlanStatus::InProgress));
    for text in [PLAN, "a", "needs_refinement"] {
        machine.next(reply(text));
    }
    let expected = [
        ("designer", PlanStatus::Completed),
        ("sprint 1, pass 2", PlanStatus::InProgress),
        ("  generator", PlanStatus::InProgress),
        ("  evaluator", PlanStatus::Pending),
        ("sprint 2", PlanStatus::Pending),
        ("  generator", PlanStatus::Pending),
        ("  evaluator", PlanStatus::Pending),
    ];
    assert_eq!(progress(&machine), expected.map(|(text, status)| (text.to_owned(), status)));
}
