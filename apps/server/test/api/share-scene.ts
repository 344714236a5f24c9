import { randomBytes, randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { receiptTypedData, SwapError, type SwapUuid, toSwapId } from "@geoswap/protocol";
import { pino } from "pino";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createEventFeed } from "../../src/api/event/create-event-feed.ts";
import { createApp } from "../../src/api/http/create-app.ts";
import { createHeldCalls } from "../../src/api/key/held-calls.ts";
import { createRateLimits } from "../../src/api/key/rate-limits.ts";
import { getStatus } from "../../src/api/route/get-status.ts";
import {
	deleteShare,
	getShareEvents,
	getSharePage,
	getShareReceipt,
	postShare,
} from "../../src/api/route/shares.ts";
import { createReceipts } from "../../src/api/status/create-receipts.ts";
import { swapAnswer } from "../../src/api/status/swap-answer.ts";
import { createSwapListener } from "../../src/api/status/swap-listener.ts";
import { createChainNames } from "../../src/config/chain-names.ts";
import { createExplorerPages } from "../../src/config/explorer-pages.ts";
import { finalitySecondsOf } from "../../src/config/finality-seconds.ts";
import { openDatabase } from "../../src/database/database.ts";
import { publishEvents } from "../../src/swap/event/publish-events.ts";
import { chainPaces } from "../../src/swap/record/stuck-swaps.ts";
import { createConsoleScene } from "../console/console-scene.ts";

const rates = { quote: 1, build: 1, submit: 1, delegation: 1, status: 1_000, list: 1_000 };
const noRedis = { run: async () => undefined, close: () => {} };

/**
 * Creates a database with swaps in every state, and an API over it, with the API's own rights, that serves shared
 * pages. Each API key is the id of its account.
 */
export async function createShareScene({
	perKey = 100,
	unauthenticatedPerSecond = 1_000,
	publicUrl,
	random = randomBytes,
}: {
	perKey?: number;
	unauthenticatedPerSecond?: number;
	publicUrl?: string;
	random?: (bytes: number) => Uint8Array;
} = {}) {
	const scene = await createConsoleScene();
	const logged: string[] = [];
	const { database, config } = scene;
	const db = database.pools.api;
	const answerParts = { finalitySeconds: finalitySecondsOf(config), explorers: createExplorerPages(config) };
	const shareDb = openDatabase({ url: database.urls.api, applicationName: "share pages", max: 3 });
	const feed = createEventFeed({
		db: shareDb,
		statusOf: (swap) => swapAnswer(swap, answerParts),
		pollMs: 20,
	});
	const key = privateKeyToAccount(generatePrivateKey());
	const receipts = createReceipts({
		address: key.address,
		sign: (message) => key.signTypedData(receiptTypedData(message)),
	});
	const limits = { perKey, perProcess: 1_000 };
	const heldStreams = createHeldCalls({ redis: noRedis });
	const rateLimits = createRateLimits({ redis: noRedis, unauthenticatedPerSecond });
	const listener = createSwapListener({ url: database.urls.api, db });
	const app = createApp({
		routes: [
			postShare({ db, publicUrl, random }),
			deleteShare({ db }),
			getSharePage({
				db: shareDb,
				chainNames: createChainNames(config),
				paces: chainPaces(config),
				hasReceipts: true,
				...answerParts,
				nowMs: Date.now,
			}),
			getShareEvents({ db: shareDb, feed, heldStreams, limits, random: () => 0 }),
			getShareReceipt({ db: shareDb, receipts }),
			getStatus({
				db,
				listener,
				heldCalls: createHeldCalls({ redis: noRedis }),
				rateLimits,
				...answerParts,
			}),
		],
		apiKeys: {
			async authenticate(apiKey) {
				if (!apiKey?.includes("-")) throw new SwapError("UNAUTHORIZED", undefined);
				return {
					accountId: apiKey,
					accountCreatedAt: new Date(0),
					keyId: apiKey,
					limits: { rates, heldStatusCalls: 50 },
				};
			},
		},
		rateLimits,
		log: pino({ level: "trace" }, { write: (line: string) => logged.push(line) }),
		random: () => 0,
	});
	await app.listen({ host: "127.0.0.1", port: 0 });
	const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

	async function accountOf(id: SwapUuid): Promise<string> {
		const { rows } = await database.owner.query("select account_id from swaps where id = $1", [id]);
		return rows[0].account_id;
	}

	/** Sends a request about a swap's links, by default with a key of its account. */
	async function ask(method: "POST" | "DELETE", id: SwapUuid, { apiKey = "" } = {}): Promise<Response> {
		return fetch(`${baseUrl}/swaps/${toSwapId(id)}/share`, {
			method,
			headers: {
				"x-api-key": apiKey || (await accountOf(id)),
				...(method === "POST" && { "content-type": "application/json" }),
			},
			...(method === "POST" && { body: "{}" }),
		});
	}

	return {
		...scene,
		baseUrl,
		accountOf,
		/** The pool of the pages. */
		shareDb,
		/** Everything that the API has logged. */
		logged,
		stranger: randomUUID(),
		ask,
		/** Returns the path of a new link to a swap. */
		share: async (id: SwapUuid): Promise<string> => {
			const { token } = (await (await ask("POST", id)).json()) as { token: string };
			return `/s/${token}`;
		},
		/** Publishes what happened to swaps, as a worker does. */
		publish: () => publishEvents(database.pools.worker),
		/** Ages a swap by hours, with the step that a round last found it at. */
		forget: async (id: SwapUuid, fact: string) => {
			const { owner } = database;
			const ago = "now() - interval '3 hours'";
			await owner.query(`update swaps set updated_at = ${ago}, created_at = ${ago} where id = $1`, [id]);
			await owner.query("update waits set fact = $2 where swap_id = $1", [id, fact]);
		},
		stop: async () => {
			await app.close();
			feed.close();
			await listener.close();
			await shareDb.end();
			await scene.stop();
		},
	};
}

export type ShareScene = Awaited<ReturnType<typeof createShareScene>>;
