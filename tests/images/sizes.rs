use crate::support::{assert_shows, colourful, jpeg, photo, png};

#[test]
fn the_longest_side_is_as_long_as_allowed_and_the_ratio_stays() {
    for (width, height) in [(300, 200), (200, 300), (257, 256), (400, 7), (3, 500), (640, 640)] {
        let file = png(&colourful(width, height));
        for max_side in [1, 2, 16, 100, 255] {
            let (photo, _) = photo(&file, max_side);
            assert_eq!(photo.width.max(photo.height), max_side);
            let scale = f64::from(max_side) / f64::from(width.max(height));
            let exact = [f64::from(width) * scale, f64::from(height) * scale].map(|side| side.max(1.0));
            assert!((f64::from(photo.width) - exact[0]).abs() <= 0.5, "{width} x {height} to {max_side}");
            assert!((f64::from(photo.height) - exact[1]).abs() <= 0.5, "{width} x {height} to {max_side}");
        }
    }
}

#[test]
fn images_within_the_limit_keep_their_size() {
    for (width, height) in [(1, 100), (99, 100), (100, 100), (8, 8)] {
        let image = colourful(width, height);
        for file in [jpeg(&image), png(&image)] {
            assert_eq!(photo(&file, 100).1.dimensions(), (width, height));
        }
    }
    assert_eq!(photo(&png(&colourful(20, 10)), 0).1.dimensions(), (1, 1));
}

#[test]
fn a_scaled_photo_shows_the_same() {
    let (_, shown) = photo(&png(&colourful(600, 400)), 150);
    assert_shows(&shown, &colourful(150, 100), 4.0);
}
