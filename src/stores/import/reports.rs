use std::collections::{HashMap, HashSet};

use super::{Import, ReportIdentity, Target, take_match};
use crate::data::folder::{FolderFile, FolderRow, ReportRow};
use crate::model::{Card, PartnerPost, ReportContent, ReportDigest, ReportKey};
use crate::stores::OpenError;

/// Returns the complete content of a report as text, for comparing reports.
fn content_key(content: &ReportContent) -> String {
    format!("{content:?}")
}

impl<T: Target> Import<'_, T> {
    /// Imports reports. Hidden reports come first, so that a report stays hidden if another file also contains it. Stored reports
    /// stay unchanged, hidden or not.
    pub(super) fn reports(&mut self) -> Result<(), OpenError> {
        let places = self.places.clone();
        self.import_file(
            FolderFile::HiddenReports,
            |folder, each| folder.hidden_reports(places.locator(), each),
            |import, rows| import.import_keyed(FolderFile::HiddenReports, rows),
        )?;
        let mut any_keyless = false;
        self.import_file(
            FolderFile::Reports,
            |folder, each| folder.reports(places.locator(), each),
            |import, rows: Vec<FolderRow<ReportRow>>| {
                any_keyless |= rows.iter().any(|row| row.value.key.is_none());
                import.import_keyed(FolderFile::Reports, rows)
            },
        )?;
        if any_keyless {
            self.import_keyless()?;
        }
        self.target.complete_reports()
    }

    /// Adds the rows with keys whose reports are new. Fails if the store has a different report with one of these keys.
    fn import_keyed(&mut self, file: FolderFile, rows: Vec<FolderRow<ReportRow>>) -> Result<(), OpenError> {
        let keys: Vec<_> = rows.iter().filter_map(|row| row.value.key).collect();
        let stored_reports = self.find_reports(&keys)?;
        let erased = self.are_erased(&rows)?;
        let mut new = Vec::new();
        for (FolderRow { line, value: row }, erased) in rows.into_iter().zip(erased) {
            let Some(key) = row.key else { continue };
            let stored = stored_reports.get(&key);
            if stored.is_some_and(|stored| is_different(stored, &row.content)) {
                let reason = format!("pkey {key} is that of another report in the store");
                return Err(self.folder.fault(file, line, reason).into());
            }
            if self.is_new(file, stored.is_none() && !erased) {
                new.push(row);
            }
        }
        let hidden = file == FolderFile::HiddenReports;
        if new.is_empty() { Ok(()) } else { self.target.add_reports(new, hidden) }
    }

    /// Reads the reports a second time, and imports those without a key.
    ///
    /// Two reports without keys are the same report if their contents are equal. If a folder contains a report n times, it is
    /// stored n times, and a second import adds none.
    fn import_keyless(&mut self) -> Result<(), OpenError> {
        let places = self.places.clone();
        let (mut stored, mut looked_up) = (HashMap::new(), HashSet::new());
        self.read_batches(
            |folder, each| {
                folder.reports(
                    places.locator(),
                    |row: FolderRow<ReportRow>| {
                        if row.value.key.is_none() { each(row) } else { Ok(()) }
                    },
                )
            },
            |import, rows| {
                // Looks up each time only once, because a later lookup would also find the reports that this import has added.
                let times = rows.iter().map(|row| row.value.content.created_at);
                let times: Vec<_> = times.filter(|time| looked_up.insert(*time)).collect();
                import.target.reports_made_at(&times, &mut |content| {
                    *stored.entry(content_key(content)).or_default() += 1;
                })?;
                let erased = import.are_erased(&rows)?;
                let is_new = |(row, erased): &(ReportRow, bool)| {
                    let is_known = take_match(&mut stored, &content_key(&row.content)) || *erased;
                    import.is_new(FolderFile::Reports, !is_known)
                };
                let rows = rows.into_iter().map(|row| row.value).zip(erased);
                let new: Vec<_> = rows.filter(is_new).map(|(row, _)| row).collect();
                if new.is_empty() { Ok(()) } else { import.target.add_reports(new, false) }
            },
        )
    }

    /// Returns the reports with these keys, by key, including erased reports.
    fn find_reports(&mut self, keys: &[ReportKey]) -> Result<HashMap<ReportKey, ReportIdentity>, OpenError> {
        let reports = self.target.find_reports(keys)?;
        Ok(reports.into_iter().map(|report| (report.key, report)).collect())
    }

    /// Returns for each row whether its report was erased. Compares contents, because the row may have another key, or no key.
    fn are_erased(&mut self, rows: &[FolderRow<ReportRow>]) -> Result<Vec<bool>, OpenError> {
        let digests: Vec<_> = rows.iter().map(|row| ReportDigest::new(&row.value.content)).collect();
        let erased = self.target.erased_digests(&digests)?;
        Ok(digests.iter().map(|digest| erased.contains(digest)).collect())
    }

    pub(super) fn cards(&mut self) -> Result<(), OpenError> {
        self.import_file(
            FolderFile::Cards,
            |folder, each| folder.cards(each),
            |import, rows: Vec<FolderRow<Card>>| {
                import.target.lock_reports()?;
                let keys: Vec<_> = rows.iter().filter_map(|row| row.value.report).collect();
                let mut reports = import.find_reports(&keys)?;
                let ids: Vec<_> = rows.iter().map(|row| row.value.id.as_str()).collect();
                let numbers: Vec<_> = rows.iter().map(|row| row.value.pkey).collect();
                let stored = import.target.find_cards(&ids, &numbers)?;
                let numbers: HashMap<_, _> = stored.iter().map(|card| (card.pkey, card.id.clone())).collect();
                let mut stored: HashMap<_, _> =
                    stored.into_iter().map(|card| (card.id.clone(), card)).collect();
                let mut changed = Vec::new();
                for FolderRow { line, value: card } in rows {
                    let report = card.report.and_then(|key| reports.get_mut(&key));
                    // The card of an erased report is not restored.
                    if report.as_ref().is_some_and(|report| report.location.is_none()) {
                        continue;
                    }
                    if numbers.get(&card.pkey).is_some_and(|id| *id != card.id) {
                        let reason = format!("pkey {} is that of another card in the store", card.pkey);
                        return Err(import.folder.fault(FolderFile::Cards, line, reason).into());
                    }
                    let key = card.report;
                    let stored_card = stored.remove(&card.id);
                    let is_new = import.is_new(FolderFile::Cards, stored_card.is_none());
                    let mut card =
                        stored_card.unwrap_or(Card { report: None, created_at: Some(import.now), ..card });
                    let free = report.filter(|report| card.report.is_none() && !report.is_used);
                    let is_received = free.is_some();
                    if let Some(report) = free {
                        report.is_used = true;
                        card.report = key;
                    }
                    if let Some(key) = key.filter(|key| card.report != Some(*key)) {
                        let reason = format!("report {key} is not the report of the card");
                        return Err(import.folder.fault(FolderFile::Cards, line, reason).into());
                    }
                    if is_new || is_received {
                        changed.push(card);
                    }
                }
                if changed.is_empty() { Ok(()) } else { import.target.put_cards(changed) }
            },
        )
    }

    pub(super) fn partner_posts(&mut self) -> Result<(), OpenError> {
        self.import_file(
            FolderFile::PartnerPosts,
            |folder, each| folder.partner_posts(each),
            |import, rows: Vec<FolderRow<PartnerPost>>| {
                import.target.lock_reports()?;
                let keys: Vec<_> = rows.iter().map(|row| row.value.report).collect();
                let reports = import.find_reports(&keys)?;
                let ids: Vec<_> = rows.iter().map(|row| row.value.post_id).collect();
                let stored = import.target.find_posts(&ids)?;
                let stored: HashMap<_, _> =
                    stored.into_iter().map(|post| (post.post_id, post.report)).collect();
                let mut new = Vec::new();
                for FolderRow { line, value: post } in rows {
                    let PartnerPost { post_id, report } = post;
                    let stored_report = stored.get(&post_id);
                    let is_free = reports.get(&report).is_some_and(|report| !report.is_used);
                    if stored_report.map_or(!is_free, |stored| *stored != report) {
                        let reason = format!("pkey {report} is not the report of the post");
                        return Err(import.folder.fault(FolderFile::PartnerPosts, line, reason).into());
                    }
                    if import.is_new(FolderFile::PartnerPosts, stored_report.is_none()) {
                        new.push(post);
                    }
                }
                if new.is_empty() { Ok(()) } else { import.target.add_posts(new) }
            },
        )
    }
}

/// Whether a report differs from the stored or erased report with the same key.
fn is_different(stored: &ReportIdentity, content: &ReportContent) -> bool {
    stored.created_at != content.created_at
        || stored.source != content.source
        || stored.disaster_type != content.disaster_type
        || stored.location.is_some_and(|location| location != content.location)
}
