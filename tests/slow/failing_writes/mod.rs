//! Every write of every operation fails once. Whatever was acknowledged is stored, nothing is stored by half, and the operation
//! then succeeds: on the same server, or after a kill.
//!
//! On the store in one file a write is a call that changes a file, and `shim.c` makes it fail; on a database it is a message of
//! the protocol, in each direction, at which a proxy cuts the link. Tasks in the background write, too, so the numbers vary.

mod archive;
mod floods;
mod keys;
mod reports;
mod site;
mod webhooks;

use std::fmt::Debug;
use std::path::Path;
use std::time::{Duration, Instant};

use self::archive::{Export, Replacement};
use self::floods::{Batch, Import};
use self::keys::{Creation, Revocation};
use self::reports::{Erasure, Hiding, Photo, Report};
use self::site::Site;
use self::webhooks::Checkpoint;
use crate::dice::Dice;
use crate::eventually::eventually_blocking;
use crate::service_config::ServiceConfig;

/// The first writes fail, and then every `STEP`th.
const ALL_OF: usize = 40;
const STEP: u64 = 100;
const SEED: u64 = 2016;
/// Limit for effects: the lease of a photo is 30 s, and there may be several.
const SOON: Duration = Duration::from_mins(1);

/// An operation that writes.
trait Operation {
    /// What it is done to.
    type Subject: Debug;

    /// Settings of the server. The folder is for photos and the archive.
    const ADAPT: fn(ServiceConfig, &Path) -> ServiceConfig = |config, _| config;
    /// Whether only files of the archive can fail.
    const ONLY_ARCHIVE: bool = false;
    /// Whether the server is killed after each second fault.
    const KILLS: bool = true;

    /// Makes a new subject. No write fails meanwhile.
    fn prepare(&self, site: &mut Site, number: usize) -> Self::Subject;

    /// Does it once, and waits for its effect or for the fault. Returns whether it is acknowledged, now or before.
    fn attempt(&self, site: &mut Site, subject: &Self::Subject) -> bool;

    /// Whether each part of the effect is stored. All parts soon are, or none is.
    fn parts(&self, site: &Site, subject: &Self::Subject) -> Vec<bool>;

    /// Whether everything that follows from it has happened, such as the removal of a photo: looked at after all faults.
    fn has_settled(&self, _: &Site, _: &Self::Subject) -> bool {
        true
    }
}

fn every_write_fails_once<O: Operation>(operation: &O, mut site: Site) {
    let (mut dice, mut all, begun) = (Dice(SEED), Vec::new(), Instant::now());
    for pass in 0..2 {
        let (mut number, mut unchecked) = (1, 0);
        loop {
            let way = 2 * pass + number % 2;
            let subject = operation.prepare(&mut site, all.len() + 1);
            let case = format!("write {number} fails in way {way}: {subject:?}");
            site.arm(number, way);
            let acknowledged = operation.attempt(&mut site, &subject);
            let has_failed = site.disarm();
            assert!(acknowledged || has_failed, "{case}");
            let is_killed = O::KILLS && site.is_on_a_file() && (number / 2 + pass).is_multiple_of(2);
            if is_killed {
                site.restart();
            }
            await_whole(operation, &site, &subject, acknowledged, &case);
            let again = || operation.attempt(&mut site, &subject);
            eventually_blocking(&format!("the next try, {case}"), SOON, again, |done| *done);
            await_whole(operation, &site, &subject, true, &case);
            all.push(subject);
            if is_killed {
                site.restart();
                for subject in &all[unchecked..] {
                    await_whole(operation, &site, subject, true, &case);
                }
                unchecked = all.len();
            }
            if !has_failed {
                break;
            }
            number += match number {
                ..ALL_OF => 1,
                ALL_OF => 1 + dice.below(STEP) as usize,
                _ => STEP as usize,
            };
        }
        assert!(number > 5, "only {number} writes");
        println!("{}: {number} writes, {:?}", std::any::type_name::<O>(), begun.elapsed());
    }
    if site.is_on_a_file() {
        site.restart();
    }
    for subject in &all {
        await_whole(operation, &site, subject, true, "at the end");
    }
    let unsettled =
        || all.iter().filter(|subject| !operation.has_settled(&site, subject)).collect::<Vec<_>>();
    eventually_blocking("everything follows", SOON, unsettled, Vec::is_empty);
}

fn await_whole<O: Operation>(
    operation: &O,
    site: &Site,
    subject: &O::Subject,
    acknowledged: bool,
    case: &str,
) {
    let parts = || operation.parts(site, subject);
    let is_whole =
        |parts: &Vec<bool>| parts.iter().all(|part| *part) || !acknowledged && !parts.contains(&true);
    eventually_blocking(&format!("acknowledged: {acknowledged}, {case}"), SOON, parts, is_whole);
}

/// Defines the tests of operations.
macro_rules! each_write_fails_once {
    ($($operation:ident: $($store:ident $name:ident),*;)*) => {$($(
        #[test]
        fn $name() {
            every_write_fails_once(&$operation, Site::$store(&$operation));
        }
    )*)*};
}

each_write_fails_once! {
    Batch:
        on_a_file a_batch_is_stored_as_a_whole_whichever_write_to_a_file_fails,
        on_a_database a_batch_is_stored_as_a_whole_wherever_the_link_is_cut;
    Import:
        on_a_file an_import_is_stored_as_a_whole_whichever_write_to_a_file_fails,
        on_a_database an_import_is_stored_as_a_whole_wherever_the_link_is_cut;
    Report:
        on_a_file a_report_is_stored_with_its_card_whichever_write_to_a_file_fails,
        on_a_database a_report_is_stored_with_its_card_wherever_the_link_is_cut;
    Photo:
        on_a_file an_acknowledged_photo_is_shown_whichever_write_to_a_file_fails,
        on_a_database an_acknowledged_photo_is_shown_wherever_the_link_is_cut;
    Hiding:
        on_a_file a_hidden_report_stays_hidden_whichever_write_to_a_file_fails,
        on_a_database a_hidden_report_stays_hidden_wherever_the_link_is_cut;
    Erasure:
        on_a_file an_erased_report_stays_erased_whichever_write_to_a_file_fails,
        on_a_database an_erased_report_stays_erased_wherever_the_link_is_cut;
    Creation:
        on_a_file a_key_works_or_does_not_exist_whichever_write_to_a_file_fails,
        on_a_database a_key_works_or_does_not_exist_wherever_the_link_is_cut;
    Revocation:
        on_a_file a_key_is_revoked_or_works_whichever_write_to_a_file_fails,
        on_a_database a_key_is_revoked_or_works_wherever_the_link_is_cut;
    Checkpoint:
        on_a_file a_webhook_sends_each_report_whichever_write_to_a_file_fails,
        on_a_database a_webhook_sends_each_report_wherever_the_link_is_cut;
    Replacement:
        on_a_file a_month_of_the_archive_is_the_old_or_the_new_one_whichever_write_to_its_files_fails;
    Export:
        on_a_file the_archive_of_everything_can_be_written_again_whichever_write_to_its_files_fails,
        on_a_database the_archive_of_everything_can_be_written_again_wherever_the_link_is_cut;
}
