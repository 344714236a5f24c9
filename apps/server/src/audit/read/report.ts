import type { Hex } from "viem";

/** The invariants of docs/audit.md. */
export const invariants = [
	...(["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8"] as const),
	...(["I9", "I10", "I11", "I12", "I13", "I14", "I15", "I19"] as const),
	...(["T1", "T2", "T3", "T4"] as const),
] as const;
export type Invariant = (typeof invariants)[number];

/** A violation of an invariant. */
export type Finding = {
	invariant: Invariant;
	message: string;
	/** The chains that are paused until the violation is understood. */
	chainIds: number[];
	orderId?: Hex;
	swapId?: string;
	/** The amount that is missing, too large or in the wrong place. Decimal. */
	amount?: string;
	token?: string;
	usdCents?: string;
	/** False if a third party can cause it. It is then reported, but pauses nothing. */
	pauses?: false;
	/** The next step, if it differs from the invariant's usual one. */
	next?: string;
};

export type Breach = Finding & { next: string };

const nextSteps: Record<Invariant, string> = {
	I1: "find the transfer that took tokens from the escrow; stop releases through the guardian until the cause is known",
	I2: "compare the vault's transfers with the postings since the last clean audit; move inventory only through the books",
	I3: "read the fills of the order on its destination; revoke the filler role if a key was used outside of the service",
	I4: "read what the escrow paid for the order",
	I5: "attesters decided it, or it was refunded late; compare what each attester signed, and book the loss",
	I6: "look at the swap's history and the providers' answers, because the output was sent on a deposit that was not certain",
	I7: "look at the swap's history and at who wrote its row, because the service makes no such step",
	I8: "the caller received a wrong status; look at the order on both chains, then deliver or refund by hand",
	I9: "the wallet lacks its input; look at the refund, and at the credit in the escrow",
	I10: "deliver nothing more for inputs from the chain until its deposits are final; find out why the cap was exceeded",
	I11: "stop the workers that share a relayer; look at which of them signed what",
	I12: "the wallet cannot get its input back by itself; simulate refund() of the order, and look at the token",
	I13: "harmless while only the wallet can open orders; ask the wallet's owner to set the allowance to zero",
	I14: "look at the swap's history and jobs, at its chains and at the attesters; if it is due and no worker takes it, look at the workers' logs",
	I15: "find out why releases wait; check the attesters, their endpoints and the origin's gas",
	I19: "compare the day's postings with the chain's transactions; the numbers of the report are not to be trusted until it closes",
	T1: "if nobody of the treasury made it, have the guardian cancel what is scheduled and pause the vault; otherwise declare it with `geoswapd treasury withdraw`",
	T2: "take the TREASURER role from the key and have the guardian pause the vault, because it signed what the service did not plan; if a restored database lacks the move, adopt it with `geoswapd treasury adopt`",
	T3: "move what the relayer still holds to a new key, because its key was used outside of the service; if you took the gas yourself, declare it with `geoswapd treasury withdraw`",
	T4: "compare the move's row with both of its transactions: `geoswapd treasury show`; until the cause is known, pause the treasury with `geoswapd treasury pause`",
};

export function breachOf(finding: Finding): Breach {
	return { next: nextSteps[finding.invariant], ...finding };
}

/** The balances of a token at one block, by the books and by the chain. Amounts are decimal strings. */
export type TokenReport = {
	/** The address in its chain's format. */
	token: string;
	symbol: string;
	/**
	 * Open orders and credits, by the events of the chain. On Solana there is no other sum, because the account of each
	 * open order is compared separately.
	 */
	escrowExpected: string;
	escrowActual: string;
	/** The inventory by the ledger. */
	inventoryBooked: string;
	inventoryActual: string;
	/** The surplus in escrows, and in vaults (`unbooked`), that no event of the service sent there. */
	donated: string;
	unbooked: string;
};

/** A block is a slot on Solana. There, `lamports` is what the service spent besides payments. */
export type ChainReport = {
	chainId: number;
	block: number;
	tokens: TokenReport[];
	lamports?: { fees: string; locked: string; rent: string };
	/**
	 * On EVM chains: the number of open orders in escrow that are not in the books, the number of further orders in no
	 * sum, and the number of blocks of which the node did not list the strangers' logs.
	 */
	otherOrders?: { open: number; uncounted: number; unlistedBlocks: number };
	/** On Solana: the strangers' transactions that named the service's addresses, and how many cannot be decoded. */
	strangers?: { transactions: number; undecodable: number };
};

/** A delivery whose input the service does not get, because it was refunded or its chain dropped it permanently. */
export type Loss = {
	/** The origin chain. */
	chainId: number;
	orderId: Hex;
	kind: "delivered-and-refunded" | "delivered-without-deposit";
	token: string;
	amount: string;
	/** The value as quoted. Absent if no swap is known. */
	usdCents?: string;
};

/** A due refund that cannot be paid, because of the wallet itself or its token. The input stays in escrow. */
export type Owed = {
	chainId: number;
	orderId: Hex;
	swapId: string;
	wallet: string;
	token: string;
	amount: string;
	/** The wallet's token account has another owner or is frozen, or its refund became an unclaimed credit. */
	why: "account-given-away" | "account-frozen" | "credit-unclaimed";
};

export type Report = {
	/** True if no finding pauses a chain. */
	ok: boolean;
	/** Chains that could not be audited, and why. Orders from or to one of these are not checked. */
	unchecked: { chainId: number; why: string }[];
	/** Chains that are no longer configured, with the number of ended swaps that are therefore not checked. */
	leftChains: { chainId: number; swaps: number }[];
	chains: ChainReport[];
	orders: number;
	swaps: number;
	/** The number of checks of each invariant. */
	checked: Record<Invariant, number>;
	breaches: Breach[];
	owed: Owed[];
	losses: Loss[];
	/** Sum of the losses that have a value, per chain. Decimal. */
	lostUsdCents: Record<string, string>;
};

/** The unit in which the checks of each invariant are counted, for the text report. */
const counted: Record<Invariant, string> = {
	I1: "tokens in escrow, and orders on Solana",
	I2: "tokens in vaults, and postings",
	I3: "orders",
	I4: "orders",
	I5: "orders",
	I6: "deliveries",
	I7: "swaps",
	I8: "swaps",
	I9: "swaps",
	I10: "chains",
	I11: "orders and nonces",
	I12: "orders past refundAfter",
	I13: "allowances",
	I14: "swaps",
	I15: "chains and sets",
	I19: "days of a token",
	T1: "withdrawals",
	T2: "moves",
	T3: "chains",
	T4: "moves",
};

/** Returns the report as readable text. */
export function formatReport(report: Report): string {
	const { ok, chains, orders, swaps, checked, breaches, losses, lostUsdCents } = report;
	const lines = chains.flatMap(({ chainId, block, tokens, lamports, otherOrders, strangers }) => [
		`chain ${chainId} at ${lamports ? "slot" : "block"} ${block}`,
		...tokens.map((token) => {
			const extra = [
				token.donated === "0" ? [] : [`${token.donated} given to escrow`],
				token.unbooked === "0" ? [] : [`${token.unbooked} in vaults and not in the books`],
			].flat();
			const note = extra.length > 0 ? ` (${extra.join(", ")})` : "";
			return `  ${token.symbol}: escrow ${token.escrowActual}, inventory ${token.inventoryActual}${note}`;
		}),
		...(lamports
			? [`  lamports: fees ${lamports.fees}, locked ${lamports.locked}, rent ${lamports.rent}`]
			: []),
		...(otherOrders && otherOrders.open + otherOrders.uncounted + otherOrders.unlistedBlocks > 0
			? [
					`  others: ${otherOrders.open} open orders; not counted: ${otherOrders.uncounted} orders, and ${otherOrders.unlistedBlocks} blocks`,
				]
			: []),
		...(strangers
			? [
					`  others: ${strangers.transactions} transactions, of which ${strangers.undecodable} cannot be decoded`,
				]
			: []),
	]);
	const perInvariant = invariants.map((invariant) => {
		const count = breaches.filter((breach) => breach.invariant === invariant).length;
		const verdict = count === 0 ? "holds" : count === 1 ? "1 breach" : `${count} breaches`;
		return `${invariant} ${verdict}: ${checked[invariant]} ${counted[invariant]}`;
	});
	const found = breaches.flatMap(({ invariant, message, orderId, chainIds, pauses, next }) => [
		`BREACH ${invariant} ${message}${orderId ? ` (order ${orderId})` : ""}`,
		`  chains ${chainIds.join(", ")}${pauses === false ? " (stops nothing)" : ""}. Next: ${next}`,
	]);
	const lost = losses.map(({ chainId, orderId, kind, token, amount, usdCents }) => {
		const value = usdCents === undefined ? "" : `, ${formatCents(usdCents)}`;
		return `LOSS ${kind.replaceAll("-", " ")}: ${amount} of ${token} on chain ${chainId}${value} (order ${orderId})`;
	});
	const owed = report.owed.map(
		({ chainId, orderId, wallet, token, amount, why }) =>
			`OWED ${amount} of ${token} to ${wallet} on chain ${chainId}: ${why.replaceAll("-", " ")} (order ${orderId})`,
	);
	const unchecked = report.unchecked.map(({ chainId, why }) => `NOT CHECKED chain ${chainId}: ${why}`);
	const left = report.leftChains.map(
		({ chainId, swaps: count }) =>
			`NOT JUDGED ${count} ended swaps of chain ${chainId}, which is not configured`,
	);
	const totals = Object.entries(lostUsdCents).map(
		([chainId, cents]) => `lost on chain ${chainId}: ${formatCents(cents)}`,
	);
	const held = unchecked.length > 0 ? "all invariants that could be checked hold" : "all invariants hold";
	const verdict = ok ? held : `${breaches.length} breaches`;
	return [
		...[...lines, ...perInvariant, ...found, ...owed, ...lost, ...totals, ...unchecked, ...left],
		`${orders} orders, ${swaps} swaps: ${verdict}`,
	].join("\n");
}

function formatCents(cents: string): string {
	const padded = cents.padStart(3, "0");
	return `${padded.slice(0, -2)}.${padded.slice(-2)} USD`;
}

/** Thrown if the invariants cannot be checked because the database or a chain does not respond. */
export class CouldNotCheckError extends Error {
	override name = "CouldNotCheckError";
	/** The name of the database or chain that does not respond. */
	readonly what: string;

	constructor(what: string, cause: unknown) {
		const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
		super(`${what} could not be read: ${why}`, { cause });
		this.what = what;
	}

	/** Returns the result of `asking`. If it fails, throws an error that names the database or chain. */
	static async unless<T>(what: string, asking: Promise<T>): Promise<T> {
		try {
			return await asking;
		} catch (error) {
			throw new CouldNotCheckError(what, error);
		}
	}
}
