-- What the service would move between vaults, newest last. The plans of about a day are kept.
create table treasury_plans (
	at timestamptz primary key,
	plan jsonb not null
);
