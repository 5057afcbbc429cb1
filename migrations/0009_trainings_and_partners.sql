-- What a report says besides: whether it was made in a training, and which partner it came through.

ALTER TABLE reports
    ADD COLUMN is_training boolean NOT NULL DEFAULT false,
    ADD COLUMN partner_code text,
    ADD COLUMN partner_icon text;
