import { setTimeout as sleep } from "node:timers/promises";
import {
	type BuildResponse,
	type BuildSolanaResponse,
	orderDigest,
	orderSchema,
	unpackDeadlines,
} from "@geoswap/protocol";
import { verifyAndSignSolana } from "@geoswap/sdk/solana";
import { getBase64Encoder, getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit";
import { hashTypedData, type TypedDataDefinition } from "viem";
import { beforeAll, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { solanaSteps, tenUsdc } from "../caller/solana-caller.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { delegateWallet } from "../wallet/delegate-wallet.ts";

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const tokenBytes = 8 * 1024;

let environment: Environment;
let client: Environment["client"];
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

test.concurrent("a build from an EVM chain has a 32-byte hash that follows from its readable op, and expires 30 s before the open deadline or earlier [I1-5, I2.1-4, I2.3-1, I2.3-2, I3-10, I4-2, I4-7, I8-4, D-build-17, D-build-19, D-conventions-17, D-conventions-19]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: tenUsdc });
	await delegateWallet(origin, account);
	const from = { chain: origin, token: "USDC", amount: tenUsdc };
	const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
	const quoted = await callApi(client, "/swap/quote", { body: intent });
	const { geoQuoteToken, expiresAt: quoteExpiresAt } = quoted.body as Record<string, string>;
	const { status, headers, body } = await callApi(client, "/swap/build-geo-op", { body: { geoQuoteToken } });
	expect(status).toBe(200);
	expect(headers["content-type"]).toMatch(/^application\/json\b/);
	expect(body).toMatchObject({
		geoOpHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
		geoOpToken: expect.stringMatching(/./),
		expiresAt: expect.stringMatching(time),
	});
	const { geoOp, geoOpHash, geoOpToken, expiresAt } = body as BuildResponse;
	const order = orderSchema.parse(geoOp.order);
	expect(orderDigest(order)).toBe(geoOpHash);
	// Numbers are decimal strings in JSON, which is how `eth_signTypedData_v4` takes them.
	expect(hashTypedData(geoOp.typedData as unknown as TypedDataDefinition)).toBe(geoOpHash);
	expect(order.inputAmount).toBe(tenUsdc);

	const openDeadlineMs = Number(unpackDeadlines(order.deadlines).openDeadline) * 1_000;
	expect(Date.parse(expiresAt)).toBeLessThanOrEqual(openDeadlineMs - 30_000);
	const issuedMs = Date.parse(String(quoteExpiresAt)) - 30_000;
	expect(Date.parse(expiresAt)).toBeLessThanOrEqual(issuedMs + 90_000);
	for (const token of [geoQuoteToken, geoOpToken])
		expect(String(token).length).toBeLessThanOrEqual(tokenBytes);
});

test.concurrent("a build from Solana is an unsigned version 0 transaction that follows from its readable op, and expires while its blockhash is valid [I1-6, I2.3-3, I2.3-4, I3-10, I4-2, D-build-18, D-build-20, D-conventions-17, D-conventions-19]", async ({
	expect,
}) => {
	const { solana, deployment: pins } = environment;
	const steps = solanaSteps(environment, client);
	const signer = await solana.newWallet({ usdc: tenUsdc });
	const intent = steps.intent(signer);
	const quoted = await callApi(client, "/swap/quote", { body: intent });
	const quote = quoted.body as { geoQuoteToken: string };
	const { status, headers, body } = await steps.build(quote);
	expect(status).toBe(200);
	expect(headers["content-type"]).toMatch(/^application\/json\b/);
	const build = body as BuildSolanaResponse;
	const { unsignedTransaction, geoOpToken, expiresAt, geoOp } = build;
	const { messageBytes, signatures } = getTransactionDecoder().decode(
		getBase64Encoder().encode(unsignedTransaction),
	);
	expect(Object.values(signatures)).toEqual([null, null]);
	expect(signatures).toHaveProperty(signer.address);
	expect(getCompiledTransactionMessageDecoder().decode(messageBytes).version).toBe(0);
	expect(expiresAt).toMatch(time);
	for (const token of [quote.geoQuoteToken, geoOpToken]) expect(token.length).toBeLessThanOrEqual(tokenBytes);
	// This rebuilds the transaction from the readable fields, and throws unless it is the same to the byte.
	const signed = await verifyAndSignSolana({ intent, quote: quoted.body as never, build, pins, signer });
	expect(signed).not.toBe(unsignedTransaction);

	const lives = async () => (await solana.rpc.isBlockhashValid(geoOp.blockhash as never).send()).value;
	await sleep(Math.max(0, Date.parse(expiresAt) - Date.now()));
	expect(await lives()).toBe(true);
});
