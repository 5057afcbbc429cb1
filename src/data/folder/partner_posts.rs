use super::csv_file::{self, record};
use super::unique::Unique;
use super::{CsvWriter, Folder, FolderFile, FolderRow, FolderWriter, WriteError};
use crate::data::folder::DatasetError;
use crate::model::{PartnerPost, without_zero_fraction};

record!(Post { post_id, pkey });

impl Folder {
    /// Reads the posts of the partner feed. Fails on duplicate identifiers or reports. `each` must check that the reports exist.
    pub fn partner_posts<E: From<DatasetError>>(
        &self,
        each: impl FnMut(FolderRow<PartnerPost>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut ids, mut reports) = (Unique::new("post_id"), Unique::new("pkey"));
        let make = |row, line| {
            let post = post(&row)?;
            ids.add(post.post_id, line)?;
            reports.add(post.report, line)?;
            Ok(post)
        };
        csv_file::read(self, FolderFile::PartnerPosts, make, each)
    }
}

fn post(row: &Post) -> Result<PartnerPost, String> {
    let invalid = |_| format!("post_id must be a whole number from {} to {}", i64::MIN, i64::MAX);
    let post_id = without_zero_fraction(row.post_id.trim()).parse().map_err(invalid)?;
    Ok(PartnerPost { post_id, report: csv_file::parse("pkey", &row.pkey)? })
}

impl FolderWriter {
    /// Starts writing `partner_posts.csv`.
    pub fn partner_posts(&self) -> Result<CsvWriter<PartnerPost>, WriteError> {
        self.rows::<_, Post>(FolderFile::PartnerPosts)
    }
}

impl CsvWriter<PartnerPost> {
    /// Writes the next post.
    pub fn write(&mut self, post: &PartnerPost) -> Result<(), WriteError> {
        self.record(&[&post.post_id.to_string(), &post.report.to_string()])
    }
}
