import { expect, test } from "vitest";
import { countStatuses, type EndedAnyPlan, planMixedSwap } from "../../caller/mixed-swaps.ts";
import { newWalletSwapsThrough, type TimedSwap } from "../../caller/swap-through.ts";
import { isSolanaChain } from "../../chain/holding.ts";
import type { OwnEnvironment } from "../../environment/environment.ts";
import { expectBooksExact } from "../../expect/expect-books-exact.ts";
import { expectExact } from "../../expect/expect-exact.ts";
import { payersMoney } from "../../expect/payers-money.ts";
import { percentile } from "../../measure/percentile.ts";
import { killInTurn } from "../../trouble/kill-in-turn.ts";
import { troubleSolana } from "../../trouble/trouble-solana.ts";

/** Every other swap has Solana on one side or on both. */
const { swapCount, killsEach, streamCount } = process.env.GEOSWAP_FULL
	? { swapCount: 600, killsEach: 20, streamCount: 20 }
	: { swapCount: 30, killsEach: 2, streamCount: 15 };

/** Time until the last deadline of a swap that no process could work on is final, with some time to report it. */
const decidedWithinMs = 240_000;

/** Returns the times from submit to the final answer, and the failures, by route. */
function byRoute(swaps: readonly TimedSwap[]) {
	const routeOf = ({ from, to }: TimedSwap) =>
		[from, to].map(({ chain }) => (isSolanaChain(chain) ? "Solana" : "EVM")).join(" to ");
	return Object.fromEntries(
		[...Map.groupBy(swaps, routeOf)].map(([route, own]) => {
			const times = own.map(({ decidedMs }) => Math.round(decidedMs));
			const failures = own.flatMap(({ swap }) => swap.failure?.code ?? []).join(" ");
			return [route, { swaps: own.length, p50: percentile(times, 50), p95: percentile(times, 95), failures }];
		}),
	);
}

/** Processes of the whole service are killed while wallets swap. Adds its swaps to those that ended on the stack. */
export function kills(environmentOf: () => OwnEnvironment, ended: EndedAnyPlan[]): void {
	test("repeated kill -9 of API, worker, engine and attesters loses no swap on any chain and pays none twice [I8-9, D-submit-14]", async () => {
		const environment = environmentOf();
		const client = await environment.newClient();
		const payersHad = await payersMoney(environment);
		const { api, worker, restate, attesters } = environment.stack.processes;

		let planned = 0;
		let isKilling = true;
		// The kills are spread over all swaps, so that they also affect the last ones.
		const kills = { times: killsEach, isDue: (round: number) => planned >= (swapCount * round) / killsEach };
		const killing = Promise.all([
			killInTurn([worker, restate, api], kills),
			killInTurn(attesters, kills),
		]).finally(() => {
			isKilling = false;
		});
		const troubling = troubleSolana(environment.solana, { isOver: () => !isKilling });
		const swapping = Array.from({ length: streamCount }, async () => {
			const done: TimedSwap[] = [];
			while (isKilling || planned < swapCount) {
				const plan = await planMixedSwap(environment, planned++);
				const swapping = newWalletSwapsThrough(environment, client, plan);
				// The swaps of a stream that broke are never awaited.
				swapping.catch(() => {
					planned = swapCount;
				});
				done.push(await swapping);
			}
			return done;
		});
		await Promise.all([killing, troubling]);
		const lastKillAt = performance.now();
		const swaps = (await Promise.all(swapping)).flat();
		const decidedAfterMs = performance.now() - lastKillAt;
		const statuses = countStatuses(swaps);
		console.log(
			`${swaps.length} swaps, each process killed ${killsEach} times; all decided ${Math.round(decidedAfterMs)} ms after the last kill:`,
			statuses,
		);
		console.table(byRoute(swaps));
		expect(decidedAfterMs).toBeLessThan(decidedWithinMs);
		expect(swaps.length).toBeGreaterThanOrEqual(swapCount);
		expect(statuses.settled).toBeGreaterThan(0);
		await expectBooksExact(environment, { withinMs: decidedWithinMs });
		ended.push(...swaps);
		await expectExact(environment, ended);
		expect(await payersMoney(environment)).toEqual(payersHad);
	});
}
