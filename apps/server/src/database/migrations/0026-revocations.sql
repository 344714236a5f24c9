-- The wallet's proof that revokes its mandates, which a lane sends before the removal: mandates would be good again after
-- the wallet's next delegation. Null if a process of the version before queued the removal.
alter table delegation_removals add column revocation bytea;
