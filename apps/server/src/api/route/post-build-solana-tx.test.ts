import { solanaKeyVariables } from "@geoswap/devnet";
import {
	buildSolanaResponseSchema,
	emptyAccountRentLamports,
	openTransaction,
	orderId,
	orderSchema,
	packDeadlines,
	type SolanaAddress,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refusalOf } from "../../../test/api/origin-scene.ts";
import {
	type SolanaSubmitScene,
	signTransaction,
	startSolanaSubmitScene,
} from "../../../test/api/solana-submit-scene.ts";
import { solanaKeysOf } from "../../../test/signer/solana-keys-of.ts";
import { readOrders } from "../../chain/solana/program/read-orders.ts";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import { readStatuses } from "../../chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../chain/solana/send/send-raw.ts";
import { coSignOrder } from "../../chain/solana/wallet/co-sign-order.ts";

let scene: SolanaSubmitScene;
beforeAll(async () => {
	scene = await startSolanaSubmitScene();
});
beforeEach(() => scene.reset());
afterAll(() => scene.stop());

test.each(["USDC", "USDT", "SOL"])(
	"a transaction in %s, rebuilt from the readable answer, opens the order with exactly its input",
	async (symbol) => {
		const { chain, solana } = scene;
		const token = addressOf(symbol);
		const inputAmount = 10_000_000n;
		const wallet = await scene.newWallet({ token });
		const quote = scene.newQuote(wallet.address, { inputToken: token });
		const answer = await scene.build(quote);
		const { geoOp, unsignedTransaction } = buildSolanaResponseSchema.parse(answer);

		const order = orderSchema.parse(geoOp.order);
		expect(order).toEqual(quote.terms);
		expect(geoOp.orderId).toBe(orderId(quote.terms));
		const parts = {
			feePayer: geoOp.feePayer as SolanaAddress,
			blockhash: geoOp.blockhash,
			compute: {
				unitLimit: geoOp.compute.unitLimit,
				microLamportsPerUnit: BigInt(geoOp.compute.microLamportsPerUnit),
			},
		};
		const { unsigned, message } = await openTransaction(solana.deployment, order, parts);
		expect(unsignedTransaction).toBe(Buffer.from(unsigned).toString("base64"));
		expect(geoOp.message).toBe(Buffer.from(message).toString("base64"));

		const signed = Buffer.from(await signTransaction(wallet, unsignedTransaction), "base64");
		const keys = await solanaKeysOf(solanaKeyVariables(solana.keys), solana.deployment);
		const feePayerKey = keys.feePayers.find(({ address }) => address === geoOp.feePayer);
		if (!feePayerKey) throw new Error("it is one of the deployment's");
		const { signature, raw } = await coSignOrder({
			deployment: solana.deployment,
			order,
			op: { ...parts, signature: bytesToHex(signed.subarray(65, 129)) },
			feePayerKey,
		});
		await sendRaw(chain, raw);
		await landed(signature);
		const orders = { orderIds: [orderId(order)], commitment: "confirmed" } as const;
		expect(await readOrders(chain, orders)).toMatchObject([{ state: "opened", inputAmount }]);
		const holding = { wallet: wallet.address, token: toSolanaWord(token) };
		expect(await readSolanaWallet(chain, holding)).toMatchObject({ balance: 0n });
	},
);

test("a build expires when its blockhash may die or the quote's op expires, whichever comes first", async () => {
	const wallet = await scene.newWallet();
	const quote = scene.newQuote(wallet.address);
	const minMs = scene.policy.blockhashSeconds.least * 1_000;
	const earliest = scene.nowMs() + minMs;
	const { expiresAt } = await scene.build(quote);
	// A few blocks may come between the two reads.
	expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(earliest - (minMs * 5) / 150);
	expect(Date.parse(expiresAt)).toBeLessThanOrEqual(scene.nowMs() + minMs);
	scene.clock.aheadMs = 29_000;
	const late = await scene.build(quote);
	expect(late.expiresAt).toBe(new Date(quote.opExpiresAtMs).toISOString());
});

test("a build whose blockhash comes from a lagging node expires correspondingly earlier", async () => {
	const { chain } = scene;
	const wallet = await scene.newWallet();
	const behind = await chain.rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
	await scene.solana.admin.warp({ slots: 75 });
	const rpc = new Proxy(chain.rpc, {
		get: (real, method) =>
			method === "getLatestBlockhash" ? () => ({ send: async () => behind }) : Reflect.get(real, method),
	});
	const startMs = scene.nowMs();
	const { expiresAt } = await scene.build(scene.newQuote(wallet.address), {
		route: scene.buildRoute({ ...chain, rpc }),
	});
	const minMs = scene.policy.blockhashSeconds.least * 1_000;
	const lifeMs = Date.parse(expiresAt) - startMs;
	expect(lifeMs).toBeLessThan((minMs * 2) / 3);
	expect(lifeMs).toBeGreaterThan(minMs / 4);
});

test("every build of a quote has the same fee payer, and all fee payers are used across quotes", async () => {
	const wallet = await scene.newWallet();
	const quote = scene.newQuote(wallet.address);
	const [first, again] = [await scene.build(quote), await scene.build(quote)];
	expect(again.geoOp.feePayer).toBe(first.geoOp.feePayer);
	const others = await Promise.all(
		Array.from({ length: 20 }, () => scene.build(scene.newQuote(wallet.address))),
	);
	const feePayers = new Set(others.map(({ geoOp }) => geoOp.feePayer));
	expect([...feePayers].toSorted()).toEqual([...scene.solana.deployment.feePayers].toSorted());
});

test.each([[{ chainId: "never" }], ["text"], [[1]], [null]])(
	"an authorization is ignored, regardless of its content: %j",
	async (authorization) => {
		const wallet = await scene.newWallet();
		await scene.build(scene.newQuote(wallet.address), { authorization });
	},
);

test("a token is accepted only at its own endpoint and from its own account", async () => {
	const wallet = await scene.newWallet();
	const quote = scene.newQuote(wallet.address);
	for (const purpose of ["quote:evm", "op:evm", "op:solana"] as const) {
		const geoQuoteToken = scene.seal(quote, { purpose });
		expect(await refusalOf(scene.call(scene.buildRoute(), { geoQuoteToken }))).toEqual({
			code: "INVALID_TOKEN",
			details: { reason: "wrong_endpoint", endpoint: expect.stringMatching(/^POST \/swap\//) },
		});
	}
	const geoQuoteToken = scene.seal(quote, { to: "another" });
	expect(await refusalOf(scene.call(scene.buildRoute(), { geoQuoteToken }))).toMatchObject({
		details: { reason: "other_account" },
	});
	expect(await refusalOf(scene.call(scene.buildRoute(), {}))).toMatchObject({ code: "INVALID_REQUEST" });
});

test("an expired quote cannot be built", async () => {
	const wallet = await scene.newWallet();
	const quote = scene.newQuote(wallet.address);
	scene.clock.aheadMs = 30_001;
	expect(await refusalOf(scene.build(quote))).toEqual({
		code: "QUOTE_EXPIRED",
		details: { expiredAt: new Date(quote.expiresAtMs).toISOString() },
	});
});

test("a wallet that holds less than the input, or nothing, is refused with its balance", async () => {
	const [poor, stranger] = [await scene.newWallet({ amount: 9_999_999n }), await generateKeyPairSigner()];
	expect(await refusalOf(scene.build(scene.newQuote(poor.address)))).toEqual({
		code: "INSUFFICIENT_BALANCE",
		details: { balance: "9999999", required: "10000000" },
	});
	expect(await refusalOf(scene.build(scene.newQuote(stranger.address)))).toMatchObject({
		code: "INSUFFICIENT_BALANCE",
		details: { balance: "0" },
	});
});

test("a build leaves a wallet's account with no SOL or with at least its rent", async () => {
	const lamports = 5_000_000n;
	const wallet = await scene.newWallet({ token: solanaNativeToken, amount: lamports });
	const build = (inputAmount: bigint) =>
		scene.build(scene.newQuote(wallet.address, { inputToken: solanaNativeToken, inputAmount }));
	await build(lamports);
	await build(lamports - emptyAccountRentLamports);
	for (const left of [1n, emptyAccountRentLamports - 1n]) {
		const error = await build(lamports - left).catch((thrown: Error) => thrown);
		expect(error).toMatchObject({
			code: "INSUFFICIENT_BALANCE",
			details: {
				balance: String(lamports),
				required: String(lamports - left + emptyAccountRentLamports),
			},
		});
		expect((error as Error).message).toContain("at least 890880 lamports");
	}
	expect(await refusalOf(build(lamports + 1n))).toMatchObject({ code: "INSUFFICIENT_BALANCE" });
});

test("a transaction that would fail is not returned for signing", async () => {
	const wallet = await scene.newWallet();
	const past = packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n });
	const quote = scene.newQuote(wallet.address, { change: { deadlines: past } });
	expect(await refusalOf(scene.build(quote))).toMatchObject({
		code: "SIMULATION_FAILED",
		details: { reason: expect.stringContaining("instruction 2") },
	});
});

test("a chain that does not respond is unavailable, and one that is no longer offered has no route", async () => {
	const wallet = await scene.newWallet();
	const quote = scene.newQuote(wallet.address);
	const dead = scene.build(quote, { route: scene.buildRoute(scene.deadChain) });
	expect(await refusalOf(dead)).toMatchObject({ code: "UPSTREAM_UNAVAILABLE" });
	const gone = scene.call(scene.routesWithoutSolana().build, { geoQuoteToken: scene.seal(quote) });
	expect(await refusalOf(gone)).toEqual({ code: "NO_ROUTE", details: { reason: "chain" } });
});

function addressOf(symbol: string): SolanaAddress {
	const asset = scene.solana.deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`no asset ${symbol}`);
	return asset.address;
}

async function landed(signature: Hex): Promise<void> {
	await expect
		.poll(async () => (await readStatuses(scene.chain, [signature]))[0], { timeout: 10_000 })
		.toMatchObject({ isFailed: false });
}
