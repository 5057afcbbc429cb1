use std::collections::HashSet;
use std::sync::Arc;

use super::comparison::{Comparison, Part};
use crate::data::folder::ReportRow;
use crate::model::{
    AreaId, Card, ErasedReport, ModerationEntry, PartnerPost, Position, Report, ReportContent, ReportDigest,
    ReportKey, Timestamp,
};
use crate::stores::OpenError;
use crate::stores::file::tables::Row;
use crate::stores::import::{
    EntryId, ReportIdentity, ReportLocation, ReportTarget, RowVisitor, SourceTarget,
};
use crate::stores::local::Visibility;

impl ReportTarget for Comparison {
    fn find_reports(&mut self, keys: &[ReportKey]) -> Result<Vec<ReportIdentity>, OpenError> {
        let keys: HashSet<_> = keys.iter().copied().collect();
        let cards = self.stored.cards.iter().filter_map(|card| card.report);
        let used: HashSet<_> =
            cards.chain(self.stored.partner_posts.iter().map(|post| post.report)).collect();
        let stored = self.stored.reports.iter().filter(|report| keys.contains(&report.key));
        let stored = stored.map(|Report { key, content, .. }| ReportIdentity {
            key: *key,
            created_at: content.created_at,
            source: content.source.clone(),
            disaster_type: content.disaster_type,
            location: Some(content.location),
            is_used: used.contains(key),
        });
        let erased = self.stored.erased.iter().filter(|erased| keys.contains(&erased.key));
        let erased = erased.map(|erased| ReportIdentity {
            key: erased.key,
            created_at: erased.created_at,
            source: erased.source.clone(),
            disaster_type: erased.disaster_type,
            location: None,
            is_used: used.contains(&erased.key),
        });
        Ok(stored.chain(erased).collect())
    }

    fn erased_digests(&mut self, digests: &[ReportDigest]) -> Result<HashSet<ReportDigest>, OpenError> {
        let erased: HashSet<_> = self.stored.erased.iter().map(|erased| erased.digest).collect();
        Ok(digests.iter().filter(|digest| erased.contains(digest)).copied().collect())
    }

    fn reports_made_at(
        &mut self,
        times: &[Timestamp],
        each: RowVisitor<'_, ReportContent>,
    ) -> Result<(), OpenError> {
        let times: HashSet<_> = times.iter().collect();
        let contents = self.stored.reports.iter().map(|report| &report.content);
        contents.filter(|content| times.contains(&content.created_at)).for_each(each);
        Ok(())
    }

    fn add_reports(&mut self, rows: Vec<ReportRow>, hidden: bool) -> Result<(), OpenError> {
        let stored = self.stored.reports.iter().map(|report| report.key);
        let mut last = stored.chain(self.stored.erased.iter().map(|erased| erased.key)).max();
        for ReportRow { key, content, tags } in rows {
            let next = || last.map_or(Some(ReportKey::FIRST), ReportKey::next);
            let key = key.or_else(next).ok_or("no pkey is left after the highest")?;
            last = last.max(Some(key));
            let report = Report { key, content, tags };
            self.add(Part::Reports, [Row::Report(Arc::new(report.clone()))]);
            if hidden {
                self.rows.push(Row::Visibility(key, Visibility::Hidden));
            }
            self.stored.reports.push(report);
        }
        Ok(())
    }

    fn add_erased(&mut self, rows: Vec<ErasedReport>) -> Result<(), OpenError> {
        for erased in rows {
            self.add(Part::Reports, [Row::Erased(Arc::new(erased.clone()), None)]);
            self.stored.erased.push(erased);
        }
        Ok(())
    }

    fn move_reports(
        &mut self,
        _: Option<&[AreaId]>,
        moved: &dyn Fn(Position, &ReportLocation) -> Option<ReportLocation>,
    ) -> Result<u64, OpenError> {
        let before = self.rows.len();
        for report in &mut self.stored.reports {
            let tags = &mut report.tags;
            let lies = (tags.local_area_id, tags.city.take());
            let now = moved(report.content.location, &lies);
            let is_moved = now.is_some();
            (tags.local_area_id, tags.city) = now.unwrap_or(lies);
            if is_moved {
                self.changed.insert(Part::Reports);
                self.rows.push(Row::Report(Arc::new(report.clone())));
            }
        }
        Ok((self.rows.len() - before) as u64)
    }

    fn find_entries(&mut self, entries: &[EntryId]) -> Result<HashSet<EntryId>, OpenError> {
        let log = self.stored.moderation.iter();
        let known: HashSet<EntryId> =
            log.map(|entry| (entry.at, entry.report, entry.action.name())).collect();
        Ok(entries.iter().filter(|entry| known.contains(entry)).copied().collect())
    }

    fn add_entries(&mut self, rows: Vec<ModerationEntry>) -> Result<(), OpenError> {
        let last = self.stored.moderation.last().map_or(0, |last| last.number);
        let numbered = (last + 1..).zip(rows).map(|(number, entry)| ModerationEntry { number, ..entry });
        self.add(Part::Reports, numbered.map(Row::Moderation));
        Ok(())
    }
}

impl SourceTarget for Comparison {
    fn find_cards(&mut self, ids: &[&str], numbers: &[u64]) -> Result<Vec<Card>, OpenError> {
        let ids: HashSet<_> = ids.iter().copied().collect();
        let numbers: HashSet<_> = numbers.iter().copied().collect();
        let is_selected = |card: &&Card| ids.contains(card.id.as_str()) || numbers.contains(&card.pkey);
        Ok(self.stored.cards.iter().filter(is_selected).cloned().collect())
    }

    fn put_cards(&mut self, rows: Vec<Card>) -> Result<(), OpenError> {
        for card in rows {
            self.add(Part::Others, [Row::Card(Arc::new(card.clone()))]);
            // The import of posts looks up the reports that came from cards.
            self.stored.cards.push(card);
        }
        Ok(())
    }

    fn find_posts(&mut self, ids: &[i64]) -> Result<Vec<PartnerPost>, OpenError> {
        let ids: HashSet<_> = ids.iter().collect();
        let stored = self.stored.partner_posts.iter().filter(|post| ids.contains(&post.post_id));
        Ok(stored.copied().collect())
    }

    fn add_posts(&mut self, rows: Vec<PartnerPost>) -> Result<(), OpenError> {
        self.add(Part::Others, rows.into_iter().map(Row::PartnerPost));
        Ok(())
    }
}
