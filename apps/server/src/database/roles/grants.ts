/** The processes that use the database, each with a separate login. No process runs as the owner of the tables. */
export const roleNames = ["api", "worker", "auditor", "console"] as const;
export type RoleName = (typeof roleNames)[number];

/**
 * Every right that a role has on a table, in the words of PostgreSQL's `grant`. Nothing else is granted, and
 * `geoswapd migrate` revokes what is not here. A new table needs a line, and a new statement the rights it uses.
 *
 * The API is the process that strangers reach. It may add a swap at its first stage and reserve inventory for it. It
 * may not write what lanes, followers and the ledger rely on. The auditor reads everything and writes only pauses. An
 * advisory lock decides who audits, which needs no right. The console reads what its pages show, sets and lifts
 * pauses, and writes its own tables. No role may create, change or drop a table.
 */
export const grants: Record<string, Record<RoleName, string>> = {
	// Customers and their keys. The operator's commands write them, as the owner.
	accounts: { api: "select", worker: "", auditor: "select", console: "select" },
	api_keys: {
		api: "select, update (last_used_at)",
		worker: "",
		auditor: "select",
		console: "select (id, account_id, limits, created_at, expires_at, revoked_at, replaced_by, last_used_at)",
	},
	key_changes: { api: "", worker: "", auditor: "select", console: "select" },

	// Swaps. The API adopts a swap that was rebuilt without an account, and changes nothing else of an existing swap.
	swaps: {
		api: `select, update (account_id), insert (id, account_id, order_id, order_terms, output, value_usd_cents,
			fee_centibps, fee_millibps, skew_centibps, network_cost, delivery, op, giving_up, trace, turn)`,
		worker: "select, insert, update",
		auditor: "select",
		console: "select",
	},
	swap_events: {
		api: "insert (swap_id, fact)",
		worker: "select, insert",
		auditor: "select",
		console: "select",
	},
	// The public page of a swap shows what it waits for.
	waits: {
		api: "select (swap_id, fact)",
		worker: "select, insert, update, delete",
		auditor: "select",
		console: "select",
	},
	// Links to public pages. The API adds and revokes them.
	swap_shares: {
		api: "select, insert (token_hash, swap_id), delete",
		worker: "",
		auditor: "select",
		console: "",
	},
	// Triggers write the outbox, with their owner's rights. A worker publishes its content.
	event_outbox: { api: "", worker: "select, delete", auditor: "select", console: "" },
	events: { api: "select", worker: "select, insert, delete", auditor: "select", console: "" },
	event_head: { api: "select", worker: "select, update", auditor: "select", console: "" },
	// The API adds and removes webhooks. A worker delivers to them.
	webhooks: {
		api: "select, insert, update (secret, previous_secret, previous_until, older_secrets), delete",
		worker: "select, update",
		auditor: "select",
		console: "",
	},
	webhook_deliveries: {
		api: "select",
		worker: "select, insert, update, delete",
		auditor: "select",
		console: "",
	},
	restores: {
		api: "select",
		worker: "select, update (searched_at)",
		auditor: "select",
		console: "",
	},

	// Chains, as their followers read them.
	chain_heads: { api: "select", worker: "select, insert, update", auditor: "select", console: "select" },
	chain_blocks: { api: "", worker: "select, insert, delete", auditor: "select", console: "" },
	chain_events: { api: "select", worker: "select, insert, delete", auditor: "select", console: "select" },
	unread_blocks: {
		api: "select",
		worker: "select, insert, update, delete",
		auditor: "select",
		console: "select",
	},
	cross_checks: { api: "", worker: "select, insert, update", auditor: "select", console: "select" },
	unknown_orders: { api: "", worker: "select, insert, update, delete", auditor: "select", console: "select" },
	refund_budgets: { api: "", worker: "select, insert, update", auditor: "select", console: "" },
	rents: { api: "", worker: "select, insert, update", auditor: "select", console: "" },

	// The work of lanes. The API inserts no job. For a swap that it just inserted, `start_swap` queues the open.
	jobs: { api: "select", worker: "select, insert, update, delete", auditor: "select", console: "select" },
	// Locking a row requires the right to update a column of it.
	attestations: { api: "", worker: "select, insert, update (created_at)", auditor: "select", console: "" },
	heartbeats: { api: "select", worker: "select, insert, update", auditor: "select", console: "select" },
	signing_keys: { api: "", worker: "select, insert", auditor: "select", console: "" },
	lanes: { api: "", worker: "select, insert, update", auditor: "select", console: "" },
	lane_transactions: {
		api: "select",
		worker: "select, insert, update",
		auditor: "select",
		console: "select",
	},

	delegation_removals: {
		api: "select, insert (account_id, chain_id, wallet, authorization_list, revocation)",
		worker: "select, update (state)",
		auditor: "select",
		console: "",
	},

	// Promises and their limits.
	inventory: {
		api: "select, update (reserved)",
		worker: "select, insert, update",
		auditor: "select",
		console: "select",
	},
	// What quotes and submits want of the inventory, by which a plan moves it.
	demand: {
		api: "select, insert, update (outflow, inflow), delete",
		worker: "select",
		auditor: "select",
		console: "",
	},
	quoted_volume: {
		api: "select, insert, update (usd_cents), delete",
		worker: "",
		auditor: "select",
		console: "",
	},
	pair_volume: {
		api: "select, insert, update (in_flight)",
		worker: "select, insert, update",
		auditor: "select",
		console: "",
	},
	reservations: {
		api: "select, insert",
		worker: "select, insert, update, delete",
		auditor: "select",
		console: "select",
	},
	exposures: {
		api: "select",
		worker: "select, insert, update, delete",
		auditor: "select",
		console: "select",
	},
	unsettled_gas: { api: "select", worker: "select, insert", auditor: "select", console: "select" },
	account_refusals: { api: "select", worker: "select, insert, delete", auditor: "select", console: "" },

	// The ledger. A posting and its entries are never changed. A reversed posting gives its key to its replacement.
	postings: { api: "", worker: "select, insert, update (key)", auditor: "select", console: "select" },
	entries: { api: "", worker: "select, insert", auditor: "select", console: "select" },
	ledger_balances: { api: "", worker: "select, insert, update", auditor: "select", console: "select" },
	relayers: { api: "", worker: "select, insert", auditor: "select", console: "select" },
	// What the books are worth. A closed day and a mark are never changed.
	price_marks: { api: "", worker: "select, insert", auditor: "select", console: "select" },
	block_times: { api: "", worker: "select, insert", auditor: "select", console: "select" },
	book_days: { api: "", worker: "select, insert", auditor: "select", console: "select" },
	// The operator's commands declare flows, as the owner. A row policy lets a worker add moves of the treasurer's key only.
	treasury_moves: {
		api: "",
		worker: `select, insert, update (state, posting_key, transaction_hash, received, updated_at, due_at, moved_block,
			message, attestation, nonce, reattested_at, arrived_block, arrived_transaction, look_at, problem)`,
		auditor: "select",
		console: "select",
	},
	treasury_pauses: { api: "", worker: "select", auditor: "select", console: "select" },
	treasury_plans: { api: "", worker: "select, insert, delete", auditor: "select", console: "select" },

	// An operator lifts a pause, as the owner. The auditor may only add to the breaches for which a chain is paused.
	pauses: {
		api: "select",
		worker: "select, insert",
		auditor: "select, insert, update (breaches)",
		console: "select, insert, update (breaches, lifted_at, lifted_by, lifted_reason)",
	},

	// The console's own tables. Only the operator's commands add and remove operators, as the owner.
	console_operators: { api: "", worker: "", auditor: "select", console: "select" },
	console_invites: { api: "", worker: "", auditor: "select", console: "select, update (used_at)" },
	console_passkeys: {
		api: "",
		worker: "",
		auditor: "select",
		console: "select, insert, update (counter, last_used_at)",
	},
	console_sessions: {
		api: "",
		worker: "",
		auditor: "select",
		console: "select, insert, update (last_seen_at), delete",
	},
	console_log: {
		api: "",
		worker: "",
		auditor: "select",
		console: "select, insert (actor, action, detail, address)",
	},

	migrations: { api: "select", worker: "select", auditor: "select", console: "select" },
};

/** Functions that run with their owner's rights, and the roles that may call them. */
export const functionGrants: Record<string, readonly RoleName[]> = {
	// The API calls it for an order from before a restore, for whose day the restored database may lack a partition.
	"ensure_partition(text, date)": ["api", "worker"],
	"start_swap(uuid, timestamp with time zone, boolean)": ["api"],
};
