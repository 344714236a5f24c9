import { reconcile } from "../src/audit/reconcile.ts";
import type { Breach } from "../src/audit/report.ts";
import type { World } from "./world.ts";

/** After so long what was in motion at the first look is not any more. */
const secondLookMs = 30_000;

/** What the auditor finds, of chains as they are. */
export async function auditWorld(world: World): Promise<Breach[]> {
	const { breaches } = await reconcile({
		pool: world.database.pool,
		chains: world.config.chains.map((chain) => ({
			...chain,
			transport: world.truth(chain.chainId === world.evm.east.chainId ? "east" : "west").evm,
		})),
		solana: world.config.solana && {
			...world.config.solana,
			transport: world.truth("solana").solana,
		},
		earlierAttesterSets: [],
		nowMs: world.scheduler.nowMs(),
	});
	// Who calls approve() and open() himself, in two transactions, leaves an allowance where only the first one lands.
	const own = world.wallets.swaps
		.filter(({ plan }) => plan.behaviour === "opens-itself" || plan.behaviour === "opens-unsubmitted")
		.map(({ wallet }) => wallet);
	return breaches.filter(({ invariant, message, pauses }) => {
		if (invariant === "I13") return !own.some((wallet) => message.includes(wallet));
		// A restored store does not know the failed attempts of before, and nobody asks for those: their fees are told, and
		// stop nothing.
		const isForgotten = invariant === "I2" && pauses === false && message.includes("not in the books");
		return !isForgotten || world.record.restoredAtMs.length === 0;
	});
}

/**
 * Audits the world at these moments, while things happen. What is found both times, half a minute apart, is a violation:
 * the service would have paused a chain for it.
 */
export function auditAt(world: World, inMs: readonly number[]): { violations: string[]; count: number } {
	const audits = { violations: [] as string[], count: 0 };
	for (const ms of inMs) world.scheduler.in(ms, "audit", () => look(world, audits));
	return audits;
}

async function look(world: World, audits: { violations: string[]; count: number }): Promise<void> {
	const atMs = world.scheduler.nowMs();
	const first = new Set((await auditWorld(world)).map(sameKey));
	audits.count++;
	if (first.size === 0) return;
	world.scheduler.in(secondLookMs, "second audit", async () => {
		const again = (await auditWorld(world)).filter((breach) => first.has(sameKey(breach)));
		// What a restore forgot is unknown until its callers come again, which the end of the world shows.
		if (world.record.restoredAtMs.length > 0) return;
		const seconds = Math.round((atMs - world.startMs) / 1_000);
		for (const { invariant, message } of again) {
			audits.violations.push(`${invariant} from ${seconds} s on: ${message}`);
		}
	});
}

/** The same thing, whatever the amounts of the moment. */
function sameKey({ invariant, chainIds, orderId, swapId, token }: Breach): string {
	return [invariant, chainIds.join(), orderId ?? "", swapId ?? "", token ?? ""].join(" ");
}
