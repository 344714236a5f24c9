import { expect, test } from "vitest";
import { expectBooksExact } from "../expect-books-exact.ts";
import { expectExact } from "../expect-exact.ts";
import { killInTurn } from "../kill-in-turn.ts";
import { countStatuses, type EndedPlan, planSwap } from "../mixed-swaps.ts";
import { ownEnvironment } from "../own-environment.ts";
import { swapThrough } from "../swap-through.ts";

const { swapCount, killsEach, streamCount } = process.env.GEOSWAP_FULL
	? { swapCount: 300, killsEach: 10, streamCount: 20 }
	: { swapCount: 30, killsEach: 2, streamCount: 10 };

/** What a swap may take that nobody could work on: until its last deadline is final, with some time to say so. */
const decidedWithinMs = 180_000;

const environmentOf = ownEnvironment();

test("kill -9 of API, worker, engine and attesters, again and again, loses no swap and pays none twice", async () => {
	const environment = environmentOf();
	const { stack, deployment: pins } = environment;
	const client = await environment.newClient();
	const { api, worker, restate, attesters } = stack.processes;

	let isKilling = true;
	const killing = Promise.all([
		killInTurn([worker, restate, api], killsEach),
		killInTurn(attesters, killsEach),
	]).finally(() => {
		isKilling = false;
	});
	let planned = 0;
	const swapping = Array.from({ length: streamCount }, async () => {
		const ended: EndedPlan[] = [];
		while (isKilling || planned < swapCount) {
			const plan = planSwap(environment, planned++);
			const account = await environment.newWallet(plan.from);
			ended.push(await swapThrough({ client, pins, account }, plan));
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
