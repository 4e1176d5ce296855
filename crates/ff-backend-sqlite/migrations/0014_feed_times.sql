-- The time of a feed entry has the name that other recorded moments have.
ALTER TABLE delivery RENAME COLUMN told_at TO recorded_at;
ALTER TABLE event RENAME COLUMN told_at TO recorded_at;
