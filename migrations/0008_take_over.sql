-- Cards and reports of an installation that is taken over: identifiers of up to 36 characters, and types of disaster that
-- only that installation knows. What is accepted is configuration; the constraints bound it.
ALTER TABLE cards DROP CONSTRAINT cards_card_id_check;
ALTER TABLE cards ADD CONSTRAINT cards_card_id_check CHECK (char_length(card_id) BETWEEN 7 AND 36);
ALTER TABLE reports DROP CONSTRAINT reports_disaster_type_check;
ALTER TABLE reports ADD CONSTRAINT reports_disaster_type_check CHECK (disaster_type ~ '^[a-z0-9_-]{1,24}$');
