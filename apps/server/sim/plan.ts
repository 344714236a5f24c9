/**
 * Everything that happens to one simulated world, with its swaps and faults. Details that a plan leaves open (how long
 * a call takes, which transactions of a block a reorg keeps) follow from its seed. Times are milliseconds from the
 * start of the world.
 */
export type Plan = {
	seed: number;
	swaps: SwapPlan[];
	faults: Fault[];
	/** End of the hostile time. All faults are over then, and from then on every swap must come to its end. */
	hostileMs: number;
	/** Number of acts of strangers on the chains until then (see sim-strangers.ts). The acts follow from the seed. */
	strangers?: number;
	/** The way in which the nodes of all workers fail to return logs until then (see sim-hostile-nodes.ts). */
	nodes?: HostileNodes;
};

/** The ways in which the nodes of all workers fail to return logs. */
export const hostileNodeKinds = ["cap", "omit", "mute"] as const;
export type HostileNodes = (typeof hostileNodeKinds)[number];

export const chainNames = ["east", "west", "solana"] as const;
export type ChainName = (typeof chainNames)[number];
export type EvmChainName = Exclude<ChainName, "solana">;

export const workerNames = ["worker-1", "worker-2"] as const;
export type WorkerName = (typeof workerNames)[number];
export const attesterNames = ["attester-1", "attester-2", "attester-3"] as const;
export type AttesterName = (typeof attesterNames)[number];
export type ProcessName = WorkerName | AttesterName;

/** A process has two endpoints per chain. The second is queried if the first fails, or if two must agree. */
export type ProviderName = "first" | "second";

/**
 * The chain's settlement stablecoin, its own coin, or another token whose price moves and of which the vault has
 * inventory.
 */
export type AssetName = "stable" | "native" | "volatile";

export type SwapPlan = {
	/** The time of its quote. Build and submit follow immediately, as the world's latency allows. */
	atMs: number;
	from: ChainName;
	to: ChainName;
	/**
	 * Input and output are never the same asset of one chain. Solana has no volatile asset, so its own coin is used
	 * instead.
	 */
	input: AssetName;
	output: AssetName;
	/** The value of the input. `oddUnits` more of its smallest units are added, so that amounts are not round. */
	usdCents: number;
	oddUnits: number;
	/** The wallet's number. Swaps of one chain with the same number share a wallet, and may run concurrently. */
	wallet: number;
	behaviour: WalletBehaviour;
	/** A recipient that `refuses` rejects its payout on an EVM chain, so the input must come back. */
	recipient: "takes" | "refuses";
};

export type WalletBehaviour =
	/** Signs and submits, on an EVM chain with an authorization if the wallet is not delegated yet. */
	| "plain"
	/**
	 * Its authorization is used up before the op is sent, because the wallet has been delegated to the same account
	 * meanwhile.
	 */
	| "stale-authorization"
	/** Submits, then sends its input tokens elsewhere before the order is opened. */
	| "moves-tokens"
	/** Submits, then opens the order by its own transaction. */
	| "opens-itself"
	/** Submits, and a stranger opens the signed order first. On Solana the same as plain. */
	| "front-run"
	/**
	 * Submits, and a stranger has the escrow report the order as not opened, by giving it too little gas. On Solana the
	 * same as plain.
	 */
	| "reported-unopened"
	/**
	 * Submits, then delegates to another provider's account, which does not pay for the order. On Solana the same as
	 * plain.
	 */
	| "delegates-elsewhere"
	/**
	 * Opens the order on chain and never submits it, so only the chain has it. On Solana the wallet takes its input back
	 * by itself once the order's time is over.
	 */
	| "opens-unsubmitted";

export type Fault =
	/**
	 * A worker dies at its n-th event after this time (an answer, a timer, a step), or right after a node took a
	 * transaction from it, and comes back without its memory. The handlers that it ran block all others of their keys in
	 * the engine until it is back. The other worker's tick does their work.
	 */
	| {
			kind: "crash";
			process: WorkerName;
			atMs: number;
			at: { events: number } | "broadcast";
			downMs: number;
	  }
	/** The newest blocks are replaced. Each of their transactions is kept with this chance; the others are gone. */
	| { kind: "reorg"; chain: ChainName; atMs: number; depth: number; keepPercent: number }
	/** All nodes forget each pending transaction with this chance. */
	| { kind: "drop"; chain: ChainName; atMs: number; percent: number }
	/** Each transaction that is pending or arrives in this period stays out of blocks until its end, with this chance. */
	| { kind: "hold-back"; chain: ChainName; atMs: number; forMs: number; percent: number }
	/**
	 * A relayer's key signs a transaction that is not in the books: one that replaces its oldest pending transaction, or
	 * one with the chain's next nonce.
	 */
	| { kind: "foreign-transaction"; chain: EvmChainName; atMs: number; how: "replaces" | "next" }
	/**
	 * One endpoint of all workers, or of all attesters, fails; answers late; answers as of some blocks ago; or hides an
	 * event and shows another instead (an order that was never opened, or not filled). An undetected lie loses money. Only
	 * one of the two endpoints of a process lies at a time.
	 */
	| {
			kind: "rpc";
			chain: ChainName;
			provider: ProviderName;
			of: "workers" | "attesters";
			how: "down" | "slow" | "stale" | "lies";
			atMs: number;
			forMs: number;
	  }
	| { kind: "finality-stall"; chain: ChainName; atMs: number; forMs: number }
	/** Blocks cost this multiple of the usual price. */
	| { kind: "gas-spike"; chain: ChainName; atMs: number; forMs: number; multiple: number }
	/** A process's clock is ahead, or behind if `byMs` is negative. */
	| { kind: "clock-skew"; process: ProcessName; atMs: number; forMs: number; byMs: number }
	/** An attester does not answer, or only after some seconds. */
	| { kind: "attester"; process: AttesterName; how: "down" | "slow"; atMs: number; forMs: number }
	/** Each poke in this period is lost, or arrives twice, with this chance. */
	| { kind: "pokes"; how: "lost" | "doubled"; atMs: number; forMs: number; percent: number }
	/**
	 * One statement or commit after this time takes effect, and the connection is lost before its answer; or no
	 * connection of this worker works for a while.
	 */
	| { kind: "database"; process: WorkerName; how: "answer-lost"; atMs: number; statements: number }
	| { kind: "database"; process: WorkerName; how: "down"; atMs: number; forMs: number }
	/** The engine answers no call and runs nothing. */
	| { kind: "engine"; atMs: number; forMs: number }
	/** The database is restored to its state `backMs` earlier, the engine forgets everything, and both workers restart. */
	| { kind: "restore"; atMs: number; backMs: number }
	/** Prices of volatile assets are off by this much for a while, in all books. */
	| { kind: "price"; atMs: number; forMs: number; bps: number };
