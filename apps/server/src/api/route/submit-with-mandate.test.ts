import {
	type BuildResponse,
	encodeMandate,
	fromWord,
	geoAccountAbi,
	geoEscrowAbi,
	type Mandate,
	type MandateJson,
	mandateToJson,
	mandateTypedData,
	type Order,
	orderId,
	orderProof,
	orderTerms,
	orderTypedData,
	revocationTypedData,
	type SubmitResponse,
	toWord,
} from "@geoswap/protocol";
import { encodeFunctionData, type PrivateKeyAccount, parseEventLogs } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refusalOf } from "../../../test/api/origin-scene.ts";
import { signMandate } from "../../../test/api/sign-mandate.ts";
import { type SubmitScene, startSubmitScene } from "../../../test/api/submit-scene.ts";
import { mandateShape } from "../../chain/evm/wallet/mandate-shape.ts";
import { evmTransactions } from "../../desk/network-cost.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { checkMandate, sealedMandate } from "../origin/check-mandate.ts";
import { openToken } from "../seal/open-token.ts";
import type { SealedOp } from "../seal/seal-token.ts";

let scene: SubmitScene;
beforeAll(async () => {
	scene = await startSubmitScene();
});
afterAll(() => scene.stop());
beforeEach(() => scene.reset());

const agent = privateKeyToAccount(generatePrivateKey());

const mandateOf = (owner: PrivateKeyAccount, limits: Partial<Mandate> = {}) =>
	signMandate(scene, owner, { agent: agent.address, ...limits });

type Signed = Awaited<ReturnType<typeof mandateOf>>;

/** Returns a quote with a mandate, as POST /swap/quote seals it. */
function quoteWith(signed: Signed) {
	const quote = scene.newQuote(signed.mandate.wallet);
	const order = quote.terms;
	const digest = checkMandate(signed, order);
	return { ...quote, mandate: sealedMandate(signed, { order, digest, shape: mandateShape(signed) }) };
}

async function submit(
	built: BuildResponse,
	order: Order,
	{ mandate, signer = agent }: { mandate?: MandateJson; signer?: PrivateKeyAccount },
): Promise<SubmitResponse> {
	const { geoOpToken } = built;
	const signature = await signer.signTypedData(orderTypedData(order));
	return scene.call<SubmitResponse>(scene.submitRoute(), { geoOpToken, signature, mandate });
}

async function land(order: Order, signed: Signed, gas: bigint) {
	const signature = await agent.signTypedData(orderTypedData(order));
	const proof = orderProof({ kind: "typed", signature, mandate: encodeMandate(signed) });
	const opening = { wallet: fromWord(order.wallet), gas, terms: orderTerms(order), proof };
	const receipt = await scene.send(scene.relayer, {
		to: fromWord(order.escrow),
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "openMany", args: [[opening]] }),
	});
	const [opened] = parseEventLogs({ abi: geoEscrowAbi, eventName: "Opened", logs: receipt.logs });
	expect(opened?.args.orderId).toBe(orderId(order));
	return receipt;
}

test("an order that an agent signed within its mandate becomes a swap, and its op carries the mandate", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const signed = await mandateOf(wallet);
	const quote = quoteWith(signed);
	const built = await scene.build(quote);
	expect(await submit(built, quote.terms, { mandate: mandateToJson(signed) })).toMatchObject({
		status: "pending",
	});
	expect((await readSwap(scene.database.pool, quote.uuid))?.op).toMatchObject({
		signatureKind: "typed",
		mandate: { digest: quote.mandate.digest, encoded: encodeMandate(signed) },
	});
});

test("the gas of a build is enough for mandates of every size, and a quote charges 1 to 1.1 times what they use", async () => {
	const words = (count: number) =>
		Array.from({ length: count }, (_, i) => toWord(`0x${String(i + 1).padStart(40, "7")}`));
	const before = await scene.newWallet({ isDelegated: true });
	const ofBefore = await mandateOf(before);
	// The escrow's first balance of a token costs more.
	await land(quoteWith(ofBefore).terms, ofBefore, 1_000_000n);
	for (const count of [0, 1, 4, 15]) {
		const wallet = await scene.newWallet({ isDelegated: true });
		const usdc = { token: scene.assetOf("USDC"), maxAmount: 10_000_000n };
		const others = words(count).map((word) => ({ token: fromWord(word), maxAmount: 1n << 100n }));
		const outputs = words(count).map((token) => ({ chainId: 10n, token }));
		const { destinationChainId, outputToken } = scene.newQuote(wallet.address).terms;
		// The entries that match come last.
		const signed = await mandateOf(wallet, {
			inputs: [...others, usdc],
			outputs: count === 0 ? [] : [...outputs, { chainId: destinationChainId, token: outputToken }],
			recipients: words(count),
		});
		const quote = quoteWith(signed);
		const built = await scene.build(quote);
		const sealedFor = { purpose: "op:evm", accountId: scene.accountId } as const;
		const { gas } = await openToken<SealedOp>(scene.sealKeys, built.geoOpToken, sealedFor);
		const { gasUsed } = await land(quote.terms, signed, gas);
		const ratio = Number(evmTransactions.laterOpen.gas + quote.mandate.gas) / Number(gasUsed);
		console.log(`${count} entries: ${gasUsed} gas, charged ${ratio.toFixed(3)} times as much`);
		expect(ratio).toBeGreaterThan(1);
		expect(ratio).toBeLessThan(1.1);
	}
});

test("a mandate that is used up or revoked is refused with its own code, before anything is signed and at the submit", async () => {
	const wallet = await scene.newWallet({ isDelegated: true, amount: 20_000_000n });
	const signed = await mandateOf(wallet, {
		inputs: [{ token: scene.assetOf("USDC"), maxAmount: 15_000_000n }],
	});
	const mandate = mandateToJson(signed);
	const quote = quoteWith(signed);
	const built = await scene.build(quote);
	const submitting = () => refusalOf(submit(built, quote.terms, { mandate }));
	const building = () => refusalOf(scene.build(quoteWith(signed)));

	await land(quoteWith(signed).terms, signed, 1_000_000n);
	const usedUp = {
		code: "MANDATE_EXCEEDED",
		details: { required: "10000000", available: expect.stringMatching(/^50\d{5}$/) },
	};
	expect(await submitting()).toEqual(usedUp);
	expect(await building()).toEqual(usedUp);

	const { chainId, escrow } = signed;
	const revocation = revocationTypedData({ chainId, escrow, wallet: wallet.address, epoch: 0n });
	const proof = orderProof({ kind: "typed", signature: await wallet.signTypedData(revocation) });
	await scene.send(scene.relayer, {
		to: wallet.address,
		data: encodeFunctionData({ abi: geoAccountAbi, functionName: "revokeMandates", args: [proof] }),
	});
	const revoked = { code: "MANDATE_ENDED", details: { reason: "revoked" } };
	expect(await submitting()).toEqual(revoked);
	expect(await building()).toEqual(revoked);
});

test("an order within a mandate counts as used from its submit on, and another one within another mandate does not", async () => {
	const wallet = await scene.newWallet({ isDelegated: true, amount: 40_000_000n });
	const [token, maxAmount] = [scene.assetOf("USDC"), 15_000_000n];
	const signed = await mandateOf(wallet, { inputs: [{ token, maxAmount }] });
	const mandate = mandateToJson(signed);
	const [first, second] = [quoteWith(signed), quoteWith(signed)];
	const builds = [await scene.build(first), await scene.build(second)] as const;
	expect(await submit(builds[0], first.terms, { mandate })).toMatchObject({ status: "pending" });
	const refused = {
		code: "MANDATE_EXCEEDED",
		details: { required: "10000000", available: "5000000" },
	};
	expect(await refusalOf(submit(builds[1], second.terms, { mandate }))).toEqual(refused);
	expect(await refusalOf(scene.build(quoteWith(signed)))).toEqual(refused);
	const other = await mandateOf(wallet, { inputs: [{ token, maxAmount }], period: 60 });
	const third = quoteWith(other);
	const built = await scene.build(third);
	expect(await submit(built, third.terms, { mandate: mandateToJson(other) })).toMatchObject({
		status: "pending",
	});
});

test("a mandate of another wallet, owner, desk or quote is refused, and so is a signature that is not the agent's", async () => {
	const wallet = await scene.newWallet({ isDelegated: true });
	const stranger = privateKeyToAccount(generatePrivateKey());
	const signed = await mandateOf(wallet);
	const quote = quoteWith(signed);
	const built = await scene.build(quote);
	const refusal = (mandate: Signed | undefined, signer = agent) =>
		refusalOf(submit(built, quote.terms, { signer, ...(mandate && { mandate: mandateToJson(mandate) }) }));
	const reason = async (changes: Partial<Mandate>) =>
		((await refusal(await mandateOf(wallet, changes))) as { details: { reason: string } }).details.reason;

	expect(await reason({ wallet: stranger.address })).toBe("wallet");
	expect(await reason({ originVault: stranger.address })).toBe("desk");
	expect(await reason({ period: 7_200 })).toBe("quote");
	expect(await reason({ expiry: 1n })).toBe("expired");
	expect(await reason({ inputs: [{ token: scene.assetOf("WETH"), maxAmount: 1n }] })).toBe("input");
	expect(await reason({ outputs: [{ chainId: 1n, token: toWord(stranger.address) }] })).toBe("output");
	expect(await refusal(undefined)).toMatchObject({ code: "INVALID_MANDATE", details: { reason: "quote" } });
	const forged = await stranger.signTypedData(mandateTypedData(signed));
	expect(await refusal({ ...signed, signature: forged })).toMatchObject({
		code: "INVALID_MANDATE",
		details: { reason: "signature" },
	});
	expect(await refusal(signed, stranger)).toMatchObject({
		code: "INVALID_SIGNATURE",
		details: { expected: agent.address },
	});
	expect(await refusal(signed, wallet)).toMatchObject({ code: "INVALID_SIGNATURE" });
	const tooMuch = await mandateOf(wallet, {
		inputs: [{ token: scene.assetOf("USDC"), maxAmount: 9_999_999n }],
	});
	expect(await refusal(tooMuch)).toEqual({
		code: "OUTSIDE_MANDATE",
		details: { reason: "amount", maximumAmount: "9999999" },
	});
});
