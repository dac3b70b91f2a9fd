-- Agents send their inventory when it has changed; otherwise a digest that names the stored one.

alter table node_contact add column inventory_digest text;
comment on column node_contact.inventory_digest is 'names the inventory in gpu and in this row, as the service computed it when it stored it; null: the agent sends its inventory in full';

-- Each call writes its row again. Room in the page keeps the new version beside the old one, and out of the index.
alter table node_contact set (fillfactor = 50);
