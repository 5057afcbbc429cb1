use std::fs;

use geo::Coord;

/// The table of time zones by country that most systems have: code, position, name.
const TABLE: &str = "/usr/share/zoneinfo/zone.tab";

/// Returns the time zone of a country whose main city is nearest; `None` if the system has no table, or it lacks the country.
pub(crate) fn nearest(country: &str, at: Coord) -> Option<String> {
    nearest_in(&fs::read_to_string(TABLE).ok()?, country, at)
}

fn nearest_in(table: &str, country: &str, at: Coord) -> Option<String> {
    let zones = table.lines().filter_map(|line| {
        let mut columns = line.split('\t');
        let is_here = columns.next()? == country;
        let city = position(columns.next()?)?;
        let distance = (city.x - at.x).hypot(city.y - at.y);
        is_here.then_some((distance, columns.next()?))
    });
    let nearest = zones.min_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.map(|(_, name)| name.to_owned())
}

/// Reads an ISO 6709 position such as `+4709+00931` or `+404251-0740023`.
fn position(text: &str) -> Option<Coord> {
    let (lat, lon) = text.split_at_checked(1 + text.get(1..)?.find(['+', '-'])?)?;
    Some(Coord { x: degrees(lon, 3)?, y: degrees(lat, 2)? })
}

/// Reads degrees and minutes; the seconds do not matter here.
fn degrees(text: &str, digits: usize) -> Option<f64> {
    let (sign, number) = text.split_at_checked(1)?;
    let whole: f64 = number.get(..digits)?.parse().ok()?;
    let minutes: f64 = number.get(digits..digits + 2)?.parse().ok()?;
    Some((whole + minutes / 60.0) * if sign == "-" { -1.0 } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_zone_of_the_country_is_found() {
        let table = "# a comment\nID\t-0610+10648\tAsia/Jakarta\tJava\nID\t-0507+11924\tAsia/Makassar\nLI\t+4709+00931\tEurope/Vaduz\n";
        let zone = |country, x, y| nearest_in(table, country, Coord { x, y });
        assert_eq!(zone("ID", 107.6, -6.9).as_deref(), Some("Asia/Jakarta"));
        assert_eq!(zone("ID", 120.0, -3.0).as_deref(), Some("Asia/Makassar"));
        assert_eq!(zone("LI", 9.5, 47.1).as_deref(), Some("Europe/Vaduz"));
        assert_eq!(zone("XX", 0.0, 0.0), None);
    }
}
