-- Secrets of a webhook that were replaced before the previous one, and still sign until their own time: an array of
-- {"secret", "until"}, with the time in milliseconds. A receiver may know any of them.
alter table webhooks add older_secrets jsonb not null default '[]';
