-- What an audit entry says is written once: the system role seals entries and can change nothing else of them, nor delete them.

revoke update, delete on audit_entry from ${systemRole};
grant update (seq, prev_hash, hash) on audit_entry to ${systemRole};
