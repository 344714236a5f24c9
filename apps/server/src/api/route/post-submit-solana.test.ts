import {
	fromSwapId,
	openTransaction,
	orderId,
	type SwapUuid,
	solanaChainId,
	solanaNativeToken,
	toSolanaWord,
	toSwapId,
} from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { getAllocateInstruction } from "@solana-program/system";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { bytesToHex, concat } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeKeyedAccount } from "../../../test/api/make-keyed-account.ts";
import { refusalOf } from "../../../test/api/origin-scene.ts";
import {
	type SolanaSubmitScene,
	signTransaction,
	startSolanaSubmitScene,
} from "../../../test/api/solana-submit-scene.ts";
import { giveAccountAway } from "../../../test/solana/give-account-away.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readOrders } from "../../chain/solana/program/read-orders.ts";
import { readSwap } from "../../swap/record/read-swap.ts";

let scene: SolanaSubmitScene;
beforeAll(async () => {
	scene = await startSolanaSubmitScene();
});
beforeEach(() => scene.reset());
afterAll(() => scene.stop());

test("a signed transaction becomes a pending swap with its reservation, and nothing is sent", async () => {
	const wallet = await scene.newWallet();
	const { quote, built, signed } = await scene.signedTransaction(wallet);
	expect(await scene.submit(built, signed)).toEqual({ swapId: toSwapId(quote.uuid), status: "pending" });
	expect(scene.poked()).toEqual(["round 0"]);
	const { geoOp } = built;
	expect(await readSwap(scene.database.pool, quote.uuid)).toMatchObject({
		accountId: scene.accountId,
		order: quote.terms,
		output: quote.output,
		delivery: quote.delivery,
		op: {
			kind: "solana",
			feePayer: geoOp.feePayer,
			blockhash: geoOp.blockhash,
			lastValidBlockHeight: BigInt(geoOp.lastValidBlockHeight),
			compute: { unitLimit: geoOp.compute.unitLimit },
			signature: bytesToHex(Buffer.from(signed, "base64").subarray(65, 129)),
		},
		stage: "opening",
	});
	const { rows } = await scene.database.owner.query("select sum(amount) as amount from reservations");
	expect(rows).toEqual([{ amount: 9_950_000n }]);
	const orders = { orderIds: [orderId(quote.terms)], commitment: "confirmed" } as const;
	expect(await readOrders(scene.chain, orders)).toEqual([undefined]);
});

test("a transaction that is malformed, changed or not signed by the wallet creates no swap", async () => {
	const wallet = await scene.newWallet();
	const { quote, built, signed } = await scene.signedTransaction(wallet);
	const malformed = { code: "INVALID_REQUEST" };
	for (const text of ["", "not base64!", signed.slice(0, -400), `${signed}A`]) {
		expect(await refusalOf(scene.submit(built, text))).toMatchObject(malformed);
	}
	expect(await refusalOf(scene.submit(built, built.unsignedTransaction))).toMatchObject({
		code: "INVALID_SIGNATURE",
		details: { expected: wallet.address },
	});
	const other = await signTransaction(await generateKeyPairSigner(), built.unsignedTransaction);
	expect(await refusalOf(scene.submit(built, other))).toMatchObject({ code: "INVALID_SIGNATURE" });

	// A wallet with good intentions may raise the compute price.
	const { unsigned } = await openTransaction(scene.solana.deployment, quote.terms, {
		...built.geoOp,
		feePayer: scene.solana.deployment.feePayers.find((one) => one === built.geoOp.feePayer) ?? wallet.address,
		compute: { unitLimit: built.geoOp.compute.unitLimit, microLamportsPerUnit: 1n },
	});
	const changed = await signTransaction(wallet, Buffer.from(unsigned).toString("base64"));
	expect(await refusalOf(scene.submit(built, changed))).toMatchObject({
		code: "TRANSACTION_CHANGED",
		details: { changed: expect.any(String) },
	});
	expect(await scene.swapCount()).toBe(0);
});

test("20 concurrent submits of one quote, from two builds, create one swap and poke one round", async () => {
	const wallet = await scene.newWallet();
	const { quote, ...first } = await scene.signedTransaction(wallet);
	const second = await scene.signedTransaction(wallet, quote);
	const answers = await Promise.all(
		Array.from({ length: 20 }, (_, i) => {
			const { built, signed } = i % 2 ? first : second;
			return scene.submit(built, signed);
		}),
	);
	expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
		new Set([JSON.stringify({ swapId: toSwapId(quote.uuid), status: "pending" })]),
	);
	expect(scene.poked()).toEqual(["round 0"]);
	expect(await scene.swapCount()).toBe(1);
});

test("a replay, with this build or another, returns the swap's current status without a request to the chain", async () => {
	const wallet = await scene.newWallet();
	const { quote, built, signed } = await scene.signedTransaction(wallet);
	const other = await scene.signedTransaction(wallet, quote);
	const { swapId } = await scene.submit(built, signed);
	const stored = await readSwap(scene.database.pool, quote.uuid);
	await scene.database.owner.query("update swaps set status = 'settled'");
	scene.clock.aheadMs = 3_600_000;
	const dead = { route: scene.submitRoute(scene.deadChain) };
	expect(await scene.submit(built, signed, dead)).toEqual({ swapId, status: "settled" });
	expect(await scene.submit(other.built, other.signed, dead)).toEqual({ swapId, status: "settled" });
	expect(scene.poked()).toHaveLength(1);
	// The first message stays, because no other message of the same quote must ever be signed too.
	expect((await readSwap(scene.database.pool, quote.uuid))?.op).toEqual(stored?.op);
	expect(await refusalOf(scene.submit(built, signed, { as: "another" }))).toEqual({
		code: "INVALID_TOKEN",
		details: { reason: "other_account" },
	});
	await scene.database.owner.query("update swaps set account_id = null");
	await scene.submit(built, signed);
	expect(await readSwap(scene.database.pool, fromSwapId(swapId) as SwapUuid)).toMatchObject({
		accountId: scene.accountId,
	});
});

test("a first submit is refused once its blockhash may be dead, and another build of the quote is accepted", async () => {
	const wallet = await scene.newWallet();
	const { quote, built, signed } = await scene.signedTransaction(wallet);
	scene.clock.aheadMs = scene.policy.blockhashSeconds.least * 1_000 + 1_000;
	expect(await refusalOf(scene.submit(built, signed))).toEqual({
		code: "OP_EXPIRED",
		details: { expiredAt: built.expiresAt },
	});
	const later = await scene.signedTransaction(wallet, quote);
	await scene.submit(later.built, later.signed);
});

test("tokens of other endpoints are refused as op tokens", async () => {
	const wallet = await scene.newWallet();
	const { quote, signed } = await scene.signedTransaction(wallet);
	for (const purpose of ["quote:solana", "quote:evm", "op:evm"] as const) {
		const geoOpToken = scene.seal(quote, { purpose });
		const answer = scene.call(scene.submitRoute(), { geoOpToken, signedTransaction: "malformed" });
		expect(await refusalOf(answer)).toEqual({
			code: "INVALID_TOKEN",
			details: { reason: "wrong_endpoint", endpoint: expect.stringMatching(/^POST \/swap\//) },
		});
	}
	expect(await refusalOf(scene.call(scene.submitRoute(), { signedTransaction: signed }))).toMatchObject({
		code: "INVALID_REQUEST",
	});
});

test("a wallet's other unopened swaps are subtracted from its balance, at submit and at build", async () => {
	const wallet = await scene.newWallet({ amount: 15_000_000n });
	const [first, second] = [await scene.signedTransaction(wallet), await scene.signedTransaction(wallet)];
	await scene.submit(first.built, first.signed);
	const short = { code: "INSUFFICIENT_BALANCE", details: { balance: "5000000", required: "10000000" } };
	expect(await refusalOf(scene.submit(second.built, second.signed))).toEqual(short);
	expect(await refusalOf(scene.build(scene.newQuote(wallet.address)))).toEqual(short);
	// A swap that is open no longer counts, nor does another wallet's.
	await scene.database.owner.query("update swaps set stage = 'deposited'");
	await scene.submit(second.built, second.signed);
});

test("of four concurrent submits, each of 60 % of the wallet's balance, one is accepted", async () => {
	const wallet = await scene.newWallet({ amount: 16_666_666n });
	const all = await Promise.all(Array.from({ length: 4 }, () => scene.signedTransaction(wallet)));
	const answers = await Promise.allSettled(all.map(({ built, signed }) => scene.submit(built, signed)));
	const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
	expect(refused).toHaveLength(3);
	for (const error of refused) {
		expect(error).toMatchObject({ code: "INSUFFICIENT_BALANCE", details: { balance: "6666666" } });
	}
	expect(await scene.swapCount()).toBe(1);
});

test("a transaction that would fail by now is refused with the reason, and no swap is created", async () => {
	const lamports = 10_000_000n;
	const wallet = await scene.newWallet({ token: solanaNativeToken, amount: lamports });
	const { built, signed } = await scene.signedTransaction(
		wallet,
		scene.newQuote(wallet.address, { inputToken: solanaNativeToken, inputAmount: lamports }),
	);
	// An address that holds data cannot send transfers.
	await scene.send(wallet, [getAllocateInstruction({ newAccount: wallet, space: 8n })]);
	expect(await refusalOf(scene.submit(built, signed))).toMatchObject({
		code: "SIMULATION_FAILED",
		details: { reason: expect.stringMatching(/^instruction 3: /) },
	});
	expect(await scene.swapCount()).toBe(0);
});

test("if a lagging node or an unfunded fee payer fails the simulation, the same transaction can be sent again", async () => {
	const unavailable = { code: "UPSTREAM_UNAVAILABLE", details: { upstream: `chain ${solanaChainId}` } };
	const wallet = await scene.newWallet();
	const { built, signed } = await scene.signedTransaction(wallet);
	const answers = [
		"BlockhashNotFound",
		"AccountNotFound",
		"InsufficientFundsForFee",
		{ InsufficientFundsForRent: { account_index: 0 } },
	];
	for (const err of answers) {
		const node = await scene.nodeThatSimulates(err);
		const route = scene.submitRoute(node.chain);
		expect(await refusalOf(scene.submit(built, signed, { route }))).toEqual(unavailable);
		const building = scene.build(scene.newQuote(wallet.address), { route: scene.buildRoute(node.chain) });
		expect(await refusalOf(building)).toEqual(unavailable);
		await node.stop();
	}
	// The wallet's own account is not the service's to fund.
	const node = await scene.nodeThatSimulates({ InsufficientFundsForRent: { account_index: 1 } });
	const route = scene.submitRoute(node.chain);
	expect(await refusalOf(scene.submit(built, signed, { route }))).toMatchObject({
		code: "SIMULATION_FAILED",
	});
	await node.stop();
	expect(await scene.submit(built, signed)).toMatchObject({ status: "pending" });
});

test("a recipient whose token account belongs to another owner is refused before anything is taken, and accepted once it owns it again", async () => {
	const { settlementToken: token, program } = scene.solana.deployment;
	const [wallet, recipient] = [await scene.newWallet(), await scene.newWallet()];
	const quote = scene.newQuote(wallet.address, {
		change: {
			destinationChainId: BigInt(solanaChainId),
			destinationVault: toSolanaWord(program.vault),
			outputToken: toSolanaWord(token),
			recipient: toSolanaWord(recipient.address),
		},
	});
	const { built, signed } = await scene.signedTransaction(wallet, quote);
	const stranger = await giveAccountAway(scene.solana, { token, from: recipient });
	expect(await refusalOf(scene.submit(built, signed))).toEqual({
		code: "SIMULATION_FAILED",
		details: { reason: "the recipient's token account belongs to another owner, or is frozen" },
	});
	expect(await scene.swapCount()).toBe(0);
	const back = { token, from: stranger, to: recipient.address, account: recipient.address };
	await giveAccountAway(scene.solana, back);
	expect(await scene.submit(built, signed)).toMatchObject({ status: "pending" });
});

test("a recipient of SOL that a program owns is refused with the program's address, even if it has a key", async () => {
	const { settlementToken: token, program } = scene.solana.deployment;
	const wallet = await scene.newWallet();
	const recipient = await makeKeyedAccount(scene.solana, { token });
	const quote = scene.newQuote(wallet.address, {
		change: {
			destinationChainId: BigInt(solanaChainId),
			destinationVault: toSolanaWord(program.vault),
			outputToken: toSolanaWord(solanaNativeToken),
			recipient: toSolanaWord(recipient.address),
		},
	});
	const { built, signed } = await scene.signedTransaction(wallet, quote);
	expect(await refusalOf(scene.submit(built, signed))).toEqual({
		code: "SIMULATION_FAILED",
		details: {
			reason: `the recipient is an account of the program ${TOKEN_PROGRAM_ADDRESS}, and not a wallet of the System Program`,
		},
	});
	expect(await scene.swapCount()).toBe(0);
});

test("swaps that may have to be refunded use up the account's gas budget before they are refunded", async () => {
	const { owner } = scene.database;
	const [first, second] = [
		await scene.signedTransaction(await scene.newWallet()),
		await scene.signedTransaction(await scene.newWallet()),
	];
	// A lamport is worth so much that one refund uses up the day's budget, but a tenth of a refund does not.
	scene.knobs.lamportsPerUsdCent = 400n;
	await scene.submit(first.built, first.signed);
	await owner.query("update swaps set giving_up = 'RECIPIENT_REFUSED'");
	expect(await refusalOf(scene.submit(second.built, second.signed))).toEqual({
		code: "RATE_LIMITED",
		details: { reason: "gas_budget", retryAfterSeconds: 60 },
	});
	await owner.query("update swaps set giving_up = null");
	await scene.submit(second.built, second.signed);
});

test("a swap that can no longer be delivered as quoted, or exceeds a limit, is refused and not created", async () => {
	const wallet = await scene.newWallet();
	const { built, signed } = await scene.signedTransaction(wallet);
	await scene.setInventory(9_949_999n);
	expect(await refusalOf(scene.submit(built, signed))).toEqual({
		code: "LIQUIDITY_CHANGED",
		details: { reason: "inventory" },
	});
	scene.knobs.isPriceGone = true;
	expect(await refusalOf(scene.submit(built, signed))).toEqual({
		code: "LIQUIDITY_CHANGED",
		details: { reason: "price" },
	});
	scene.knobs.isPriceGone = false;
	await scene.setInventory(10n ** 12n);
	scene.knobs.unopenedUsdPerAccount = 9.99;
	expect(await refusalOf(scene.submit(built, signed))).toMatchObject({
		code: "RATE_LIMITED",
		details: { reason: "reserved_value" },
	});
	scene.knobs.gasUsdCents = 100n;
	await scene.database.owner.query(
		"insert into unsettled_gas values (gen_random_uuid(), 31337, $1, $2, 60)",
		[scene.accountId, new Date()],
	);
	expect(await refusalOf(scene.submit(built, signed))).toMatchObject({
		code: "RATE_LIMITED",
		details: { reason: "gas_budget" },
	});
	expect(await scene.swapCount()).toBe(0);
	expect(scene.poked()).toEqual([]);
});

test("while too few of the attesters that an order names are alive, it is refused, and the same bytes succeed later", async () => {
	const { threshold } = scene.solana.deployment.program.attesterSet;
	const { built, signed } = await scene.signedTransaction(await scene.newWallet());
	await scene.setAttesters(threshold - 1);
	expect(await refusalOf(scene.submit(built, signed))).toEqual({
		code: "UPSTREAM_UNAVAILABLE",
		details: { upstream: "attesters" },
	});
	expect(await scene.swapCount()).toBe(0);
	await scene.setAttesters(threshold);
	expect(await scene.submit(built, signed)).toMatchObject({ status: "pending" });
});

test("a submit succeeds even if the engine does not respond", async () => {
	scene.knobs.poke = () => Promise.reject(new Error("no engine"));
	const { built, signed } = await scene.signedTransaction(await scene.newWallet());
	expect(await scene.submit(built, signed)).toMatchObject({ status: "pending" });
});

test("a submit creates no swap if the chain does not respond or is no longer offered", async () => {
	const { built, signed } = await scene.signedTransaction(await scene.newWallet());
	const dead = { route: scene.submitRoute(scene.deadChain) };
	expect(await refusalOf(scene.submit(built, signed, dead))).toMatchObject({ code: "UPSTREAM_UNAVAILABLE" });
	const gone = { route: scene.routesWithoutSolana().submit };
	expect(await refusalOf(scene.submit(built, signed, gone))).toEqual({
		code: "NO_ROUTE",
		details: { reason: "chain" },
	});
	expect(await scene.swapCount()).toBe(0);
});

test("if Solana or the token is no longer offered, form and signature are still checked and a replay still returns the swap", async () => {
	const { deployment } = scene.chain;
	const assets = deployment.assets.filter(({ address }) => address !== deployment.settlementToken);
	const delisted: SolanaChain = { ...scene.chain, deployment: { ...deployment, assets } };
	const { quote, built, signed } = await scene.signedTransaction(await scene.newWallet());
	for (const [routes, reason] of [
		[scene.routesWithoutSolana(), "chain"],
		[scene.routesOn(delisted), "token"],
	] as const) {
		const route = routes.submit;
		await scene.database.owner.query("truncate swaps, swap_events, reservations, waits, jobs");
		expect(await refusalOf(scene.submit(built, "not base64!", { route }))).toMatchObject({
			code: "INVALID_REQUEST",
		});
		expect(await refusalOf(scene.submit(built, built.unsignedTransaction, { route }))).toMatchObject({
			code: "INVALID_SIGNATURE",
		});
		const noRoute = { code: "NO_ROUTE", details: { reason } };
		expect(await refusalOf(scene.submit(built, signed, { route }))).toEqual(noRoute);
		const geoQuoteToken = scene.seal(quote);
		expect(await refusalOf(scene.call(routes.build, { geoQuoteToken }))).toEqual(noRoute);
		const first = await scene.submit(built, signed);
		expect(await scene.submit(built, signed, { route })).toEqual(first);
	}
});

test("a signature that a third party puts in the fee payer's place is ignored", async () => {
	const wallet = await scene.newWallet();
	const { quote, built, signed } = await scene.signedTransaction(wallet);
	const bytes = Buffer.from(signed, "base64");
	bytes.set(Buffer.alloc(64, 7), 1);
	await scene.submit(built, bytes.toString("base64"));
	const swap = await readSwap(scene.database.pool, quote.uuid);
	expect(swap?.op?.signature).toBe(concat([bytesToHex(bytes.subarray(65, 129))]));
	expect(swap?.order.wallet).toBe(toSolanaWord(wallet.address));
});
