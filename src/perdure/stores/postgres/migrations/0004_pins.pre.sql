-- Which versions of stored parts a run keeps, as a JSON object; null: its document uses none, or it is older than parts.
ALTER TABLE runs ADD COLUMN pins text;

-- `commit_full_turns` for a group in which some new run has pins: i_*, each for the head that this very turn has made.
CREATE FUNCTION commit_pinned_turns(
    turns turn_in[], starts start_in[],
    s_run text[], s_seq bigint[], s_packed boolean[], s_crc bigint[], s_data bytea[],
    c_run text[], c_id bigint[],
    m_run text[], m_id text[], m_seq bigint[], m_position integer[], m_type text[], m_key text[], m_payload bytea[],
    k_run text[], k_hash text[], k_size bigint[],
    p_run text[], p_hash text[], p_position integer[], p_packed boolean[], p_data bytea[],
    b_run text[], b_hash text[],
    x_from text[], x_run text[], x_command bytea[], x_request text[],
    i_run text[], i_turn text[], i_pins text[],
    given_now bigint
) RETURNS TABLE (run text, verdict text, existing_run text, existing_digest text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT * FROM commit_full_turns(
        turns, starts, s_run, s_seq, s_packed, s_crc, s_data, c_run, c_id,
        m_run, m_id, m_seq, m_position, m_type, m_key, m_payload, k_run, k_hash, k_size,
        p_run, p_hash, p_position, p_packed, p_data, b_run, b_hash, x_from, x_run, x_command, x_request, given_now);

    UPDATE runs r SET pins = i.pins
    FROM unnest(i_run, i_turn, i_pins) AS i (run, turn_id, pins)
    WHERE r.id = i.run AND r.turn_id = i.turn_id;
END $$;
