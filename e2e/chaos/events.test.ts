import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isListening, portSource, type ServiceProcess, serviceProcess } from "@geoswap/devnet";
import {
	fromSwapId,
	type SwapEventBody,
	type WebhookResponse,
	type WebhooksResponse,
} from "@geoswap/protocol";
import { type Client, createClient } from "@geoswap/sdk";
import { type StreamedEvent, streamEvents } from "@geoswap/sdk/events";
import { expect, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { planMixedSwap } from "../caller/mixed-swaps.ts";
import { newWalletSwapsThrough } from "../caller/swap-through.ts";
import type { ReceivedLine } from "../caller/webhook-receiver.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import { ownEnvironment } from "../own-environment.ts";
import { killInTurn } from "../trouble/kill-in-turn.ts";
import { type MoodyLink, startMoodyLink } from "../trouble/moody-link.ts";

/** Outside a full run, the pauses between attempts are shorter, and so is the time for which the receiver is gone. */
const { goneMs, webhookPauseSeconds, pauseMs } = process.env.GEOSWAP_FULL
	? { goneMs: 3_600_000, webhookPauseSeconds: { first: 5, longest: 300 }, pauseMs: 30_000 }
	: { goneMs: 20_000, webhookPauseSeconds: { first: 0.1, longest: 5 }, pauseMs: 0 };
const receiverKills = 4;
const cutAfterMs = 1_000;
/** The longest pause with its jitter, and the time to deliver what waits after that. */
const caughtUpWithinMs = webhookPauseSeconds.longest * 1_200 + 120_000;

const environmentOf = ownEnvironment({
	configure: (config) => ({ ...config, events: { webhookPauseSeconds } }),
});

test("a receiver that is killed and down for a long time, and a stream that is cut every second, miss nothing, keep each swap's order and act once", {
	timeout: goneMs + caughtUpWithinMs + 600_000,
}, async ({ onTestFinished }) => {
	const environment = environmentOf();
	const client = await environment.newClient();
	const receiver = await startReceiver(client, { onTestFinished });
	const stream = await followThroughCuts(client, { onTestFinished });

	const swapIds: string[] = [];
	let isOver = false;
	let planned = 0;
	const swapping = Array.from({ length: 4 }, async () => {
		while (!isOver) {
			const plan = await planMixedSwap(environment, planned++);
			swapIds.push((await newWalletSwapsThrough(environment, client, plan)).swap.swapId);
			await sleep(pauseMs);
		}
	});
	// A broken stream of swaps fails the test later. Until then its rejection must not be unhandled.
	const allSwapped = Promise.all(swapping);
	allSwapped.catch(() => {});
	await killInTurn([receiver.process], { times: receiverKills, isDue: () => true });
	receiver.process.kill("SIGKILL");
	await receiver.process.exited();
	// The worker publishes events and delivers webhooks, and the API serves the stream, so both die too.
	const { worker, api } = environment.stack.processes;
	await killInTurn([worker, api], { times: 1, isDue: () => true });
	await sleep(goneMs);
	isOver = true;
	await allSwapped;
	expect(await webhookOf(client)).toMatchObject({ state: "failing", givenUp: 0 });
	await receiver.process.start();
	await expect
		.poll(() => webhookOf(client), { timeout: caughtUpWithinMs, interval: 500 })
		.toMatchObject({ state: "active", waiting: 0, givenUp: 0 });

	const published = await publishedEvents(environment, swapIds[0]);
	const lines = receiver.lines();
	const acted = lines.filter((line) => line.acted).map(({ event }) => event);
	console.log(
		`${swapIds.length} swaps, ${published.length} events; ${lines.length} requests, of which ${lines.length - acted.length} told of a known event; the stream was cut ${stream.link.broken} times`,
	);
	expect(bySwap(published).size).toBeGreaterThanOrEqual(swapIds.length);
	// On a machine that is too busy to open a stream within a second, it would be cut forever.
	stream.link.breaksAfterMs = undefined;
	await expect.poll(() => stream.got.length, { timeout: 120_000 }).toBe(published.length);
	const streamed = stream.got.flatMap((one) => (one.kind === "event" ? [one.event] : []));
	for (const events of [acted, streamed]) {
		expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
		expect(bySwap(events.map(toldOf))).toEqual(bySwap(published));
	}
	// A stream is also in order over all swaps.
	expect(streamed.map(toldOf)).toEqual(published);
	expect(lines.length).toBeGreaterThan(acted.length);
	expect(stream.link.broken).toBeGreaterThan(3);
});

type Finish = { onTestFinished: (stop: () => Promise<void>) => void };
type Told = { swap: string | undefined; status: string; stage: string | undefined };

const toldOf = ({
	data: { swapId, status, stage },
}: {
	data: Pick<SwapEventBody["data"], "swapId" | "status"> & { stage: string };
}): Told => ({
	swap: fromSwapId(swapId),
	status,
	stage,
});
const bySwap = (told: readonly Told[]) => Map.groupBy(told, ({ swap }) => swap);

/** Adds a webhook, and starts the process that it leads to. */
async function startReceiver(
	client: Client,
	{ onTestFinished }: Finish,
): Promise<{ process: ServiceProcess; lines: () => ReceivedLine[] }> {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-receiver-"));
	const ledger = join(folder, "ledger.jsonl");
	const port = await portSource()();
	const added = await callApi(client, "/webhooks", { body: { url: `http://127.0.0.1:${port}/hook` } });
	const { secret } = added.body as WebhookResponse;
	const receiver = serviceProcess({
		name: "receiver",
		command: process.execPath,
		args: [join(import.meta.dirname, "../caller/webhook-receiver.ts"), ledger, String(port)],
		env: { WEBHOOK_SECRET: secret },
		logFile: join(folder, "receiver.log"),
		isReady: () => isListening(port),
	});
	await receiver.start();
	onTestFinished(async () => {
		await receiver.stop();
		rmSync(folder, { recursive: true });
	});
	return {
		process: receiver,
		lines: () =>
			readFileSync(ledger, "utf8")
				.trimEnd()
				.split("\n")
				.map((line) => JSON.parse(line)),
	};
}

/** Follows the account's events by the SDK, over a link whose connections break after a second. */
async function followThroughCuts(
	{ baseUrl, apiKey }: Client,
	{ onTestFinished }: Finish,
): Promise<{ got: StreamedEvent[]; link: MoodyLink }> {
	const port = await portSource()();
	const link = await startMoodyLink({ port, to: Number(new URL(baseUrl).port) });
	link.breaksAfterMs = cutAfterMs;
	const stop = new AbortController();
	const got: StreamedEvent[] = [];
	const following = (async () => {
		const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey });
		for await (const one of streamEvents(client, { after: "0", signal: stop.signal })) got.push(one);
	})();
	onTestFinished(async () => {
		stop.abort();
		await following.catch(() => {});
		await link.stop();
	});
	return { got, link };
}

async function webhookOf(client: Client): Promise<WebhooksResponse["webhooks"][number] | undefined> {
	return ((await callApi(client, "/webhooks")).body as WebhooksResponse).webhooks[0];
}

/** Returns what the service published for the account of a swap, in its order. */
async function publishedEvents(
	{ databaseUrl }: { databaseUrl: string },
	swapId: string | undefined,
): Promise<Told[]> {
	const database = await connectDatabase(databaseUrl);
	try {
		return await database.query<Told>(
			`select swap_id as swap, status, stage from events
			where account_id = (select account_id from swaps where id = $1) order by position`,
			[fromSwapId(swapId ?? "")],
		);
	} finally {
		await database.end();
	}
}
