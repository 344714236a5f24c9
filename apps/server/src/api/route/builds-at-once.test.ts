import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startOriginScene } from "../../../test/api/origin-scene.ts";
import { openDatabase } from "../../database/database.ts";
import { createApp } from "../http/create-app.ts";
import { ensureAccount } from "../key/accounts.ts";
import { createApiKey } from "../key/api-key.ts";
import { insertApiKeys } from "../key/api-key-record.ts";
import { createApiKeys } from "../key/api-keys.ts";
import { createDelegatedWallets } from "../origin/delegated-wallets.ts";
import { postBuildGeoOp } from "./post-build-geo-op.ts";

const rate = 1_000_000;
const limits = {
	rates: { quote: rate, build: rate, submit: rate, delegation: rate, status: rate, list: rate },
	heldStatusCalls: 50,
};
const unlimited = { limit: rate, remaining: rate, resetSeconds: 1, isAllowed: true };

test("200 concurrent builds wait for database connections, and all of them succeed", async () => {
	const scene = await startOriginScene();
	onTestFinished(() => scene.stop());
	const { owner, url } = scene.database;
	const pepper = "pepper";
	const key = createApiKey({ pepper, random: randomBytes });
	const accountId = await ensureAccount(owner, { id: scene.accountId, name: "test" });
	await insertApiKeys(owner, { keys: [key], accountId });
	const pool = openDatabase({ url, applicationName: "test", max: 2 });
	onTestFinished(() => pool.end());
	const apiKeys = createApiKeys({ db: pool, pepper, limits });
	onTestFinished(() => apiKeys.close());
	const { chains, sealKeys } = scene;
	// The clock stands still, so that no quote expires on a slow machine.
	const startMs = scene.nowMs();
	const nowMs = () => startMs;
	const app = createApp({
		routes: [postBuildGeoOp({ chains, delegated: createDelegatedWallets(), db: pool, sealKeys, nowMs })],
		apiKeys,
		rateLimits: {
			takeForKey: async () => unlimited,
			takeForAddress: () => unlimited,
			refusalOf: () => undefined,
		},
		log: pino({ level: "silent" }),
	});
	onTestFinished(() => app.close());
	await app.listen({ host: "127.0.0.1", port: 0 });
	const { port } = app.server.address() as AddressInfo;

	const wallet = await scene.newWallet({ isDelegated: true });
	const quotes = Array.from({ length: 200 }, () => scene.newQuote(wallet.address));
	const tokens = quotes.map((quote) => scene.seal(quote));
	// Other queries hold the connections for longer than a key is trusted, and than making a connection may take.
	const others = await Promise.all([pool.connect(), pool.connect()]);
	const holding = Promise.all(others.map((other) => other.query("select pg_sleep(6)")));
	const answers = tokens.map(async (geoQuoteToken) => {
		const answer = await fetch(`http://127.0.0.1:${port}/swap/build-geo-op`, {
			method: "POST",
			headers: { "content-type": "application/json", "x-api-key": key.key },
			body: JSON.stringify({ geoQuoteToken }),
		});
		return { status: answer.status, body: answer.status === 200 ? undefined : await answer.json() };
	});
	await holding;
	for (const other of others) other.release();
	expect(new Set(await Promise.all(answers).then((all) => all.map((one) => JSON.stringify(one))))).toEqual(
		new Set([JSON.stringify({ status: 200 })]),
	);
});
