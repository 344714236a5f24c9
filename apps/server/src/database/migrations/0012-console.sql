-- The operator's console: who may log in, and what they did there. The console reads all else and writes only this and
-- pauses.
create table console_operators (
	id uuid primary key,
	name text not null unique,
	created_at timestamptz not null default now()
);

-- One-time links. Only the hash is here: a copy of this table registers nobody.
create table console_invites (
	token_hash bytea primary key,
	operator_id uuid not null references console_operators on delete cascade,
	expires_at timestamptz not null,
	used_at timestamptz
);
create index console_invites_by_operator on console_invites (operator_id);

create table console_passkeys (
	-- The credential's id in base64url, as browsers write it.
	id text primary key,
	operator_id uuid not null references console_operators on delete cascade,
	public_key bytea not null,
	-- How often the authenticator says it was used. One that goes back was copied.
	counter bigint not null,
	created_at timestamptz not null default now(),
	last_used_at timestamptz
);
create index console_passkeys_by_operator on console_passkeys (operator_id);

create table console_sessions (
	-- SHA-256 of the cookie.
	token_hash bytea primary key,
	operator_id uuid not null references console_operators on delete cascade,
	created_at timestamptz not null,
	-- Written at most once a minute.
	last_seen_at timestamptz not null
);
create index console_sessions_by_operator on console_sessions (operator_id);

-- Every login, refused login, invitation and action. Rows are only ever added.
create table console_log (
	id bigint generated always as identity primary key,
	at timestamptz not null default clock_timestamp(),
	-- Who did it: the operator's name, or the user of the machine that ran a command. Null if nobody was logged in.
	actor text,
	-- Whom the database knows to have written it.
	database_user text not null default session_user,
	action text not null,
	-- One sentence for people.
	detail text not null,
	-- The address that the request came from. Null for a command.
	address text
);
create trigger console_log_stays before update or delete or truncate on console_log
	for each statement execute function refuse_change();

-- The console adds up what was booked since midnight. Postings are only ever appended in order of time, so that an index
-- of ranges of pages is enough, and costs next to nothing when a posting is written.
create index postings_by_time on postings using brin (at) with (pages_per_range = 16, autosummarize = on);
