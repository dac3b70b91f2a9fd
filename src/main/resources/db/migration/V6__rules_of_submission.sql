-- What a submission checked of a queue's access rules is compared again when its row is written.
alter table queue add column rules_version bigint not null default 0;
comment on column queue.rules_version is 'counts the changes of its access rules; a submission that was checked against older ones does not enter';
