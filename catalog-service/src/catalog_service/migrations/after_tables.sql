-- What keeps tables true, and their first rows. See `chassis.db.creation`: executed once the tables are made.

CREATE TRIGGER count_changes AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON run_lanes FOR EACH STATEMENT
    EXECUTE FUNCTION count_state_changes();
CREATE TRIGGER count_changes AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON test_case_state FOR EACH STATEMENT
    EXECUTE FUNCTION count_state_changes();
CREATE TRIGGER count_changes AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON test_states FOR EACH STATEMENT
    EXECUTE FUNCTION count_state_changes();
CREATE TRIGGER count_deleted AFTER DELETE ON linked_requirements
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_deleted AFTER DELETE ON linked_test_cases
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_deleted AFTER DELETE ON links
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_deleted AFTER DELETE ON requirement_relations
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_deleted AFTER DELETE ON requirements
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_deleted AFTER DELETE ON test_cases
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_inserted AFTER INSERT ON linked_requirements
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_inserted AFTER INSERT ON linked_test_cases
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_inserted AFTER INSERT ON links
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_inserted AFTER INSERT ON requirement_relations
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_inserted AFTER INSERT ON requirements
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_inserted AFTER INSERT ON test_cases
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_links_deleted AFTER DELETE ON links
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_links();
CREATE TRIGGER count_links_inserted AFTER INSERT ON links
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION count_links();
CREATE TRIGGER count_links_truncated AFTER TRUNCATE ON links FOR EACH STATEMENT
    EXECUTE FUNCTION count_links();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON links FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON requirement_relations FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON requirements FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON test_cases FOR EACH STATEMENT
    EXECUTE FUNCTION count_rows();
CREATE TRIGGER make_search_document BEFORE INSERT OR UPDATE OF external_id, title, tags, description, custom_metadata, search
    ON requirements FOR EACH ROW WHEN (current_setting('traceline.search_later', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION make_search_document_of_requirements();
CREATE TRIGGER make_search_document BEFORE INSERT OR UPDATE OF external_id, title, tags, description,
        steps, preconditions, postconditions, test_data, custom_metadata, search
    ON test_cases FOR EACH ROW WHEN (current_setting('traceline.search_later', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION make_search_document_of_test_cases();
CREATE TRIGGER remember_item_change AFTER INSERT ON outbox FOR EACH ROW
    WHEN (new.wire_name IN ('catalog.requirement.updated', 'catalog.requirement.deleted',
                            'catalog.test_case.updated', 'catalog.test_case.deleted'))
    EXECUTE FUNCTION remember_told_item_change();
CREATE TRIGGER remember_link_change AFTER INSERT ON outbox FOR EACH ROW
    WHEN (new.wire_name IN ('catalog.link.updated', 'catalog.link.deleted'))
    EXECUTE FUNCTION remember_told_link_change();
CREATE TRIGGER forget_references AFTER DELETE ON requirements
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION forget_references();
CREATE TRIGGER forget_references AFTER DELETE ON test_cases
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION forget_references();
CREATE TRIGGER settle_created_references AFTER INSERT ON requirements
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    WHEN (current_setting('traceline.references_later', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION settle_created_references('requirement');
CREATE TRIGGER settle_created_references AFTER INSERT ON test_cases
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    WHEN (current_setting('traceline.references_later', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION settle_created_references('test_case');
CREATE TRIGGER settle_renamed_references AFTER UPDATE OF external_id ON requirements FOR EACH ROW
    WHEN (new.external_id IS DISTINCT FROM old.external_id AND new.external_id IS NOT NULL
        AND current_setting('traceline.references_later', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION settle_renamed_references('requirement');
CREATE TRIGGER settle_renamed_references AFTER UPDATE OF external_id ON test_cases FOR EACH ROW
    WHEN (new.external_id IS DISTINCT FROM old.external_id AND new.external_id IS NOT NULL
        AND current_setting('traceline.references_later', true) IS DISTINCT FROM 'on')
    EXECUTE FUNCTION settle_renamed_references('test_case');

-- An entry of an import is read in pieces, which are not to be unpacked each time.
ALTER TABLE import_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

INSERT INTO coverage_state (only_row, position, total_requirements, covered_requirements, reached)
VALUES (true, 0, 0, 0, false);
INSERT INTO pending_pairs_state (only_row, state) VALUES (true, gen_random_uuid());
