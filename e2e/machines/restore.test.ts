import { setTimeout as sleep } from "node:timers/promises";
import { waitForSwap } from "@geoswap/sdk";
import { expect, test } from "vitest";
import { countStatuses, type EndedAnyPlan } from "../caller/mixed-swaps.ts";
import { askAgain, createSubmitter, planRefusal, type Submitted } from "../caller/submitted-swaps.ts";
import { isSolanaChain } from "../chain/holding.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { expectRebuilt, liftPauses } from "../expect/expect-rebuilt.ts";
import { ownMachines } from "./own-machines.ts";
import {
	copyToArchive,
	loseDatabases,
	readClock,
	replacePrimary,
	restoreDatabase,
} from "./restore-database.ts";

const { swapCount, lostMs } = process.env.GEOSWAP_FULL
	? { swapCount: 100, lostMs: 300_000 }
	: { swapCount: 8, lostMs: 75_000 };
/** Time for an order's last deadline, its finality, and the rounds of work that follow. */
const decidedWithinMs = 400_000;

const machinesOf = ownMachines();

test("after both databases are lost and restored to minutes ago from the archive, each wallet has its input or its recipient the output", async () => {
	const machines = machinesOf();
	const { environment } = machines;
	const client = await environment.newClient();
	const { submitNext, submitMany } = createSubmitter(environment, client);
	const again = (swap: Submitted) => askAgain(client, swap, { withinMs: decidedWithinMs });
	const ended: EndedAnyPlan[] = await Promise.all((await submitMany(4)).map(again));
	await copyToArchive(machines);
	// A restore follows the archive from one primary to the next.
	await replacePrimary(machines);
	ended.push(...(await Promise.all((await submitMany(4)).map(again))));
	const underWay = await submitMany(4);
	const time = await readClock(machines);

	// Nothing from here on is in the restored database. Most of these swaps are reported to their callers as decided.
	const forgotten: Submitted[] = [await submitNext(await planRefusal(environment))];
	const startedAt = Date.now();
	for (let n = 0; n < swapCount; n++) {
		const swap = await submitNext();
		forgotten.push(swap);
		void waitForSwap(client, swap.swapId).then(
			({ status }) => {
				swap.told = status;
			},
			() => {},
		);
		await sleep(Math.max(0, startedAt + (lostMs * n) / swapCount - Date.now()));
	}
	await sleep(Math.max(0, startedAt + lostMs - Date.now()));
	const late = await submitMany(4);
	const told = forgotten.flatMap((swap) => swap.told ?? []);
	expect(told).toContain("settled");
	await loseDatabases(machines);
	const lostAt = Date.now();
	await restoreDatabase(machines, { time });
	console.log(`restored as of ${time}, ${Math.round((lostAt - startedAt) / 1_000)} s before the loss,`);
	console.log(`within ${Math.round((Date.now() - lostAt) / 1_000)} s`);

	const all = [...underWay, ...forgotten, ...late];
	const fromEvm = [...forgotten, ...late].filter(({ from }) => !isSolanaChain(from.chain));
	await expectRebuilt(environment, client, fromEvm, { withinMs: decidedWithinMs });
	const asked = await Promise.all(all.map(again));
	for (const { told, swap } of asked as (EndedAnyPlan & Pick<Submitted, "told">)[]) {
		if (told) expect(swap.status).toBe(told);
	}
	console.log(`${asked.length} swaps after the restore:`, countStatuses(asked), `${told.length} told before`);
	expect(countStatuses(asked).refunded).toBeGreaterThan(0);
	ended.push(...asked);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, ended);
	await liftPauses(environment, client);
});
