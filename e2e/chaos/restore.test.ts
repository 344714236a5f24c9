import { setTimeout as sleep } from "node:timers/promises";
import { type Client, waitForSwap } from "@geoswap/sdk";
import { beforeAll, expect, test } from "vitest";
import { countStatuses, type EndedAnyPlan } from "../caller/mixed-swaps.ts";
import {
	askAgain,
	createSubmitter,
	planRefusal,
	type Submitted,
	someDeposit,
} from "../caller/submitted-swaps.ts";
import { backUp, restore, stopAll } from "../environment/back-up.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { expectExact } from "../expect/expect-exact.ts";
import { expectRebuilt, liftPauses } from "../expect/expect-rebuilt.ts";
import { ownEnvironment } from "../own-environment.ts";

/** Enough swaps for all routes twice, or for as often as needed. */
const swapCounts = { both: 50, database: 30, engine: 30 };
const swapsBefore = 4;
/** Time for an order's last deadline, its finality, and the rounds of work that follow. */
const decidedWithinMs = 300_000;

const environmentOf = ownEnvironment();
let client: Client;
let submitter: ReturnType<typeof createSubmitter>;
/** All swaps ever made here. Nothing else may have been delivered. */
const ended: EndedAnyPlan[] = [];

beforeAll(async () => {
	client = await environmentOf().newClient();
	submitter = createSubmitter(environmentOf(), client);
}, 60_000);

async function runStory(what: "both" | "database" | "engine"): Promise<void> {
	const environment = environmentOf();
	const { submitNext, submitMany } = submitter;
	const again = (swap: Submitted) => askAgain(client, swap, { withinMs: decidedWithinMs });
	const count = swapCounts[what];
	const kept = await submitMany(swapsBefore / 2);
	ended.push(...(await Promise.all(kept.map(again))));
	const underWay = await submitMany(swapsBefore / 2);
	const backup = await backUp(environment);

	// Some swaps are decided, the others are anywhere in between.
	const decided = await submitMany(Math.ceil(count / 2));
	await Promise.all(
		decided.map(async (swap) => {
			swap.told = (await waitForSwap(client, swap.swapId)).status;
		}),
	);
	const early = await Promise.all([
		submitMany(Math.ceil(count / 4)),
		submitNext(await planRefusal(environment)),
	]);
	await sleep(3_000);
	const late = await submitMany(Math.floor(count / 4));
	await someDeposit(environment, late);
	await stopAll(environment);
	const forgotten = [...decided, ...early.flat(), ...late];
	await restore(environment, backup, { what });

	if (what !== "engine") await expectRebuilt(environment, client, forgotten, { withinMs: decidedWithinMs });
	const asked = await Promise.all([...underWay, ...forgotten].map(again));
	for (const { told, swap } of asked as (EndedAnyPlan & Pick<Submitted, "told">)[]) {
		if (told) expect(swap.status).toBe(told);
	}
	console.log(`restored ${what}:`, countStatuses(asked));
	expect(countStatuses(asked).refunded).toBeGreaterThan(0);
	ended.push(...asked);
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
	await expectExact(environment, ended);
	await liftPauses(environment, client);
}

test("after a restore of database and engine from an old backup, each order is found on its chain, and nothing is lost or paid twice [I8-9]", () =>
	runStory("both"));

test("after a restore of the database alone from an old backup, nothing is lost, paid twice or stuck", () =>
	runStory("database"));

test("after a restore of the engine alone from an old backup, nothing is lost, paid twice or stuck", () =>
	runStory("engine"));
