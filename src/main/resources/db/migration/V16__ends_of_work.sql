-- Devices are freed by the leader, which may be away when work ends or a node falls silent. These say since when nothing ran on them.
alter table report add column work_ended_at timestamptz;
alter table report add column silent_since timestamptz;
comment on column report.work_ended_at is 'when the work ended or came to a stand, on the clock of this database: counted back from its arrival by the age that the executor stated, and not before its last contact; null: the executor did not tell';
comment on column report.silent_since is 'when the node was last heard, for a report that the leader wrote in the name of a lost node';
comment on column report.ended_at is 'by the clock of the node, which is for people only';

-- Rows that are there were checked against a shorter list, so they need no look.
alter table segment drop constraint segment_phase_check;
alter table segment add constraint segment_phase_check check (phase in ('starting', 'running', 'stopping', 'ended', 'out-of-contact')) not valid;
