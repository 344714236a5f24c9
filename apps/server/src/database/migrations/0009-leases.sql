-- A lane leases jobs while it asks a node about them and signs, so that it holds no lock meanwhile. `relayer` names the
-- lane that has a job: by its lease, or, once the job is sent, by its transaction.
alter table jobs add column lease bigint;
-- From then on any lane may take the job.
alter table jobs add column leased_until timestamptz;
-- How many leases the lane has taken. A number is never given twice.
alter table lanes add column lease bigint not null default 0;
