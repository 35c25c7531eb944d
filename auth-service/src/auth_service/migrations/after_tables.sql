-- The first rows. See `chassis.db.creation`: executed once the tables are made.

INSERT INTO projects (key, name, description, visibility, archived, settings, created_at)
VALUES ('MAIN', 'Main project', '', 'open', false, '{}', now());
