//! Imports reports, and the cards and posts that they came from. What is stored stays as it is.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use super::merge::{Compared, Merge, Part};
use crate::datasets::{DatasetError, FolderFile, FolderRow, ReportRow};
use crate::model::{
    Card, CardId, ErasedReport, ModerationEntry, PartnerPost, Report, ReportContent, ReportDigest, ReportKey,
};
use crate::stores::OpenError;
use crate::stores::file::tables::Row;

impl Merge<'_> {
    pub(super) fn reports(&mut self) -> Result<(), OpenError> {
        let incoming =
            self.read(FolderFile::Reports, |folder, places, each| folder.reports(places.locator(), each))?;
        if incoming.is_empty() {
            return Ok(());
        }
        let (keyed, keyless): (Vec<_>, Vec<_>) =
            incoming.into_iter().partition(|row| row.value.key.is_some());
        self.keyed(FolderFile::Reports, keyed)?;
        self.keyless(keyless)
    }

    /// Imports hidden reports. A stored report stays as it is, hidden or not.
    pub(super) fn hidden_reports(&mut self) -> Result<(), OpenError> {
        let incoming = self.read(FolderFile::HiddenReports, |folder, places, each| {
            folder.hidden_reports(places.locator(), each)
        })?;
        self.keyed(FolderFile::HiddenReports, incoming)
    }

    fn keyed(&mut self, file: FolderFile, rows: Vec<FolderRow<ReportRow>>) -> Result<(), OpenError> {
        let known: HashMap<ReportKey, usize> =
            self.stored.reports.iter().enumerate().map(|(index, report)| (report.key, index)).collect();
        let stored_erased = mem::take(&mut self.stored.erased);
        let erased = Erased::of(&stored_erased);
        for FolderRow { line, value: ReportRow { key, content, tags } } in rows {
            let Some(key) = key else { continue };
            let stored = known.get(&key).and_then(|index| self.stored.reports.get(*index));
            let is_another = stored.is_some_and(|stored| is_another(&stored.content, &content))
                || erased.by_key.get(&key).is_some_and(|erased| is_another_than_erased(erased, &content));
            if is_another {
                let reason = format!("pkey {key} is that of another report in the store");
                return Err(self.folder.fault(file, line, reason).into());
            }
            let is_known = stored.is_some() || erased.has(Some(key), &content);
            let compared = if is_known { Compared::Same } else { Compared::New };
            if self.count(file, compared) {
                self.add(Report { key, content, tags });
                if file == FolderFile::HiddenReports {
                    self.stored.hidden.insert(key);
                    self.rows.push(Row::Visibility(key, true));
                }
            }
        }
        self.stored.erased = stored_erased;
        Ok(())
    }

    /// Imports what is left of erased reports, so that the reports do not come back. A stored report stays as it is.
    pub(super) fn erased_reports(&mut self) -> Result<(), OpenError> {
        let incoming = self.read(FolderFile::ErasedReports, |folder, _, each| folder.erased_reports(each))?;
        let stored = self.stored.reports.iter().map(|report| report.key);
        let mut known: HashSet<_> =
            stored.chain(self.stored.erased.iter().map(|erased| erased.key)).collect();
        for FolderRow { value: erased, .. } in incoming {
            let compared = if known.insert(erased.key) { Compared::New } else { Compared::Same };
            if self.count(FolderFile::ErasedReports, compared) {
                self.changed.insert(Part::Reports);
                self.rows.push(Row::Erased(Arc::new(erased.clone()), None));
                self.stored.erased.push(erased);
            }
        }
        Ok(())
    }

    /// Adds the entries of the log that are not in it to its end.
    pub(super) fn moderation_log(&mut self) -> Result<(), DatasetError> {
        let incoming = self.read(FolderFile::ModerationLog, |folder, _, each| folder.moderation_log(each))?;
        let identity = |entry: &ModerationEntry| (entry.at, entry.report, entry.action.name());
        let mut known: HashSet<_> = self.stored.moderation.iter().map(identity).collect();
        let mut last = self.stored.moderation.last().map_or(0, |last| last.number);
        for FolderRow { value: entry, .. } in incoming {
            let compared = if known.insert(identity(&entry)) { Compared::New } else { Compared::Same };
            if self.count(FolderFile::ModerationLog, compared) {
                last += 1;
                self.changed.insert(Part::Reports);
                self.rows.push(Row::Moderation(ModerationEntry { number: last, ..entry }));
            }
        }
        Ok(())
    }

    /// Two reports without a key are the same if their contents are the same. If a folder has such a report n times, it is
    /// stored n times, and importing it again adds none.
    fn keyless(&mut self, rows: Vec<FolderRow<ReportRow>>) -> Result<(), OpenError> {
        let said = |content: &ReportContent| format!("{content:?}");
        let made: HashSet<_> = rows.iter().map(|row| row.value.content.created_at).collect();
        let mut known: HashMap<String, usize> = HashMap::new();
        for Report { content, .. } in &self.stored.reports {
            if made.contains(&content.created_at) {
                *known.entry(said(content)).or_default() += 1;
            }
        }
        let stored_erased = mem::take(&mut self.stored.erased);
        let erased = Erased::of(&stored_erased);
        let stored = self.stored.reports.iter().map(|report| report.key);
        let mut last = stored.chain(erased.by_key.keys().copied()).max();
        for FolderRow { value: ReportRow { content, tags, .. }, .. } in rows {
            let stored = known.get_mut(&said(&content)).filter(|times| **times > 0);
            let is_known = stored.is_some() || erased.has(None, &content);
            if let Some(times) = stored {
                *times -= 1;
            }
            let compared = if is_known { Compared::Same } else { Compared::New };
            if self.count(FolderFile::Reports, compared) {
                last = last.map_or(Some(ReportKey::FIRST), ReportKey::next);
                let key = last.ok_or("no pkey is left after the highest")?;
                self.add(Report { key, content, tags });
            }
        }
        self.stored.erased = stored_erased;
        Ok(())
    }

    fn add(&mut self, report: Report) {
        self.changed.insert(Part::Reports);
        self.rows.push(Row::Report(Arc::new(report.clone())));
        self.stored.reports.push(report);
    }

    pub(super) fn cards(&mut self) -> Result<(), DatasetError> {
        let incoming = self.read(FolderFile::Cards, |folder, _, each| folder.cards(each))?;
        let mut used = self.used();
        let mut ids: HashMap<u64, CardId> = HashMap::new();
        let mut cards: BTreeMap<CardId, Card> = BTreeMap::new();
        for card in self.stored.cards.drain(..) {
            ids.insert(card.pkey, card.id.clone());
            cards.insert(card.id.clone(), card);
        }
        let erased: HashSet<_> = self.stored.erased.iter().map(|erased| erased.key).collect();
        for FolderRow { line, value: card } in incoming {
            // The card of an erased report does not come back either.
            if card.report.is_some_and(|key| erased.contains(&key)) {
                continue;
            }
            let Card { pkey, id, report, .. } = card.clone();
            if ids.get(&pkey).is_some_and(|stored| *stored != id) {
                let reason = format!("pkey {pkey} is that of another card in the store");
                return Err(self.folder.fault(FolderFile::Cards, line, reason));
            }
            let compared = if cards.contains_key(&id) { Compared::Same } else { Compared::New };
            let mut changed = self.count(FolderFile::Cards, compared);
            let stored =
                cards.entry(id.clone()).or_insert(Card { report: None, created_at: Some(self.now), ..card });
            ids.insert(stored.pkey, id);
            if let Some(key) = report {
                if stored.report.is_none() && used.get(&key) == Some(&false) {
                    used.insert(key, true);
                    stored.report = Some(key);
                    changed = true;
                }
                if stored.report != Some(key) {
                    let reason = format!("report {key} is not the report of the card");
                    return Err(self.folder.fault(FolderFile::Cards, line, reason));
                }
            }
            if changed {
                self.changed.insert(Part::Others);
                self.rows.push(Row::Card(Arc::new(stored.clone())));
            }
        }
        self.stored.cards = cards.into_values().collect();
        Ok(())
    }

    pub(super) fn partner_posts(&mut self) -> Result<(), DatasetError> {
        let incoming = self.read(FolderFile::PartnerPosts, |folder, _, each| folder.partner_posts(each))?;
        let mut used = self.used();
        let mut known: HashMap<i64, ReportKey> =
            self.stored.partner_posts.iter().map(|post| (post.post_id, post.report)).collect();
        for FolderRow { line, value: post } in incoming {
            let PartnerPost { post_id, report } = post;
            let compared = if known.contains_key(&post_id) { Compared::Same } else { Compared::New };
            if compared == Compared::New && used.get(&report) == Some(&false) {
                used.insert(report, true);
                known.insert(post_id, report);
                self.count(FolderFile::PartnerPosts, compared);
                self.changed.insert(Part::Others);
                self.rows.push(Row::PartnerPost(post));
                self.stored.partner_posts.push(post);
            }
            if known.get(&post_id) != Some(&report) {
                let reason = format!("pkey {report} is not the report of the post");
                return Err(self.folder.fault(FolderFile::PartnerPosts, line, reason));
            }
        }
        Ok(())
    }

    /// Returns every report, and whether it came from a card or post.
    fn used(&self) -> HashMap<ReportKey, bool> {
        let keys = self.stored.reports.iter().map(|report| report.key);
        let keys = keys.chain(self.stored.erased.iter().map(|erased| erased.key));
        let mut used: HashMap<_, _> = keys.map(|key| (key, false)).collect();
        let cards = self.stored.cards.iter().filter_map(|card| card.report);
        let posts = self.stored.partner_posts.iter().map(|post| post.report);
        used.extend(cards.chain(posts).map(|key| (key, true)));
        used
    }
}

/// The erased reports, to be recognised.
struct Erased<'s> {
    by_key: HashMap<ReportKey, &'s ErasedReport>,
    digests: HashSet<ReportDigest>,
}

impl<'s> Erased<'s> {
    fn of(erased: &'s [ErasedReport]) -> Self {
        let by_key = erased.iter().map(|erased| (erased.key, erased)).collect();
        Self { by_key, digests: erased.iter().map(|erased| erased.digest).collect() }
    }

    /// Returns whether a report with this key, or else this content, was erased.
    fn has(&self, key: Option<ReportKey>, content: &ReportContent) -> bool {
        key.is_some_and(|key| self.by_key.contains_key(&key))
            || !self.digests.is_empty() && self.digests.contains(&ReportDigest::of(content))
    }
}

/// Returns whether a report is not the one that was erased under its key.
fn is_another_than_erased(erased: &ErasedReport, content: &ReportContent) -> bool {
    (erased.created_at, &erased.source, erased.disaster_type)
        != (content.created_at, &content.source, content.disaster_type)
}

/// Returns whether a report is not the one that is stored under its key.
fn is_another(stored: &ReportContent, content: &ReportContent) -> bool {
    stored.created_at != content.created_at
        || stored.source != content.source
        || stored.disaster_type != content.disaster_type
        || stored.location != content.location
}
