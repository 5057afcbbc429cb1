-- Infrastructure has the identifier of its file. Servers derive one for a row where it is empty.

ALTER TABLE infrastructure ADD COLUMN identifier TEXT NOT NULL DEFAULT '';
