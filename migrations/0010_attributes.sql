-- What a data set says of an area in words of its own.

-- json and not jsonb, so that it is exported as it was imported: in its order, and with its numbers as they were written.
ALTER TABLE areas ADD COLUMN attributes json CHECK (json_typeof(attributes) = 'object');
