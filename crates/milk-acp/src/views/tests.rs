//! Who is found under which id.

use super::*;
use crate::session::Mailbox;

fn id(text: &str) -> SessionId {
    SessionId::from(text)
}

/// A view made with a session.
fn made(views: &Arc<Views>, session: &str) -> (Seat, Claim, Mailbox) {
    let (mail, mailbox) = SessionHandle::new();
    let (seat, _) = views.seat(mail, "/w");
    let claim = views.claim_new(seat.view(), &id(session));
    seat.answer_to(&id(session));
    (seat, claim, mailbox)
}

/// The view shows another session from now on.
fn rebind(views: &Arc<Views>, seat: &Seat, claim: &mut Claim, session: &str) {
    *claim = views.claim(seat.view(), &id(session)).expect("free").0;
}

/// Whose mailbox it is.
fn reaches(mail: &SessionHandle, mailbox: &Mailbox) -> bool {
    let before = mailbox.len();
    mail.post(crate::session::Mail::Cancel).expect("posted");
    mailbox.len() == before + 1
}

fn resumed(views: &Arc<Views>, session: &str) -> (Resumed, Mailbox) {
    let (mail, mailbox) = SessionHandle::new();
    (views.resume(&id(session), mail, "/w"), mailbox)
}

#[test]
fn the_view_that_shows_a_session_comes_before_the_one_made_with_it() {
    let views = Arc::<Views>::default();
    let (one, mut shows_one, first) = made(&views, "a");
    let (two, mut shows_two, second) = made(&views, "b");
    rebind(&views, &one, &mut shows_one, "c");
    let (back, _) = resumed(&views, "a");
    assert!(matches!(back, Resumed::Back(mail) if reaches(&mail, &first)), "made with it");
    rebind(&views, &two, &mut shows_two, "a");
    let (shown, _) = resumed(&views, "a");
    assert!(matches!(shown, Resumed::Shown(mail) if reaches(&mail, &second)), "shows it");
    assert!(reaches(&views.reach(&id("a")).expect("reached"), &second), "the id is its alias now");
    let (shown, _) = resumed(&views, "c");
    assert!(matches!(shown, Resumed::Shown(mail) if reaches(&mail, &first)));
}

#[test]
fn a_session_is_claimed_once() {
    let views = Arc::<Views>::default();
    let (one, shows, _mail) = made(&views, "a");
    let (two, _shows, _other) = made(&views, "b");
    assert_eq!(views.claim(two.view(), &id("a")).err(), Some(Held));
    drop(shows);
    let (claim, after) = views.claim(two.view(), &id("a")).expect("given back");
    assert!(after.is_none() && claim.session() == &id("a"));
    assert_eq!(views.claim(one.view(), &id("a")).err(), Some(Held));
}

#[test]
fn what_is_being_closed_is_waited_for() {
    let views = Arc::<Views>::default();
    let (seat, claim, mailbox) = made(&views, "a");
    let closed = views.close(&id("a")).expect("its view");
    assert!(reaches(&closed, &mailbox));
    assert!(views.close(&id("a")).is_some(), "closing again finds the same view");
    let (resumed, _mail) = resumed(&views, "a");
    let Resumed::New(_seat, _claim, Some(after)) = resumed else { panic!("{resumed:?}") };
    assert!(!after.is_cancelled());
    drop((claim, seat));
    assert!(after.is_cancelled());
    assert!(matches!(self::resumed(&views, "a").0, Resumed::Shown(_)), "the new view has it");
}

#[test]
fn closing_joins_every_id_of_the_view_to_the_closed() {
    let views = Arc::<Views>::default();
    let (seat, mut claim, _mail) = made(&views, "a");
    rebind(&views, &seat, &mut claim, "b");
    rebind(&views, &seat, &mut claim, "c");
    let _alias = resumed(&views, "c");
    views.close(&id("a"));
    for (session, closed) in [("a", true), ("b", false), ("c", true)] {
        assert_eq!(views.is_closed(&id(session)), closed, "{session}");
    }
}

#[test]
fn deletion_concerns_the_view_of_a_handle_and_moves_the_one_that_merely_shows_it() {
    let views = Arc::<Views>::default();
    let (seat, mut claim, mailbox) = made(&views, "a");
    rebind(&views, &seat, &mut claim, "b");
    assert!(matches!(views.delete(&id("b")), Deletion::Shown(mail) if reaches(&mail, &mailbox)));
    assert!(matches!(views.delete(&id("a")), Deletion::View(mail) if reaches(&mail, &mailbox)));
    assert!(matches!(views.delete(&id("b")), Deletion::View(_)), "it is being closed by now");
    assert!(matches!(views.delete(&id("x")), Deletion::Nobody));
    drop((claim, seat));
    assert!(matches!(views.delete(&id("a")), Deletion::Nobody), "no handle outlives its view");
}

#[test]
fn a_folder_is_new_until_a_live_view_is_in_it() {
    let views = Arc::<Views>::default();
    let (mail, _mailbox) = SessionHandle::new();
    let (one, alone) = views.seat(mail.clone(), "/w");
    assert!(alone && one.settle(Path::new("/real")));
    let (two, alone) = views.seat(mail.clone(), "/w/");
    assert!(alone, "spelled otherwise");
    assert!(!two.settle(Path::new("/real")), "and the same all the same");
    assert!(!views.seat(mail.clone(), "/w").1);
    one.retire();
    drop(two);
    assert!(views.seat(mail, "/w").1);
}
