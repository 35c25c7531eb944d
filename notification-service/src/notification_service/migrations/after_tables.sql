-- What keeps tables true, and their first rows. See `chassis.db.creation`: executed once the tables are made.

CREATE TRIGGER count_deleted AFTER DELETE ON audit_entries
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT
    EXECUTE FUNCTION count_audit_entries();
CREATE TRIGGER count_deleted AFTER DELETE ON notifications
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT
    EXECUTE FUNCTION count_notifications();
CREATE TRIGGER count_inserted AFTER INSERT ON audit_entries
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION count_audit_entries();
CREATE TRIGGER count_inserted AFTER INSERT ON notifications
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION count_notifications();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON audit_entries FOR EACH STATEMENT
    EXECUTE FUNCTION count_audit_entries();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON notifications FOR EACH STATEMENT
    EXECUTE FUNCTION count_notifications();
CREATE TRIGGER count_updated AFTER UPDATE ON audit_entries
    REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION count_audit_entries();
CREATE TRIGGER count_updated AFTER UPDATE ON notifications
    REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION count_notifications();

-- Services may add to the audit log, and nothing else; what changes it are the functions above, for those who look
-- across projects alone.
REVOKE UPDATE, DELETE ON audit_entries, audit_seals, audit_heads FROM traceline_app, traceline_across;
REVOKE INSERT, UPDATE, DELETE ON audit_anchors FROM traceline_app, traceline_across;
REVOKE UPDATE ON audit_erasures FROM traceline_app, traceline_across;
DO $$ DECLARE changing regprocedure; BEGIN
    FOREACH changing IN ARRAY ARRAY[
        'remove_audit_entries_before(timestamptz, integer)', 'remove_audit_entries_of(text, integer)',
        'erase_from_audit_entries(text, text, text[], text)', 'erase_from_audit_entries(text, text, text, text)'
    ] LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', changing);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO traceline_across', changing);
    END LOOP;
END $$;

INSERT INTO audit_sealing VALUES (true, 0);
INSERT INTO projects (key, visibility, sequence) VALUES ('MAIN', 'open', 0);
