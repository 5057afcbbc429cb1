-- A report keeps the name of this service's photo. Before, it kept the address, which changes with base_url and images.public_url.
-- Addresses that the service did not write, of partners and imports, stay as they are.
UPDATE reports SET image_url = published.photo
FROM (
    SELECT card_id, (
        -- As images/names.rs has it: whatever is not a letter, digit, - or _ becomes = and two hexadecimal digits for each byte.
        SELECT string_agg(
            CASE
                WHEN letter ~ '^[A-Za-z0-9_-]$' COLLATE "C" THEN letter
                ELSE upper(regexp_replace(encode(convert_to(letter, 'UTF8'), 'hex'), '(..)', '=\1', 'g'))
            END, '' ORDER BY place)
        FROM regexp_split_to_table(card_id, '') WITH ORDINALITY AS letters (letter, place)
    ) || '.jpg' AS photo
    FROM images WHERE state = 'published'
) published
WHERE reports.card_id = published.card_id
  AND image_url ~ '^https?://'
  AND right(image_url, char_length(published.photo) + 1) = '/' || published.photo;
