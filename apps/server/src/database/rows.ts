// Written by `pnpm generate` from the migrated schema.
import type { SwapUuid } from "@geoswap/protocol";

/** The columns of each table, as node-postgres returns them. */
type Tables = {
	account_refusals: {
		swap_id: SwapUuid;
		account_id: string;
		at: Date;
		reason: "recipient_refused" | "recipient_account_gone";
	};
	accounts: {
		id: string;
		name: string;
		created_at: Date;
	};
	api_keys: {
		id: string;
		account_id: string;
		hash: Buffer;
		limits: unknown;
		created_at: Date;
		expires_at: Date | null;
		revoked_at: Date | null;
		replaced_by: string | null;
		last_used_at: Date | null;
	};
	attestations: {
		id: string;
		chain_id: number;
		kind: "Release" | "Refund";
		threshold: number;
		attesters: unknown;
		signatures: unknown;
		order_ids: unknown;
		created_at: Date;
	};
	block_times: {
		chain_id: number;
		number: number;
		timestamp: number;
	};
	book_days: {
		day: string;
		chain_id: number;
		token: Buffer;
		after_posting: number;
		last_posting: number;
		last_block: number;
		opening: bigint;
		closing: bigint;
		by_account: unknown;
		usd_opening: bigint | null;
		usd_closing: bigint | null;
		flows36: bigint | null;
		positions36: bigint | null;
		agreed: boolean | null;
		closed_at: Date;
	};
	chain_blocks: {
		chain_id: number;
		number: number;
		hash: Buffer;
		timestamp: number;
	};
	chain_events: {
		chain_id: number;
		block_number: number;
		log_index: number;
		block_hash: Buffer;
		transaction_hash: Buffer;
		contract: Buffer;
		order_id: Buffer | null;
		name: string;
		data: unknown;
	};
	chain_heads: {
		chain_id: number;
		number: number;
		hash: Buffer;
		timestamp: number;
		base_fee: bigint;
		finalized_number: number;
		finalized_timestamp: number;
		finalized_height: number;
		booked_number: number;
		updated_at: Date;
		compared_number: number;
		compared_timestamp: number;
		compared_at: Date;
		unseen_orders: Buffer[];
	};
	console_invites: {
		token_hash: Buffer;
		operator_id: string;
		expires_at: Date;
		used_at: Date | null;
	};
	console_log: {
		id: number;
		at: Date;
		actor: string | null;
		database_user: string;
		action: string;
		detail: string;
		address: string | null;
	};
	console_operators: {
		id: string;
		name: string;
		created_at: Date;
	};
	console_passkeys: {
		id: string;
		operator_id: string;
		public_key: Buffer;
		counter: number;
		created_at: Date;
		last_used_at: Date | null;
	};
	console_sessions: {
		token_hash: Buffer;
		operator_id: string;
		created_at: Date;
		last_seen_at: Date;
	};
	cross_checks: {
		chain_id: number;
		order_id: Buffer;
		block_number: number;
		block_hash: Buffer;
		transaction_hash: Buffer;
		head_number: number;
		finalized_number: number;
		seen_at: Date;
	};
	delegation_removals: {
		id: string;
		account_id: string;
		chain_id: number;
		wallet: Buffer;
		authorization_list: unknown;
		state: "queued" | "sent" | "refused";
		created_at: Date;
		revocation: Buffer | null;
	};
	demand: {
		chain_id: number;
		token: Buffer;
		minute: Date;
		outflow: bigint;
		inflow: bigint;
	};
	entries: {
		posting_id: number;
		account: string;
		chain_id: number;
		token: Buffer;
		amount: bigint;
	};
	event_head: {
		is_only: boolean;
		position: number;
		pruned: number;
		queued: number;
	};
	event_outbox: {
		id: number;
		account_id: string;
		swap_id: SwapUuid;
		number: number;
		at: Date;
		status: "pending" | "settled" | "failed" | "refunded";
		stage: "opening" | "deposited" | "delivering" | "delivered" | "refunding";
		failure: unknown;
		origin_tx_hash: Buffer | null;
		delivery_tx_hash: Buffer | null;
		refund_tx_hash: Buffer | null;
		delivered_amount: bigint | null;
		updated_at: Date;
		opened_at: Date | null;
		delivered_at: Date | null;
		decided_at: Date | null;
	};
	events: {
		position: number;
		account_id: string;
		swap_id: SwapUuid;
		number: number;
		at: Date;
		status: "pending" | "settled" | "failed" | "refunded";
		stage: "opening" | "deposited" | "delivering" | "delivered" | "refunding";
		failure: unknown;
		origin_tx_hash: Buffer | null;
		delivery_tx_hash: Buffer | null;
		refund_tx_hash: Buffer | null;
		delivered_amount: bigint | null;
		updated_at: Date;
		opened_at: Date | null;
		delivered_at: Date | null;
		decided_at: Date | null;
	};
	exposures: {
		swap_id: SwapUuid;
		order_id: Buffer;
		origin_chain_id: number;
		attester_set: Buffer;
		value_usd_cents: number;
		is_final: boolean;
		account_id: string | null;
	};
	heartbeats: {
		attester: Buffer;
		chain_id: number;
		finalized_number: number;
		signed_at: Date;
	};
	inventory: {
		chain_id: number;
		token: Buffer;
		balance: bigint;
		outflow_available: bigint;
		reserved: bigint;
		block_number: number;
		needed: bigint | null;
		arriving: bigint;
		move_cost_bps: number | null;
	};
	jobs: {
		swap_id: SwapUuid;
		kind: "open" | "fill" | "void" | "release" | "refund";
		chain_id: number;
		order_id: Buffer;
		order_terms: unknown;
		payload: unknown;
		state: "unattested" | "queued" | "sent" | "done" | "refused";
		priority: number;
		alone: boolean;
		failures: number;
		not_before_block: number;
		reason: string | null;
		attestation_id: string | null;
		relayer: Buffer | null;
		nonce: number | null;
		created_at: Date;
		updated_at: Date;
		turn: number;
		lease: number | null;
		leased_until: Date | null;
	};
	key_changes: {
		id: number;
		at: Date;
		actor: string;
		database_user: string;
		account_id: string;
		key_id: string | null;
		change: string;
		before: unknown;
		after: unknown;
	};
	lane_transactions: {
		chain_id: number;
		relayer: Buffer;
		nonce: number;
		attempt: number;
		hash: Buffer;
		raw: Buffer;
		kind: string;
		jobs: unknown;
		max_fee_per_gas: bigint;
		last_valid_height: number | null;
		state: "signed" | "broadcast" | "mined" | "final";
		sent_at_block: number | null;
		block_number: number | null;
		gas_cost: bigint | null;
		created_at: Date;
	};
	lanes: {
		chain_id: number;
		relayer: Buffer;
		next_nonce: number;
		lease: number;
	};
	ledger_balances: {
		chain_id: number;
		account: "inventory" | "relayer" | "bridge" | "locked" | "credit:vault";
		token: Buffer;
		balance: bigint;
	};
	migrations: {
		name: string;
		applied_at: Date;
		hash: string | null;
	};
	pair_volume: {
		chain_id: number;
		token: Buffer;
		direction: "sell" | "buy";
		in_flight: bigint;
	};
	pauses: {
		id: number;
		chain_id: number;
		cause: "breach" | "finality" | "operator";
		reason: string;
		set_by: string;
		breaches: string[];
		since: Date;
		lifted_at: Date | null;
		lifted_by: string | null;
		lifted_reason: string | null;
	};
	postings: {
		id: number;
		key: string;
		chain_id: number;
		block_number: number;
		name: string;
		order_id: Buffer | null;
		at: Date;
	};
	price_marks: {
		chain_id: number;
		token: Buffer;
		block_number: number;
		usd_e18: bigint;
	};
	quoted_volume: {
		account_id: string;
		day: Date;
		usd_cents: bigint;
	};
	refund_budgets: {
		chain_id: number;
		used_micro_usd: number;
		at: Date;
	};
	relayers: {
		chain_id: number;
		address: Buffer;
	};
	rents: {
		chain_id: number;
		address: Buffer;
		order_id: Buffer;
		account: "order" | "record";
		lamports: bigint;
		closable_at: Date;
		returned_at: Date | null;
	};
	reservations: {
		swap_id: SwapUuid;
		account_id: string | null;
		chain_id: number;
		token: Buffer;
		amount: bigint;
		value_usd_cents: number;
		volumes: unknown;
		opened: boolean;
		lapses_at: Date;
		top_up: bigint;
	};
	restores: {
		at: Date;
		searched_at: Date | null;
	};
	signing_keys: {
		address: string;
		first_seen_at: Date;
	};
	swap_events: {
		swap_id: SwapUuid;
		seq: number;
		at: Date;
		fact: string;
		data: unknown;
	};
	swap_shares: {
		token_hash: Buffer;
		swap_id: SwapUuid;
		created_at: Date;
	};
	swaps: {
		id: SwapUuid;
		account_id: string | null;
		order_id: Buffer;
		order_terms: unknown;
		output: bigint;
		value_usd_cents: number;
		fee_centibps: number;
		delivery: unknown;
		op: unknown;
		status: "pending" | "settled" | "failed" | "refunded";
		stage: "opening" | "deposited" | "delivering" | "delivered" | "refunding";
		moves: string[];
		failure: unknown;
		giving_up: string | null;
		origin_tx_hash: Buffer | null;
		delivery_tx_hash: Buffer | null;
		refund_tx_hash: Buffer | null;
		delivered_amount: bigint | null;
		created_at: Date;
		updated_at: Date;
		ended_at: Date | null;
		trace: string | null;
		turn: number;
		fee_millibps: number | null;
		network_cost: unknown;
		opened_at: Date | null;
		delivered_at: Date | null;
		decided_at: Date | null;
		skew_centibps: number;
	};
	treasury_moves: {
		id: string;
		kind: "deposit" | "withdrawal" | "trade" | "send" | "bridge";
		chain_id: number;
		token: Buffer;
		amount: bigint;
		holder: Buffer;
		address: Buffer | null;
		to_chain_id: number | null;
		to_token: Buffer | null;
		min_received: bigint | null;
		move_id: Buffer | null;
		nth: number | null;
		data: unknown;
		reason: string;
		made_by: string;
		state:
			| "queued"
			| "sent"
			| "moved"
			| "attested"
			| "minting"
			| "arrived"
			| "final"
			| "stuck"
			| "failed"
			| "cancelled"
			| "lost";
		posting_key: string | null;
		transaction_hash: Buffer | null;
		received: bigint | null;
		created_at: Date;
		due_at: Date | null;
		updated_at: Date;
		moved_block: number | null;
		destination_block: number | null;
		message: Buffer | null;
		attestation: Buffer | null;
		nonce: Buffer | null;
		reattested_at: Date | null;
		arrived_block: number | null;
		arrived_transaction: Buffer | null;
		look_at: Date | null;
		problem: string | null;
	};
	treasury_pauses: {
		id: number;
		paused_at: Date;
		paused_by: string;
		reason: string;
		resumed_at: Date | null;
		resumed_by: string | null;
		resume_reason: string | null;
	};
	treasury_plans: {
		at: Date;
		plan: unknown;
	};
	unknown_orders: {
		order_id: Buffer;
		chain_id: number;
		order_terms: unknown;
		open_deadline: number;
		seen_at: Date;
		looked_at: Date | null;
		outcome: "rebuilt" | "submitted" | "left" | null;
		reason: string | null;
		is_filled: boolean;
		value_usd_cents: number | null;
	};
	unread_blocks: {
		chain_id: number;
		number: number;
		hash: Buffer;
		reason: string;
		is_partial: boolean;
		since: Date;
		tried_at: Date;
	};
	unsettled_gas: {
		swap_id: SwapUuid;
		chain_id: number;
		account_id: string;
		at: Date;
		wei: bigint;
	};
	waits: {
		swap_id: SwapUuid;
		order_id: Buffer;
		mark: number;
		due_at: Date;
		head_chain_id: number | null;
		head_number: number | null;
		finalized_chain_id: number | null;
		finalized_number: number | null;
		fact: string | null;
		idle_rounds: number;
		failed_rounds: number;
		ask_chain_id: number | null;
		ask: unknown;
		second_word: "agrees" | "behind" | "differs" | "silent" | null;
		second_at: Date | null;
		second_since: Date | null;
		second_alarmed: boolean;
	};
	webhook_deliveries: {
		webhook_id: string;
		position: number;
		swap_id: SwapUuid;
		attempts: number;
		first_at: Date | null;
		next_at: Date;
	};
	webhooks: {
		id: string;
		account_id: string;
		url: string;
		secret: string;
		previous_secret: string | null;
		previous_until: Date | null;
		created_at: Date;
		after: number;
		last_success_at: Date | null;
		failing_since: Date | null;
		last_error: string | null;
		last_error_at: Date | null;
		given_up: number;
		disabled_at: Date | null;
		older_secrets: unknown;
	};
};

/** A row with some columns of a table. */
export type Row<Table extends keyof Tables, Column extends keyof Tables[Table]> = Pick<Tables[Table], Column>;

/** The names in a list like "id, status". */
export type Named<List extends string> = List extends `${infer A}, ${infer B}` ? A | Named<B> : List;
