import type { Address } from "viem";
import type { Breach, ChainReport } from "../src/audit/read/report.ts";
import { reconcile } from "../src/audit/reconcile.ts";
import { evmChains, solanaChain } from "../src/config/chain-config.ts";
import { withAuditedNodes } from "../src/operate/reconcile/audit-books.ts";
import type { SimSwap } from "./sim-swap.ts";
import type { World } from "./world.ts";

/**
 * Milliseconds between the two passes of an audit, enough for everything that was in motion at the first pass to
 * settle.
 */
const secondLookMs = 30_000;

/** Runs the auditor against the chains as they really are, and returns its findings. */
export async function auditWorld(world: World): Promise<Breach[]> {
	const solana = solanaChain(world.config);
	const { breaches, chains } = await reconcile({
		pool: world.database.pool,
		chains: evmChains(world.config).map((chain) => ({
			...withAuditedNodes(chain),
			transport: world.truth(chain.chainId === world.evm.east.chainId ? "east" : "west").evm,
		})),
		solana: solana && { ...withAuditedNodes(solana), transport: world.truth("solana").solana },
		earlierAttesterSets: [],
		nowMs: world.scheduler.nowMs(),
	});
	// A wallet that calls approve() and open() itself, in two transactions, leaves an allowance if only the first one
	// lands.
	const own = world.wallets.swaps.filter((swap) => isHalfOpened(world, swap)).map(({ wallet }) => wallet);
	const surplus = world.hasStrangers ? [] : surplusIn(chains);
	return [...breaches, ...surplus].filter(({ invariant, message, pauses, chainIds }) => {
		if (invariant === "I13") return !own.some((wallet) => message.includes(wallet));
		// The auditor is right: the key was used outside of the service.
		if (invariant === "T3" && chainIds.some((chainId) => world.record.foreignOn.has(chainId))) return false;
		// A restored database has lost earlier failed attempts, which nothing checks again. The auditor reports their fees,
		// but pauses nothing. The database has also lost what was signed. An operator would record the restore for the
		// auditor.
		const isForgotten =
			(invariant === "I2" && pauses === false && message.includes("not in the books")) ||
			// Their gas, on an EVM chain.
			invariant === "T3" ||
			(invariant === "I6" && message.includes("did not sign"));
		return !isForgotten || world.record.restoredAtMs.length === 0;
	});
}

function isHalfOpened({ evm }: World, { plan, wallet }: SimSwap): boolean {
	const isOwn = plan.behaviour === "opens-itself" || plan.behaviour === "opens-unsubmitted";
	if (!isOwn || plan.from === "solana") return false;
	return evm[plan.from].minedOf(wallet as Address).filter(({ isSuccess }) => isSuccess).length === 1;
}

/**
 * Returns a breach for each surplus in an escrow or a vault. There are no donations here, so each surplus belongs to an
 * account. The auditor itself tolerates it.
 */
function surplusIn(chains: readonly ChainReport[]): Breach[] {
	return chains.flatMap(({ chainId, tokens }) =>
		tokens.flatMap(({ symbol, token, donated, unbooked }) => {
			const about = { chainIds: [chainId], token, next: "" };
			return [
				...(donated === "0"
					? []
					: [{ ...about, invariant: "I1" as const, message: `${donated} ${symbol} in escrow is nobody's` }]),
				...(unbooked === "0"
					? []
					: [
							{
								...about,
								invariant: "I2" as const,
								message: `${unbooked} ${symbol} in inventory is not booked`,
							},
						]),
			];
		}),
	);
}

/**
 * Audits the world at these times, while things happen. A breach found at both passes, half a minute apart, is a
 * violation, because the service would have paused a chain for it.
 */
export function auditAt(world: World, inMs: readonly number[]): Audits {
	const audits: Audits = { breaches: [], count: 0 };
	for (const ms of inMs) world.scheduler.in(ms, "audit", () => look(world, audits));
	return audits;
}

/** The breaches found at both passes, with the time of the first. */
type Audits = { breaches: (Breach & { atSeconds: number })[]; count: number };

async function look(world: World, audits: Audits): Promise<void> {
	const atMs = world.scheduler.nowMs();
	const first = new Set((await auditWorld(world)).map(sameKey));
	audits.count++;
	if (first.size === 0) return;
	world.scheduler.in(secondLookMs, "second audit", async () => {
		const again = (await auditWorld(world))
			.filter((breach) => first.has(sameKey(breach)))
			.filter((breach) => !isForgotten(world, breach));
		const atSeconds = Math.round((atMs - world.startMs) / 1_000);
		audits.breaches.push(...again.map((breach) => ({ ...breach, atSeconds })));
	});
}

/**
 * Returns true if a restore explains the breach, which is then money on Solana that moved for no known order. The
 * service has these orders again once they are rebuilt or submitted again, which is checked at the end of the world.
 * Events on other chains are read from them again, and a row in the books must be right at any time.
 */
function isForgotten({ record, solana }: World, { invariant, chainIds, swapId }: Breach): boolean {
	const isOfSolana = swapId === undefined && chainIds.every((chainId) => chainId === solana.chainId);
	return record.restoredAtMs.length > 0 && isOfSolana && ["I1", "I2", "I3"].includes(invariant);
}

/** Returns a key that is the same for the same breach, regardless of the current amounts. */
function sameKey({ invariant, chainIds, orderId, swapId, token }: Breach): string {
	return [invariant, chainIds.join(), orderId ?? "", swapId ?? "", token ?? ""].join(" ");
}
