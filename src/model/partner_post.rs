use super::ReportKey;

/// A post of the partner feed and the report it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartnerPost {
    /// Identifies the post at the partner.
    pub post_id: i64,
    /// The report.
    pub report: ReportKey,
}
