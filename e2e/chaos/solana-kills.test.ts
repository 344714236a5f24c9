import { expect, test } from "vitest";
import { expectBooksExact } from "../expect-books-exact.ts";
import { expectExact } from "../expect-exact.ts";
import { killInTurn } from "../kill-in-turn.ts";
import { countStatuses, type EndedAnyPlan, planSolanaSwap } from "../mixed-swaps.ts";
import { ownEnvironment } from "../own-environment.ts";
import { newWalletSwapsThrough } from "../swap-through.ts";

const { swapCount, killsEach, streamCount } = process.env.GEOSWAP_FULL
	? { swapCount: 160, killsEach: 10, streamCount: 16 }
	: { swapCount: 16, killsEach: 2, streamCount: 8 };

/** What a swap may take that nobody could work on: until its last deadline is final, with some time to say so. */
const decidedWithinMs = 240_000;

const environmentOf = ownEnvironment();

test("kill -9 of API, worker, engine and attesters loses no swap from, to or on Solana and pays none twice", async () => {
	const environment = environmentOf();
	const client = await environment.newClient();
	const { api, worker, restate, attesters } = environment.stack.processes;

	let isKilling = true;
	const killing = Promise.all([
		killInTurn([worker, restate, api], killsEach),
		killInTurn(attesters, killsEach),
	]).finally(() => {
		isKilling = false;
	});
	let planned = 0;
	const swapping = Array.from({ length: streamCount }, async () => {
		const ended: EndedAnyPlan[] = [];
		while (isKilling || planned < swapCount) {
			const plan = await planSolanaSwap(environment, planned++);
			ended.push(await newWalletSwapsThrough(environment, client, plan));
		}
		return ended;
	});
	await killing;
	const lastKillAt = performance.now();
	const swaps = (await Promise.all(swapping)).flat();
	const decidedAfterMs = performance.now() - lastKillAt;
	const statuses = countStatuses(swaps);
	console.log(
		`${swaps.length} swaps, each process killed ${killsEach} times; all decided ${Math.round(decidedAfterMs)} ms after the last kill:`,
		statuses,
	);
	expect(decidedAfterMs).toBeLessThan(decidedWithinMs);
	expect(swaps.length).toBeGreaterThanOrEqual(swapCount);
	expect(statuses.settled).toBeGreaterThan(0);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, swaps);
});
