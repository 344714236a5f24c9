import type { Amount } from "@geoswap/protocol";
import type { AuditedChain } from "../read/audited-chain.ts";
import type { Move } from "../read/chain-flows.ts";
import { type Books, type DeclaredFlow, inventoryKey } from "../read/read-books.ts";
import type { Finding } from "../read/report.ts";

/**
 * T4, at the block up to which a chain is booked. For each token, the account `bridge` has what bridges took by the
 * chain's events, less what arrived and is booked, and less what was written off; so its sum over all chains is what is on
 * its way, and the routes' fees. Each bridge whose row is final has its event. Each trade and each bridge brought at
 * least what its row demands.
 */
export function checkMoves(
	{ chainId, deployment }: AuditedChain,
	{
		moved,
		block,
		books: { flows, openings, bridge, unread },
	}: {
		moved: readonly Move[];
		block: number;
		books: Pick<Books, "flows" | "openings" | "bridge" | "unread">;
	},
): { checked: number; breaches: Finding[] } {
	const opening = openings.get(chainId) ?? 0;
	const isBooked = (at: number) => at > opening && at <= block;
	const booked = moved.filter((move) => isBooked(move.block));
	const rows = flows.filter((row) => row.chainId === chainId);
	const known = Map.groupBy(rows, ({ moveId }) => moveId?.toLowerCase());
	const breaches: Finding[] = [];

	// An event in an unread block is booked once the block is read.
	const isComplete = !unread.has(chainId);
	for (const [key, expected] of isComplete ? bridgeBalances() : []) {
		const difference = (bridge.get(key) ?? 0n) - expected;
		if (difference === 0n) continue;
		const token = key.slice(key.indexOf(":") + 1) as `0x${string}`;
		breaches.push({
			invariant: "T4",
			message: `${bridge.get(key) ?? 0n} ${symbolOf(token)} is booked as between chains on chain ${chainId}, but its moves add up to ${expected}`,
			chainIds: [chainId],
			token,
			amount: String(difference),
			// The vaults are compared with the ledger by themselves.
			pauses: false,
		});
	}

	const events = new Set(booked.map(({ moveId }) => moveId.toLowerCase()));
	const final = rows.filter(({ kind, state }) => kind === "bridge" && state === "final");
	const judged = final.filter(({ movedBlock }) => movedBlock === undefined || isBooked(movedBlock));
	for (const { moveId = "0x", token, amount } of judged) {
		if (events.has(moveId.toLowerCase())) continue;
		const message = `the bridge ${moveId} of ${amount} ${symbolOf(token)} is final in its row, but the vault on chain ${chainId} made no such move`;
		breaches.push({ invariant: "T4", message, chainIds: [chainId], token, amount: String(amount) });
	}

	const trades = booked.flatMap(({ moveId, received }) => {
		const row = known.get(moveId.toLowerCase())?.find(({ state }) => state !== "failed");
		return row && received !== undefined ? [{ ...row, received }] : [];
	});
	for (const row of [...trades, ...final]) {
		const { kind, moveId, toChainId = chainId, toToken: token, received = 0n, minReceived = 0n } = row;
		if (received >= minReceived || !token) continue;
		const message = `the ${kind} ${moveId} from chain ${chainId} brought ${received} of ${token}, and at least ${minReceived} was demanded`;
		const chainIds = [...new Set([chainId, toChainId])];
		breaches.push({ invariant: "T4", message, chainIds, token, amount: String(minReceived - received) });
	}
	return { checked: trades.length + judged.length, breaches };

	/** Returns what the account `bridge` of each token should have. */
	function bridgeBalances(): Map<string, Amount> {
		const sums = new Map([...bridge.keys()].filter(isOfChain).map((key) => [key, 0n]));
		const add = (token: DeclaredFlow["token"], amount: Amount) => {
			const key = inventoryKey(chainId, token);
			sums.set(key, (sums.get(key) ?? 0n) + amount);
		};
		for (const { kind, token, amount } of booked) if (kind === "bridge") add(token, amount);
		for (const { kind, state, isBooked: isPosted, ...row } of flows) {
			if (kind !== "bridge" || !isPosted) continue;
			if (state === "lost" && row.chainId === chainId) add(row.token, -row.amount);
			if (state === "final" && row.toChainId === chainId && row.toToken) {
				add(row.toToken, -(row.received ?? 0n));
			}
		}
		return sums;
	}

	function isOfChain(key: string): boolean {
		return key.startsWith(`${chainId}:`);
	}

	function symbolOf(token: string): string {
		const asset = deployment.assets.find(({ address }) => address.toLowerCase() === token.toLowerCase());
		return asset?.symbol ?? token;
	}
}
