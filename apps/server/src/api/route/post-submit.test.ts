import { setTimeout as sleep } from "node:timers/promises";
import { startTestSolana } from "@geoswap/devnet";
import {
	fromSwapId,
	fromWord,
	orderToJson,
	orderTypedData,
	type SwapUuid,
	solanaChainId,
	submitResponseSchema,
	toSolanaWord,
	toSwapId,
} from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import {
	getAddress,
	type Hex,
	hexToBytes,
	parseSignature,
	serializeCompactSignature,
	signatureToCompactSignature,
} from "viem";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { fundEther, refusalOf, sealKeyRotatesAfterMs } from "../../../test/api/origin-scene.ts";
import { type SubmitScene, startSubmitScene } from "../../../test/api/submit-scene.ts";
import { giveAccountAway } from "../../../test/solana/give-account-away.ts";
import { connectSolana, type SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readSwap } from "../../swap/record/read-swap.ts";

let scene: SubmitScene;
beforeAll(async () => {
	scene = await startSubmitScene();
});
afterAll(() => scene.stop());
beforeEach(() => scene.reset());

test("a swap quoted with a discount is repriced with the discounted fee and keeps it", async () => {
	const wallet = await scene.newWallet();
	const discounted = { ...scene.newQuote(wallet.address), feeMillibps: 11_250 };
	const { quote, built, signature } = await scene.signedOp(wallet, await scene.authorize(wallet), discounted);
	await scene.submit(built, signature);
	expect(scene.repricedFees.at(-1)).toBe(11_250);
	expect(await readSwap(scene.database.pool, quote.uuid)).toMatchObject({ feeMillibps: 11_250 });
});

test("an order for contracts that were replaced since its quote is refused, unless it is open already", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { quote, built, signature } = await scene.signedOp(wallet);
	const { origin, destination } = scene.testChains;
	const later = getAddress(`0x${"12".repeat(20)}`);
	for (const [chain, contract] of [
		[origin, "escrow"],
		[origin, "vault"],
		[destination, "vault"],
	] as const) {
		scene.knobs.replaced = new Map([[chain.chainId, { [contract]: later }]]);
		expect(await refusalOf(scene.submit(built, signature))).toEqual({
			code: "SIMULATION_FAILED",
			details: { reason: "the service's contracts were replaced since the quote" },
		});
	}
	expect(await readSwap(scene.database.pool, quote.uuid)).toBeUndefined();
	await scene.land(signature, { quote });
	expect(await scene.submit(built, signature)).toMatchObject({ status: "pending" });
});

test("a swap of a wallet or recipient that was denied since its quote is refused, and a silent list refuses all", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { quote, built, signature } = await scene.signedOp(wallet);
	const [from, to] = [quote.terms.wallet, quote.terms.recipient].map((word) => fromWord(word).toLowerCase());
	if (!from || !to) throw new Error("an order has both");
	const submit = () => scene.submit(built, signature);
	scene.knobs.denied = new Map([[to, true]]);
	const side = from === to ? "origin" : "destination";
	expect(await refusalOf(submit())).toEqual({ code: "NO_ROUTE", details: { reason: "denied", side } });
	scene.knobs.denied = new Map([[from, true]]);
	expect(await refusalOf(submit())).toEqual({
		code: "NO_ROUTE",
		details: { reason: "denied", side: "origin" },
	});
	scene.knobs.denied = new Map([[to, undefined]]);
	expect(await refusalOf(submit())).toEqual({
		code: "UPSTREAM_UNAVAILABLE",
		details: { upstream: "deny list", retryAfterSeconds: 2 },
	});
	expect(await scene.swapCount()).toBe(0);
	scene.knobs.denied = new Map();
	const answer = await submit();
	// A repeated submit returns the swap, whatever the list says by now.
	scene.knobs.denied = new Map([[from, true]]);
	expect(await submit()).toEqual(answer);
});

test("an order that is already open is accepted although its wallet is denied, since only a swap can refund it", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { quote, built, signature } = await scene.signedOp(wallet);
	scene.knobs.denied = new Map([[wallet.address.toLowerCase(), true]]);
	await scene.land(signature, { quote });
	expect(await scene.submit(built, signature)).toMatchObject({ status: "pending" });
});

test("a signed op becomes a pending swap with its reservation, and a round is poked", async () => {
	const wallet = await scene.newWallet();
	const { quote, built, signature } = await scene.signedOp(wallet, await scene.authorize(wallet));
	const answer = submitResponseSchema.parse(await scene.submit(built, signature));
	expect(answer).toEqual({ swapId: toSwapId(quote.uuid), status: "pending" });
	expect(scene.poked()).toEqual(["round 0"]);
	expect(await readSwap(scene.database.pool, quote.uuid)).toMatchObject({
		accountId: scene.accountId,
		order: quote.terms,
		output: quote.output,
		delivery: quote.delivery,
		op: {
			signature,
			signatureKind: "personal",
			gas: expect.any(BigInt),
			delegate: built.geoOp.delegate,
			authorization: { nonce: 0 },
		},
		stage: "opening",
		givingUp: undefined,
	});
	const { rows } = await scene.database.owner.query("select sum(amount) as amount from reservations");
	expect(rows).toEqual([{ amount: 9_950_000n }]);
});

test("a compact signature without 0x is accepted, and stored in the form that contracts take", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { quote, built, signature } = await scene.signedOp(wallet);
	const { r, s, yParity } = parseSignature(signature);
	const compact = signatureToCompactSignature({ r, s, yParity: yParity === 1 ? 1 : 0 });
	await scene.submit(built, serializeCompactSignature(compact).slice(2));
	expect((await readSwap(scene.database.pool, quote.uuid))?.op?.signature).toBe(signature);
});

test("a signature of the typed data is accepted from either delegate, and stored with its kind", async () => {
	for (const delegate of ["delegate", "typedDelegate"] as const) {
		const target = scene.origin.deployment.contracts[delegate];
		const wallet = await scene.newWallet({ isDelegated: true, delegate: target });
		const { quote, built } = await scene.signedOp(wallet);
		const signature = await wallet.signTypedData(orderTypedData(quote.terms));
		await scene.submit(built, signature, delegate === "delegate" ? {} : { signatureKind: "typed" });
		expect((await readSwap(scene.database.pool, quote.uuid))?.op).toEqual({
			delegate: target,
			gas: expect.any(BigInt),
			signatureKind: "typed",
			signature,
		});
	}
});

test("a personal_sign for a typed-data-only account is refused, and so is any signature that is not of the named kind, and the error names the kind", async () => {
	const { typedDelegate } = scene.origin.deployment.contracts;
	const careful = await scene.newWallet({ isDelegated: true, delegate: typedDelegate });
	const { built, signature } = await scene.signedOp(careful);
	for (const signatureKind of [undefined, "typed", "personal"] as const) {
		const given = signatureKind ? { signatureKind } : {};
		expect(await refusalOf(scene.submit(built, signature, given))).toMatchObject({
			code: "INVALID_SIGNATURE",
			details: { expected: careful.address, looksLike: "personal_sign" },
		});
	}
	const wallet = await scene.newWallet({ isDelegated: true });
	const plain = await scene.signedOp(wallet);
	const typed = await wallet.signTypedData(orderTypedData(plain.quote.terms));
	for (const [given, signatureKind, looksLike] of [
		[plain.signature, "typed", "personal_sign"],
		[typed, "personal", "typed_data"],
	] as const) {
		expect(await refusalOf(scene.submit(plain.built, given, { signatureKind }))).toMatchObject({
			code: "INVALID_SIGNATURE",
			details: { looksLike },
		});
	}
	expect(await scene.swapCount()).toBe(0);
	await scene.submit(plain.built, plain.signature, { signatureKind: "personal" });
	expect(await scene.swapCount()).toBe(1);
});

test("a first swap that delegates the wallet to the account for typed data only needs a typed signature", async () => {
	const { typedDelegate } = scene.origin.deployment.contracts;
	const wallet = await scene.newWallet();
	const authorization = await scene.authorize(wallet, { address: typedDelegate });
	const { quote, built, signature } = await scene.signedOp(wallet, authorization);
	expect(await refusalOf(scene.submit(built, signature))).toMatchObject({
		code: "INVALID_SIGNATURE",
		details: { looksLike: "personal_sign" },
	});
	await scene.submit(built, await wallet.signTypedData(orderTypedData(quote.terms)));
	expect(await readSwap(scene.database.pool, quote.uuid)).toMatchObject({
		op: { delegate: typedDelegate, signatureKind: "typed", authorization: { nonce: 0 } },
	});
});

test("a signature that is malformed, or not made by the wallet over the hash, creates no swap", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built } = await scene.signedOp(wallet);
	expect(await refusalOf(scene.submit(built, "0x12"))).toMatchObject({ code: "INVALID_REQUEST" });
	const overText = await wallet.signMessage({ message: built.geoOpHash });
	expect(await refusalOf(scene.submit(built, overText))).toMatchObject({
		code: "INVALID_SIGNATURE",
		details: { expected: wallet.address, looksLike: "hex_text" },
	});
	expect(await scene.swapCount()).toBe(0);
});

test("40 concurrent submits of one quote, from two builds, create one swap and poke one round", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { quote, built, signature } = await scene.signedOp(wallet);
	const again = await scene.build(quote);
	const answers = await Promise.all(
		Array.from({ length: 40 }, (_, i) => scene.submit(i % 2 ? built : again, signature)),
	);
	expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
		new Set([JSON.stringify({ swapId: toSwapId(quote.uuid), status: "pending" })]),
	);
	expect(scene.poked()).toEqual(["round 0"]);
	expect(await scene.swapCount()).toBe(1);
});

test("a replay returns the swap's current status, even after expiry, without a request to the chain", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	const { swapId } = await scene.submit(built, signature);
	await scene.database.owner.query("update swaps set status = 'settled'");
	scene.clock.aheadMs = 3_600_000;
	const dead = { route: scene.submitRoute(scene.deadChains) };
	expect(await scene.submit(built, signature, dead)).toEqual({ swapId, status: "settled" });
	expect(scene.poked()).toHaveLength(1);
	expect(await refusalOf(scene.submit(built, signature, { as: "another" }))).toEqual({
		code: "INVALID_TOKEN",
		details: { reason: "other_account" },
	});
	await scene.database.owner.query("update swaps set account_id = null");
	await scene.submit(built, signature);
	expect(await readSwap(scene.database.pool, fromSwapId(swapId) as SwapUuid)).toMatchObject({
		accountId: scene.accountId,
	});
});

test("a replay after its seal key was retired returns the swap, until the key no longer opens tokens", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	const { swapId } = await scene.submit(built, signature);
	scene.clock.aheadMs = sealKeyRotatesAfterMs + 29 * 86_400_000;
	expect(await scene.submit(built, signature)).toEqual({ swapId, status: "pending" });
	scene.clock.aheadMs = sealKeyRotatesAfterMs + 31 * 86_400_000;
	expect(await refusalOf(scene.submit(built, signature))).toMatchObject({ code: "INVALID_TOKEN" });
});

test("a first submit is refused once the op has expired, and not when only the quote has", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { quote, built, signature } = await scene.signedOp(wallet);
	scene.clock.aheadMs = 50_000;
	expect(await refusalOf(scene.submit(built, signature))).toEqual({
		code: "OP_EXPIRED",
		details: { expiredAt: new Date(quote.opExpiresAtMs).toISOString() },
	});
	scene.clock.aheadMs = 40_000;
	expect(quote.expiresAtMs).toBeLessThan(scene.nowMs());
	await scene.submit(built, signature);
});

test("a quote token is refused as an op token", async () => {
	const wallet = await scene.newWallet();
	const geoOpToken = scene.seal(scene.newQuote(wallet.address));
	expect(await refusalOf(scene.call(scene.submitRoute(), { geoOpToken, signature: "malformed" }))).toEqual({
		code: "INVALID_TOKEN",
		details: { reason: "wrong_endpoint", endpoint: "POST /swap/build-geo-op" },
	});
});

test("an authorization that became stale since the build is refused, and no swap is created", async () => {
	const wallet = await scene.newWallet();
	await fundEther(scene, wallet.address);
	const { built, signature } = await scene.signedOp(wallet, await scene.authorize(wallet));
	await scene.send(wallet, { to: wallet.address });
	expect(await refusalOf(scene.submit(built, signature))).toEqual({
		code: "INVALID_AUTHORIZATION",
		details: { reason: "nonce", expected: 1 },
	});
	expect(await scene.swapCount()).toBe(0);
});

test("a wallet that withdrew or changed its delegation since the build is refused", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	const delegateTo = async (address: Hex) => {
		const authorizationList = [await scene.authorize(wallet, { address })];
		await scene.send(scene.relayer, { to: scene.relayer.address, authorizationList });
	};
	await delegateTo("0x0000000000000000000000000000000000000000");
	expect(await refusalOf(scene.submit(built, signature))).toMatchObject({ code: "NEEDS_DELEGATION" });
	await delegateTo("0x5555555555555555555555555555555555555555");
	expect(await refusalOf(scene.submit(built, signature))).toMatchObject({ code: "UNSUPPORTED_DELEGATION" });
});

test("two first swaps of one wallet both succeed, though the first makes the second's authorization stale", async () => {
	const wallet = await scene.newWallet({ amount: 20_000_000n });
	const authorization = await scene.authorize(wallet);
	const [first, second, third] = await Promise.all([
		scene.signedOp(wallet, authorization),
		scene.signedOp(wallet, authorization),
		scene.signedOp(wallet, authorization),
	]);
	await scene.submit(first.built, first.signature);
	await scene.land(first.signature, { quote: first.quote, authorization });
	await scene.submit(second.built, second.signature);
	await scene.land(second.signature, { quote: second.quote, authorization });
	expect(await scene.swapCount()).toBe(2);
	// The remaining balance is short by exactly a third swap's input.
	expect(await refusalOf(scene.submit(third.built, third.signature))).toMatchObject({
		code: "INSUFFICIENT_BALANCE",
		details: { balance: "0" },
	});
});

test("a wallet's other swaps are subtracted from its balance until they are open on chain", async () => {
	const wallet = await scene.newWallet({ isDelegated: true, amount: 25_000_000n });
	const ops = [await scene.signedOp(wallet), await scene.signedOp(wallet), await scene.signedOp(wallet)];
	const [first, second, third] = ops;
	if (!first || !second || !third) throw new Error("there are three");
	await scene.submit(first.built, first.signature);
	await scene.submit(second.built, second.signature);
	const short = { code: "INSUFFICIENT_BALANCE", details: { balance: "5000000", required: "10000000" } };
	expect(await refusalOf(scene.submit(third.built, third.signature))).toEqual(short);
	expect(await refusalOf(scene.build(scene.newQuote(wallet.address)))).toEqual(short);
	// The database does not record yet that the order is open, so it must not count twice.
	await scene.land(first.signature, first);
	expect(await refusalOf(scene.submit(third.built, third.signature))).toEqual(short);
});

test("an op that would fail is refused, and no swap is created", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	// Since the build, the wallet has switched to the account that refuses such a signature.
	const { typedDelegate: address } = scene.origin.deployment.contracts;
	const authorizationList = [await scene.authorize(wallet, { address })];
	await scene.send(scene.relayer, { to: wallet.address, authorizationList });
	expect(await refusalOf(scene.submit(built, signature))).toEqual({
		code: "SIMULATION_FAILED",
		details: { reason: "Opaque" },
	});
	expect(await scene.swapCount()).toBe(0);
});

test("a quote from before its chain was paused creates no swap, and a swap that was already submitted stays", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const before = await scene.signedOp(wallet);
	await scene.submit(before.built, before.signature);
	const { built, signature } = await scene.signedOp(await scene.newWallet({ isDelegated: true }));
	for (const { chainId } of [scene.testChains.origin, scene.testChains.destination]) {
		scene.knobs.paused = new Map([[chainId, "the books differ"]]);
		expect(await refusalOf(scene.submit(built, signature))).toEqual({
			code: "LIQUIDITY_CHANGED",
			details: { reason: "paused" },
		});
	}
	expect(await scene.swapCount()).toBe(1);
	await scene.submit(before.built, before.signature);
	scene.knobs.paused = new Map();
	await scene.submit(built, signature);
	expect(await scene.swapCount()).toBe(2);
});

test("a swap that can no longer be delivered as quoted, or exceeds a limit, is refused and not created", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	await scene.setInventory(10n ** 12n);
	await scene.database.owner.query("update inventory set reserved = balance - 9949999");
	const taken = await scene.submit(built, signature).catch((error: unknown) => error);
	expect(taken).toMatchObject({
		code: "LIQUIDITY_CHANGED",
		next: "requote",
		details: { reason: "inventory" },
	});
	// Here nothing has changed, so a fresh quote for the same amount would be refused too.
	await scene.setInventory(9_950_000n * 5n - 1n);
	const tooMuch = await scene.submit(built, signature).catch((error: unknown) => error);
	expect(tooMuch).toMatchObject({
		code: "LIQUIDITY_CHANGED",
		next: "fix_request",
		message: expect.stringMatching(/smaller amount, or ask the operator/),
		details: { reason: "inventory" },
	});
	scene.knobs.isPriceGone = true;
	expect(await refusalOf(scene.submit(built, signature))).toEqual({
		code: "LIQUIDITY_CHANGED",
		details: { reason: "price" },
	});
	scene.knobs.isPriceGone = false;
	await scene.setInventory(10n ** 12n);
	scene.knobs.unopenedUsdPerAccount = 9.99;
	expect(await refusalOf(scene.submit(built, signature))).toMatchObject({
		code: "RATE_LIMITED",
		details: { reason: "reserved_value" },
	});
	expect(await scene.swapCount()).toBe(0);
	expect(scene.poked()).toEqual([]);
});

test("a submit requests the prices of both chains, and is repriced only once they were read", async () => {
	const { built, signature } = await scene.signedOp(await scene.newWallet({ isDelegated: true }));
	const { origin, destination } = scene.testChains;
	const wanted: (readonly number[])[] = [];
	scene.knobs.isPriceGone = true;
	scene.knobs.wantPrices = async (chainIds) => {
		wanted.push(chainIds);
		// The read takes longer than everything else that a submit waits for.
		await sleep(500);
		scene.knobs.isPriceGone = false;
	};
	await scene.submit(built, signature);
	expect(wanted).toEqual([[origin.chainId, destination.chainId]]);
});

test("an account whose unsettled swaps used up its daily gas budget is refused, and the error has the time to retry", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	const hourAgo = new Date(Date.now() - 3_600_000);
	const spend = (account: string, at: Date) =>
		scene.database.owner.query("insert into unsettled_gas values (gen_random_uuid(), 31337, $1, $2, 30)", [
			account,
			at,
		]);
	scene.knobs.gasUsdCents = 100n;
	await spend(scene.accountId, hourAgo);
	await spend(scene.accountId, hourAgo);
	const refusal = await refusalOf(scene.submit(built, signature));
	expect(refusal).toMatchObject({ code: "RATE_LIMITED", details: { reason: "gas_budget" } });
	const { retryAfterSeconds } = refusal.details as { retryAfterSeconds: number };
	expect(retryAfterSeconds).toBeGreaterThan(23 * 3_600 - 60);
	expect(retryAfterSeconds).toBeLessThanOrEqual(23 * 3_600);
	expect(await scene.swapCount()).toBe(0);

	await scene.database.owner.query("truncate unsettled_gas");
	await spend(scene.accountId, hourAgo);
	await spend(scene.accountId, new Date(Date.now() - 25 * 3_600_000));
	await spend(crypto.randomUUID(), hourAgo);
	await scene.submit(built, signature);
});

test("an account with ten recipients that refused within a day is refused, and the error has the time to retry", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	const hourAgo = new Date(Date.now() - 3_600_000);
	const countRefusal = (account: string, at: Date) =>
		scene.database.owner.query(
			"insert into account_refusals values (gen_random_uuid(), $1, $2, 'recipient_refused')",
			[account, at],
		);
	for (let i = 0; i < 10; i++) await countRefusal(scene.accountId, hourAgo);
	const refusal = await refusalOf(scene.submit(built, signature));
	expect(refusal).toMatchObject({ code: "RATE_LIMITED", details: { reason: "recipients_refused" } });
	const { retryAfterSeconds } = refusal.details as { retryAfterSeconds: number };
	expect(retryAfterSeconds).toBeGreaterThan(23 * 3_600 - 60);
	expect(retryAfterSeconds).toBeLessThanOrEqual(23 * 3_600);
	expect(await scene.swapCount()).toBe(0);

	await scene.database.owner.query("truncate account_refusals");
	for (let i = 0; i < 9; i++) await countRefusal(scene.accountId, hourAgo);
	await countRefusal(scene.accountId, new Date(Date.now() - 25 * 3_600_000));
	await countRefusal(crypto.randomUUID(), hourAgo);
	await scene.submit(built, signature);
});

test("an input is accepted up to its exposure limit, which includes what the vault holds", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	await scene.database.owner.query("insert into inventory values (31337, $1, 5000000, 0, 0, 1)", [
		hexToBytes(scene.assetOf("USDC")),
	]);
	scene.knobs.exposure = 14_999_999n;
	expect(await refusalOf(scene.submit(built, signature))).toEqual({
		code: "LIQUIDITY_CHANGED",
		details: { reason: "inventory" },
	});
	expect(await scene.swapCount()).toBe(0);
	scene.knobs.exposure = 15_000_000n;
	await scene.submit(built, signature);
});

test("while too few attesters are alive or up to date a submit is refused, and the same bytes succeed later", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	const silent = { code: "UPSTREAM_UNAVAILABLE", details: { upstream: "attesters" } };
	await scene.setAttesters(1);
	expect(await refusalOf(scene.submit(built, signature))).toEqual(silent);
	await scene.setAttesters(2);
	await scene.database.owner.query("update chain_heads set finalized_number = 2000, number = 2010");
	expect(await refusalOf(scene.submit(built, signature))).toEqual(silent);
	expect(await scene.swapCount()).toBe(0);
	await scene.setAttesters(2);
	await scene.submit(built, signature);
});

test("if a third party sends an op first, its submit becomes a swap, which is marked for refund if there is no inventory", async () => {
	for (const [inventory, givingUp] of [
		[10n ** 12n, undefined],
		[0n, "NO_LIQUIDITY"],
	] as const) {
		await scene.setInventory(inventory);
		const wallet = await scene.newWallet({ isDelegated: true });
		const { quote, built, signature } = await scene.signedOp(wallet);
		await scene.land(signature, { quote });
		expect(await scene.submit(built, signature)).toMatchObject({ status: "pending" });
		expect(await readSwap(scene.database.pool, quote.uuid)).toMatchObject({ givingUp });
	}
	expect(scene.poked()).toHaveLength(2);
});

test("a submit succeeds even if the engine does not respond", async () => {
	scene.knobs.poke = () => Promise.reject(new Error("no engine"));
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	expect(await scene.submit(built, signature)).toMatchObject({ status: "pending" });
});

test("a submit creates no swap if the chain does not respond", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const { built, signature } = await scene.signedOp(wallet);
	const dead = { route: scene.submitRoute(scene.deadChains) };
	expect(await refusalOf(scene.submit(built, signature, dead))).toMatchObject({
		code: "UPSTREAM_UNAVAILABLE",
	});
	expect(await scene.swapCount()).toBe(0);
});

test("a recipient on Solana is checked before the input is taken, and not if the order is already open", async () => {
	const solana = await startTestSolana();
	onTestFinished(() => solana.stop());
	const chain = connectSolana(solana);
	const { settlementToken: token, program } = solana.deployment;
	const recipient = await generateKeyPairSigner();
	await solana.admin.mintTo({ owner: recipient.address, token, amount: 1n });
	const stranger = await giveAccountAway(solana, { token, from: recipient });
	await scene.seeAttestersOn(solanaChainId);
	const toSolana = async () => {
		const wallet = await scene.newWallet({ isDelegated: true });
		const quote = scene.newQuote(wallet.address);
		const terms = {
			...quote.terms,
			destinationChainId: BigInt(solanaChainId),
			destinationVault: toSolanaWord(program.vault),
			outputToken: toSolanaWord(token),
			recipient: toSolanaWord(recipient.address),
		};
		return scene.signedOp(wallet, undefined, { ...quote, terms, order: orderToJson(terms) });
	};
	const { built, signature } = await toSolana();
	const by = (served: SolanaChain | undefined) => ({ route: scene.submitRoute(scene.chains, served) });
	expect(await refusalOf(scene.submit(built, signature, by(chain)))).toEqual({
		code: "SIMULATION_FAILED",
		details: { reason: "the recipient's token account belongs to another owner, or is frozen" },
	});
	const dead = connectSolana({ rpcUrl: "http://127.0.0.1:9", deployment: solana.deployment });
	expect(await refusalOf(scene.submit(built, signature, by(dead)))).toEqual({
		code: "UPSTREAM_UNAVAILABLE",
		details: { upstream: `chain ${solanaChainId}` },
	});
	expect(await refusalOf(scene.submit(built, signature, by(undefined)))).toEqual({
		code: "NO_ROUTE",
		details: { reason: "chain" },
	});
	expect(await scene.swapCount()).toBe(0);

	const sent = await toSolana();
	await scene.land(sent.signature, { quote: sent.quote });
	for (const served of [dead, chain]) {
		expect(await scene.submit(sent.built, sent.signature, by(served))).toMatchObject({ status: "pending" });
	}
	const back = { token, from: stranger, to: recipient.address, account: recipient.address };
	await giveAccountAway(solana, back);
	expect(await scene.submit(built, signature, by(chain))).toMatchObject({ status: "pending" });
});
