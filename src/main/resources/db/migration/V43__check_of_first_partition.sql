-- Reads all segments, but locks none of them: they are read and written meanwhile.
alter table segment validate constraint segment_first_hours;
alter table segment validate constraint segment_phase_check;
