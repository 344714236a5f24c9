import { serverCommand } from "@geoswap/devnet";
import { expect } from "vitest";
import { expectAllEnded } from "../expect/expect-all-ended.ts";
import type { BadDay } from "./bad-day.ts";
import type { BadDaysStack } from "./bad-days-stack.ts";
import { keepSwapping } from "./keep-swapping.ts";
import { openRunbook } from "./open-runbook.ts";
import { recordDay } from "./record-day.ts";

/** Time for anything on a busy machine. The measured times are in the record. */
const patience = { timeout: 900_000, interval: 500 };

/**
 * Lives through a bad day. While callers swap, something breaks, the alert fires, its page is followed, swaps of every
 * route settle again, no wallet or recipient lacks anything, and the books are clean.
 */
export async function liveThrough(stack: BadDaysStack, day: BadDay): Promise<void> {
	const { environment, prometheus } = stack;
	const { name, how, alert, labels = {} } = day;
	const isFiring = async () =>
		(await prometheus.firing()).some(
			(firing) =>
				firing.alertname === alert &&
				Object.entries(labels).every(([label, value]) => firing[label] === value),
		);
	const { serverEnvironment } = environment;
	const page = openRunbook(alert, {
		dataDir: stack.dataDir,
		serverEnvironment,
		prometheusUrl: prometheus.url,
	});
	const startedAt = Date.now();
	const traffic = await keepSwapping(environment);
	await expect.poll(() => traffic.haveAllSettledSince(startedAt), patience).toBe(true);
	expect(await isFiring(), `${alert} fires on a good day`).toBe(false);

	const brokenAt = Date.now();
	await day.break();
	await expect.poll(isFiring, patience).toBe(true);
	const alarmedAt = Date.now();
	await day.follow(page);
	await expect.poll(() => day.isOver(), patience).toBe(true);
	const mendedAt = Date.now();
	await expect.poll(() => traffic.haveAllSettledSince(alarmedAt), patience).toBe(true);
	const recoveredAt = Date.now();
	if (!day.lingers) await expect.poll(isFiring, patience).toBe(false);

	expect(await traffic.stop()).toEqual([]);
	await expectAllEnded(environment, { withinMs: patience.timeout });
	recordDay({
		name,
		how,
		alert,
		secondsToAlarm: seconds(alarmedAt - brokenAt),
		secondsToRecover: seconds(Math.max(mendedAt, recoveredAt) - alarmedAt),
		swaps: traffic.swaps(),
		refusals: traffic.refusals(),
		lostUsd: await (day.acceptedLossUsd?.() ?? expectBooksClean(serverEnvironment)),
	});
}

/** Expects every invariant to hold, and returns the loss that the audit reports. */
async function expectBooksClean(serverEnvironment: Record<string, string>): Promise<number> {
	// Throws unless the command exits with 0.
	const printed = await serverCommand(serverEnvironment, ["reconcile", "--json"]);
	const { lostUsdCents, ...report } = JSON.parse(printed) as { lostUsdCents: Record<string, string> };
	expect(report).toMatchObject({ ok: true, breaches: [], unchecked: [] });
	return Object.values(lostUsdCents).reduce((sum, cents) => sum + Number(cents), 0) / 100;
}

function seconds(ms: number): number {
	return Math.round(ms / 100) / 10;
}
