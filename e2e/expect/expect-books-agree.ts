import { serverCommand } from "@geoswap/devnet";
import type { ExpectStatic } from "vitest";
import type { Environment } from "../environment/environment.ts";

type Reconciliation = {
	chains: { chainId: number; block: number; tokens: { donated: string; unbooked: string }[] }[];
};

/** Only final blocks are booked, so the entries of the last blocks are still to come. */
const bookedWithinMs = 60_000;

/**
 * Expects the books to agree with the chains to the unit, and no invariant to be broken until everything that has
 * happened is booked.
 */
export async function expectBooksAgree(
	expect: ExpectStatic,
	{ origin, destination, solana, serverEnvironment }: Environment,
): Promise<void> {
	const chains = await Promise.all([
		...[origin, destination].map(async ({ chainId, publicClient }) => ({
			chainId,
			head: Number(await publicClient.getBlockNumber()),
		})),
		solana.rpc
			.getSlot({ commitment: "confirmed" })
			.send()
			.then((slot) => ({ chainId: solana.chainId, head: Number(slot) })),
	]);
	for (const deadline = Date.now() + bookedWithinMs; ; ) {
		const printed = await serverCommand(serverEnvironment, ["reconcile", "--json"]);
		const report: Reconciliation = JSON.parse(printed);
		expect(report).toMatchObject({ ok: true, breaches: [] });
		const tokens = report.chains.flatMap((chain) => chain.tokens);
		// What another story deposits is booked with the next comparison of balances.
		const open = tokens.filter(({ donated, unbooked }) => donated !== "0" || unbooked !== "0");
		const isBooked = ({ chainId, head }: (typeof chains)[number]) =>
			report.chains.some((chain) => chain.chainId === chainId && chain.block >= head);
		if (open.length === 0 && chains.every(isBooked)) break;
		if (Date.now() < deadline) continue;
		expect(open).toEqual([]);
		throw new Error("the last blocks are still not booked");
	}
}
