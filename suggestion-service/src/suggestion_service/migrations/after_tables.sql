-- What keeps tables true, and their first rows. See `chassis.db.creation`: executed once the tables are made.

CREATE TRIGGER count_deleted AFTER DELETE ON suggestions
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT
    EXECUTE FUNCTION count_deleted_suggestions();
CREATE TRIGGER count_inserted AFTER INSERT ON suggestions
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT
    EXECUTE FUNCTION count_inserted_suggestions();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON suggestions FOR EACH STATEMENT
    EXECUTE FUNCTION count_no_suggestions();
CREATE TRIGGER count_updated AFTER UPDATE ON suggestions
    REFERENCING OLD TABLE AS previous NEW TABLE AS updated FOR EACH STATEMENT
    EXECUTE FUNCTION count_updated_suggestions();
CREATE TRIGGER tell_deleted AFTER DELETE ON suggestions
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT
    EXECUTE FUNCTION tell_deleted_suggestions();
CREATE TRIGGER tell_inserted AFTER INSERT ON suggestions
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT
    EXECUTE FUNCTION tell_inserted_suggestions();
CREATE TRIGGER tell_updated AFTER UPDATE ON suggestions
    REFERENCING OLD TABLE AS previous NEW TABLE AS updated FOR EACH STATEMENT
    EXECUTE FUNCTION tell_updated_suggestions();

INSERT INTO corpus_head (only_row, head) VALUES (true, 0);
INSERT INTO settlement (only_row, position) VALUES (true, 0);
INSERT INTO learning (only_row, seen, active, accepted, rejected) VALUES (true, '', false, 0, 0);
INSERT INTO embedding_model (only_row, in_use) VALUES (true, false);
