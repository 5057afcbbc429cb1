//! The texts that come with the service: Indonesian and English.
//!
//! The advice follows what BNPB, BPBD DKI Jakarta and PLN tell people; which of it is given at which depth is the choice of the
//! service. The texts say that a flood was recorded, and name the agency as the source: they invent no words of an agency.

use super::texts::{Level, Over, Template, Texts};

/// The text of feeds while a source of floods is silent.
pub(super) const DOUBTFUL: &str = "Sumber data tidak mengirim kabar: banjir mungkin belum tercatat. A source of the data is silent: floods \
                                   may be missing.";

/// Returns the texts in Indonesian, then in English.
pub(super) fn languages() -> Vec<Texts> {
    vec![indonesian(), english()]
}

fn level(depth: &str, headline: &str, description: &str, instruction: &str) -> Level {
    let [headline, description] = [headline, description].map(Template::of);
    Level { depth: depth.to_owned(), headline, description, instruction: instruction.to_owned() }
}

fn over(headline: &str, description: &str, instruction: &str) -> Over {
    let [headline, description] = [headline, description].map(Template::of);
    Over { headline, description, instruction: instruction.to_owned() }
}

fn indonesian() -> Texts {
    Texts {
        language: "id-ID".to_owned(),
        event: "Banjir".to_owned(),
        time: "%H.%M %Z, %-d {month} %Y".to_owned(),
        months: [
            "Januari",
            "Februari",
            "Maret",
            "April",
            "Mei",
            "Juni",
            "Juli",
            "Agustus",
            "September",
            "Oktober",
            "November",
            "Desember",
        ]
        .map(str::to_owned),
        exercise: "Latihan: ".to_owned(),
        unknown: level(
            "belum diketahui",
            "Banjir di {area}: hati-hati, ketinggian air belum diketahui",
            "Banjir tercatat di {area} pada pukul {time}. Ketinggian airnya belum diketahui. Sumber: \
             {agency}.",
            "Jangan berjalan atau berkendara melalui air banjir: kedalamannya belum diketahui. \
             Matikan listrik dari MCB sebelum air masuk rumah, dan jangan menyentuh alat listrik \
             saat berdiri di air. Siapkan dokumen penting dan obat, dampingi anak-anak dan lansia, \
             dan ikuti arahan petugas.",
        ),
        minor: level(
            "10–70 cm",
            "Banjir 10–70 cm di {area}: jangan menerobos banjir",
            "Banjir setinggi 10–70 cm tercatat di {area} pada pukul {time}. Sumber: {agency}.",
            "Matikan listrik dari MCB sebelum air masuk rumah, dan jangan menyentuh alat listrik \
             saat berdiri di air. Jangan berkendara menerobos banjir atau berjalan di air deras: air \
             deras setinggi 15 cm dapat menjatuhkan orang, dan 30 cm dapat menghanyutkan mobil \
             kecil. Jauhkan anak-anak dari air banjir, dampingi lansia, dan simpan dokumen penting \
             di tempat yang lebih tinggi.",
        ),
        moderate: level(
            "71–150 cm",
            "Banjir 71–150 cm di {area}: jauhi air dan bersiap mengungsi",
            "Banjir setinggi 71–150 cm tercatat di {area} pada pukul {time}. Sumber: {agency}.",
            "Bersiap mengungsi sesuai arahan petugas; dahulukan anak-anak, lansia, dan penyandang \
             disabilitas, serta bawa obat dan dokumen penting. Jangan berjalan atau berkendara \
             menerobos banjir: air sedalam ini dapat menenggelamkan anak-anak dan menghanyutkan \
             mobil. Jangan menyentuh alat listrik saat berdiri di air; jika listrik masih menyala, \
             hubungi PLN 123 agar dipadamkan.",
        ),
        severe: level(
            "lebih dari 150 cm",
            "Banjir lebih dari 150 cm di {area}: segera ke tempat yang lebih tinggi",
            "Banjir setinggi lebih dari 150 cm tercatat di {area} pada pukul {time}. Sumber: \
             {agency}.",
            "Segera mengungsi ke tempat yang lebih tinggi selagi jalannya masih aman; dahulukan \
             anak-anak, lansia, dan orang sakit. Jika jalan sudah terendam, jangan menerobos air: \
             naiklah ke lantai atas atau atap dan minta pertolongan. Jauhi kabel, tiang, dan alat \
             listrik; utamakan keselamatan jiwa daripada barang.",
        ),
        over: over(
            "Peringatan banjir di {area} telah berakhir",
            "Sejak pukul {time}, banjir tidak lagi tercatat di {area}. Sumber: {agency}.",
            "Kembalilah ke rumah hanya setelah petugas menyatakan aman. Jangan menyalakan listrik \
             sebelum instalasi dan semua alat listrik benar-benar kering. Pakai alas kaki saat \
             membersihkan rumah, waspadai ular dan benda tajam, dan tetap waspada terhadap banjir \
             susulan.",
        ),
    }
}

fn english() -> Texts {
    Texts {
        language: "en-US".to_owned(),
        event: "Flood".to_owned(),
        time: "%H:%M %Z, %-d {month} %Y".to_owned(),
        months: [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ]
        .map(str::to_owned),
        exercise: "Exercise: ".to_owned(),
        unknown: level(
            "unknown",
            "Flood in {area}: take care, water depth unknown",
            "A flood was recorded in {area} at {time}. The depth of the water is not yet known. \
             Source: {agency}.",
            "Do not walk or drive through flood water: its depth is unknown. Switch off the \
             electricity at the main breaker before water enters your home, and do not touch \
             electrical equipment while standing in water. Get important documents and medicines \
             ready, stay with children and older people, and follow the directions of officials.",
        ),
        minor: level(
            "10–70 cm",
            "Flood of 10–70 cm in {area}: do not cross the water",
            "A flood 10–70 cm deep was recorded in {area} at {time}. Source: {agency}.",
            "Switch off the electricity at the main breaker before water enters your home, and do \
             not touch electrical equipment while standing in water. Do not drive through the flood \
             or walk in fast water: 15 cm of fast water can knock a person over, and 30 cm can carry \
             a small car away. Keep children out of flood water, stay with older people, and move \
             important documents to a higher place.",
        ),
        moderate: level(
            "71–150 cm",
            "Flood of 71–150 cm in {area}: keep out of the water, prepare to leave",
            "A flood 71–150 cm deep was recorded in {area} at {time}. Source: {agency}.",
            "Prepare to leave as officials direct; help children, older people and people with \
             disabilities first, and take medicines and important documents. Do not walk or drive \
             through the flood: water this deep can drown children and carry cars away. Do not touch \
             electrical equipment while standing in water; if the power is still on, call PLN (the \
             power company) on 123 to have it cut off.",
        ),
        severe: level(
            "over 150 cm",
            "Flood of over 150 cm in {area}: move to higher ground now",
            "A flood more than 150 cm deep was recorded in {area} at {time}. Source: {agency}.",
            "Move to higher ground now, while the way is still safe; help children, older people and \
             sick people first. If the way out is flooded, do not cross the water: go to an upper \
             floor or the roof and call for help. Keep away from cables, poles and electrical \
             equipment; save lives before belongings.",
        ),
        over: over(
            "Flood alert for {area} has ended",
            "As of {time}, a flood is no longer recorded in {area}. Source: {agency}.",
            "Return home only after officials say it is safe. Do not switch the electricity on until \
             the wiring and all appliances are completely dry. Wear shoes when you clean up, watch \
             out for snakes and sharp objects, and stay alert in case the flood returns.",
        ),
    }
}
