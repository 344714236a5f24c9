import { toSolanaWord } from "@geoswap/protocol";
import { type Hex, zeroAddress, zeroHash } from "viem";
import { type AuditedChain, balancesAt } from "../read/audited-chain.ts";
import { type AuditedSolana, holdingOf } from "../read/audited-solana.ts";
import type { ChainFlows, Move } from "../read/chain-flows.ts";
import type { Books, DeclaredFlow, SolanaBooks } from "../read/read-books.ts";
import type { Finding } from "../read/report.ts";
import type { SolanaEvents } from "../read/solana-events.ts";

/**
 * T1: each withdrawal, already when it is scheduled, was declared. T2: each move of a treasurer's key is one that the
 * service planned. Checks what came after the opening balances. Amounts are compared one by one, so that a gift of the
 * same amount hides nothing.
 */
export function checkFlows(
	{ chainId, deployment }: AuditedChain,
	{
		flows,
		books: { flows: declared, openings },
	}: { flows: ChainFlows; books: Pick<Books, "flows" | "openings"> },
): { checked: { T1: number; T2: number }; breaches: Finding[] } {
	const opening = openings.get(chainId) ?? 0;
	const isSince = ({ block }: { block: number }) => block > opening;
	const ofChain = declared.filter((flow) => flow.chainId === chainId);
	const symbolOf = (token: Hex) =>
		deployment.assets.find(({ address }) => isSame(address, token))?.symbol ?? token;
	const breaches: Finding[] = [];

	const unused = ofChain.filter(({ kind }) => kind === "withdrawal");
	const withdrawn = flows.withdrawn.filter(isSince).map((one) => ({ ...one, verb: "left" }));
	const scheduled = [...flows.scheduled.values()]
		.filter(isSince)
		.map((one) => ({ ...one, verb: "is to leave" }));
	for (const { vault, token, to, amount, block, verb } of [...withdrawn, ...scheduled]) {
		const i = unused.findIndex(
			(flow) =>
				isSame(flow.holder, vault) &&
				isSame(flow.token, token) &&
				isSame(flow.address, to) &&
				(amount === undefined || flow.amount === amount),
		);
		if (i >= 0) {
			unused.splice(i, 1);
			continue;
		}
		const what = amount === undefined ? "the credit" : String(amount);
		breaches.push({
			invariant: "T1",
			message: `${what} ${symbolOf(token)} ${verb} the vault ${vault} on chain ${chainId} for ${to}, which nobody declared (block ${block})`,
			chainIds: [chainId],
			token,
			...(amount !== undefined && { amount: String(amount) }),
		});
	}

	const moves = flows.moved.filter(isSince);
	// A move that failed and the next one of its kind have the same id.
	const planned = Map.groupBy(ofChain, ({ moveId }) => moveId?.toLowerCase());
	for (const move of moves) {
		const known = planned.get(move.moveId.toLowerCase()) ?? [];
		if (known.some((flow) => isAsPlanned(move, flow))) continue;
		const why = known.length > 0 ? "differs from the planned one" : "was not planned";
		breaches.push({
			invariant: "T2",
			message: `the ${move.kind} ${move.moveId} of ${move.amount} ${symbolOf(move.token)} on chain ${chainId} ${why}`,
			chainIds: [chainId],
			token: move.token,
			amount: String(move.amount),
		});
	}
	return { checked: { T1: withdrawn.length + scheduled.length, T2: moves.length }, breaches };
}

function isAsPlanned({ kind, token, amount, to, toToken }: Move, flow: DeclaredFlow): boolean {
	if (flow.kind !== kind || !isSame(flow.token, token) || flow.amount !== amount) return false;
	return kind === "trade" ? isSame(flow.toToken, toToken) : isSame(flow.address, to);
}

/** T1 on Solana, for what the vault's owner withdrew by instructions of the program. */
export async function checkSolanaWithdrawals(
	{ chainId, deployment }: AuditedSolana,
	{
		slot,
		events: { unattributed },
		books: { openingSlot },
		flows,
	}: { slot: number; events: SolanaEvents; books: SolanaBooks; flows: readonly DeclaredFlow[] },
): Promise<{ checked: number; breaches: Finding[] }> {
	const vault = toSolanaWord(deployment.program.vault);
	const declared = await Promise.all(
		flows
			.filter((flow) => flow.kind === "withdrawal" && flow.chainId === chainId && flow.holder === vault)
			.map(async ({ token, amount, address = zeroHash }) => ({
				amount,
				...(await holdingOf(address, token)),
			})),
	);
	const withdrawn = unattributed.filter(
		({ withdrawnTo, amount, slot: at }) => withdrawnTo && amount < 0n && at > openingSlot && at <= slot,
	);
	const breaches: Finding[] = [];
	for (const { token, amount, slot: at, withdrawnTo = [] } of withdrawn) {
		const i = declared.findIndex(
			(one) => one.token === token && one.amount === -amount && withdrawnTo.includes(one.address),
		);
		if (i >= 0) declared.splice(i, 1);
		else {
			const message = `${-amount} of ${token} left the vault on Solana for ${withdrawnTo.join(", ")}, which nobody declared (slot ${at})`;
			breaches.push({ invariant: "T1", message, chainIds: [chainId], token, amount: String(-amount) });
		}
	}
	return { checked: withdrawn.length, breaches };
}

/**
 * T3: the relayers of a chain hold at least the gas that the books account for, at the block up to which the chain is
 * booked. It pauses nothing, because a pause protects no key.
 */
export async function checkRelayers(
	chain: AuditedChain,
	{ block, books: { relayers, unread } }: { block: number; books: Pick<Books, "relayers" | "unread"> },
): Promise<{ checked: number; breaches: Finding[] }> {
	const { chainId } = chain;
	const known = relayers.get(chainId);
	// The cost of a transaction in a block that is not read yet is not booked.
	if (!known || unread.has(chainId)) return { checked: 0, breaches: [] };
	const [held = []] = await balancesAt(chain, { tokens: [zeroAddress], holders: known.addresses, block });
	const missing = known.booked - held.reduce((sum, amount) => sum + amount, 0n);
	if (missing <= 0n) return { checked: 1, breaches: [] };
	const message = `the relayers on chain ${chainId} hold ${missing} wei less than in the books`;
	const amount = String(missing);
	return {
		checked: 1,
		breaches: [{ invariant: "T3", message, chainIds: [chainId], token: zeroAddress, amount, pauses: false }],
	};
}

function isSame(one: Hex | undefined, other: Hex | undefined): boolean {
	return one !== undefined && other !== undefined && one.toLowerCase() === other.toLowerCase();
}
