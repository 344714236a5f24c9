import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { forgedIdentity, forgedInvocation, forgeEngineCall } from "@geoswap/devnet";
import { fromSwapId } from "@geoswap/protocol";
import { erc20Abi, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const callsToWorker = 700;
const callsToOthers = 300;
/** Number of concurrent calls that one connection takes. */
const atOnce = 50;

let environment: Environment;
let database: DatabaseConnection;
let session: ClientHttp2Session;
let ports: { worker: string; identityKey: string; attesters: string[] };

beforeAll(async () => {
	environment = sharedEnvironment();
	database = await connectDatabase(environment.databaseUrl);
	const { worker, restate, attesters } = JSON.parse(
		readFileSync(environment.serverEnvironment.GEOSWAP_CONFIG ?? "", "utf8"),
	);
	ports = {
		worker: `http://127.0.0.1:${worker.port}`,
		identityKey: restate.identityKeys[0],
		attesters: attesters.map(({ url }: { url: string }) => url),
	};
	session = connect(ports.worker);
});
afterAll(async () => {
	session.destroy();
	await database.end();
});

const paths = [
	"/invoke/round/run",
	"/invoke/lane/run",
	"/invoke/attestation/run",
	"/invoke/crossCheck/run",
	"/discover",
	"/serdes/round/decode/0",
];

/**
 * Returns ways to claim to be the engine: no header, the word `unsigned`, a third party's signature, an unsigned token,
 * a signature that names another key, and junk.
 */
function forgedHeaders(path: string): Record<string, string>[] {
	const { identityKey } = ports;
	const scheme = { "x-restate-signature-scheme": "v1" };
	return [
		{},
		{ "x-restate-signature-scheme": "unsigned" },
		forgedIdentity({ path, identityKey }),
		forgedIdentity({ path, identityKey, algorithm: "none" }),
		forgedIdentity({ path, identityKey: "publickeyv1_US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx" }),
		scheme,
		{ ...scheme, "x-restate-jwt-v1": "a.b.c" },
	];
}

test("a thousand forged engine calls to all ports of the service are refused and have no effect", async () => {
	const { origin, destination, client, deployment: pins, baseUrl, metricsUrls } = environment;
	const recipient = privateKeyToAddress(generatePrivateKey());
	const amount = parseUnits("10", 6);
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: 2n * amount });
	const way = { from: { chain: origin, token: "USDC", amount }, to: { chain: destination, token: "USDC" } };
	const caller = { client, pins, account };
	const { swap: honest } = await doSwap(caller, swapIntent({ ...way, account, recipient }));
	expect(honest.status).toBe("settled");
	const uuid = fromSwapId(honest.swapId);
	if (!uuid) throw new Error(`${honest.swapId} is no id`);
	const traces = async () => ({
		received: await destination.publicClient.readContract({
			address: assetAddress(destination, "USDC"),
			abi: erc20Abi,
			functionName: "balanceOf",
			args: [recipient],
		}),
		signed: await database.query("select count(*) from lane_transactions where jobs @> $1", [
			JSON.stringify([{ swapId: uuid, kind: "fill" }]),
		]),
	});
	const before = await traces();

	const relayer = privateKeyToAddress(environment.keys.relayers[0] ?? "0x");
	const bodies = (i: number) =>
		[
			forgedInvocation({ key: uuid }),
			forgedInvocation({ key: "0" }),
			forgedInvocation({ key: `${destination.chainId}:${relayer}` }),
			Buffer.from("junk"),
			new Uint8Array(),
		][i % 5];
	const statuses: (number | undefined)[] = [];
	for (let from = 0; from < callsToWorker; from += atOnce) {
		const calls = Array.from({ length: atOnce }, (_, n) => {
			const i = from + n;
			const path = paths[i % paths.length] ?? "/";
			const ways = forgedHeaders(path);
			const headers = ways[Math.floor(i / paths.length) % ways.length] ?? {};
			return forgeEngineCall(session, {
				path,
				headers,
				body: bodies(Math.floor(i / 42)) ?? new Uint8Array(),
			});
		});
		statuses.push(...(await Promise.all(calls)).map(({ status }) => status));
	}
	expect(statuses).toHaveLength(callsToWorker);
	expect(new Set(statuses)).toEqual(new Set([401]));

	// The calls have a key. Without one they would use up the rate of this address, which all tests share.
	const apiKey = await environment.newKey();
	const { api, worker, audit } = metricsUrls;
	const others = [baseUrl, ...ports.attesters, api, worker, audit].map((url) => new URL(url).origin);
	const answers: number[] = [];
	for (let from = 0; from < callsToOthers; from += atOnce) {
		const calls = Array.from({ length: atOnce }, async (_, n) => {
			const i = from + n;
			const path = paths[i % paths.length] ?? "/";
			const ways = forgedHeaders(path);
			const response = await fetch(`${others[i % others.length]}${path}`, {
				method: "POST",
				headers: {
					"content-type": "application/vnd.restate.invocation.v5",
					"x-api-key": apiKey,
					// The server may close a kept-alive connection just as the next call is sent on it.
					connection: "close",
					...ways[Math.floor(i / paths.length) % ways.length],
				},
				body: new Uint8Array(bodies(i) ?? []),
			});
			await response.arrayBuffer();
			return response.status;
		});
		answers.push(...(await Promise.all(calls)));
	}
	expect(answers).toHaveLength(callsToOthers);
	expect(answers.filter((status) => status < 400 || status >= 500)).toEqual([]);

	// The service still works, and has done nothing but honest swaps.
	const { swap: next } = await doSwap(caller, swapIntent({ ...way, account }));
	expect(next.status).toBe("settled");
	expect(await traces()).toEqual(before);
	const unopened = `not exists (select from chain_events opened
		where opened.name = 'Opened' and opened.order_id = filled.order_id)`;
	expect(
		await database.query(`select from chain_events filled where name = 'Filled' and ${unopened}`),
	).toEqual([]);
});
