import { type Order, solanaChainId, solanaNativeToken, toSolanaWord } from "@geoswap/protocol";
import { getBase64Encoder, getTransactionDecoder, type SignatureBytes, verifySignature } from "@solana/kit";
import fc from "fast-check";
import { getAddress, numberToHex, toHex } from "viem";
import { expect, test } from "vitest";
import { changeAt, leafPaths, setAt } from "../test/change-at.ts";
import * as evm from "../test/op-fixture.ts";
import {
	makeBuild,
	makeIntent,
	makeOrder,
	makeOrderToSolana,
	makePins,
	makeQuote,
	nowMs,
	otherPayer,
	signer,
} from "../test/solana-op-fixture.ts";
import { VerificationError } from "./verification-error.ts";
import { verifyAndSign } from "./verify-and-sign.ts";
import { verifyAndSignSolana } from "./verify-and-sign-solana.ts";
import type { SolanaOpToVerify } from "./verify-solana-op.ts";

const limits = { nowMs };
const makeOp = async (changes: Partial<SolanaOpToVerify> = {}): Promise<SolanaOpToVerify> => ({
	intent: makeIntent(),
	quote: makeQuote(),
	build: await makeBuild(),
	pins: makePins(),
	limits,
	...changes,
});

/** Returns the field for which nothing was signed, or undefined if it was signed. */
async function refusedField(op: SolanaOpToVerify): Promise<string | undefined> {
	let isAsked = false;
	const watched: typeof signer = {
		...signer,
		signTransactions: (...parameters) => {
			isAsked = true;
			return signer.signTransactions(...parameters);
		},
	};
	try {
		await verifyAndSignSolana({ ...op, signer: watched });
		return undefined;
	} catch (error) {
		expect(isAsked).toBe(false);
		expect(error).toBeInstanceOf(VerificationError);
		return (error as VerificationError).field;
	}
}

/** The values that a signature does not depend on. Everything else is refused when it changes. */
const inert = [
	/^quote\.(geoQuoteToken|expiresAt|feeBps|inputUsd|outputUsd|priceImpactBps|warnings\..*|etaSeconds|summary)$/,
	/^build\.(geoOpToken|expiresAt|geoOp\.lastValidBlockHeight)$/,
	/^quote\.output$/,
	/^pins\.chains\.0\./,
	/^pins\.chains\.1\.(name|kind|uniswap\..*|wrappedNative|settlementToken|assets\..*|deployedAtBlock)$/,
	/^pins\.chains\.1\.contracts\.(earlier\w+\.\d|accessManager|delegate|typedDelegate|escrow)$/,
	/^pins\.solana\.(name|genesisHash|feePayers\.1|settlementToken)$/,
	/^pins\.solana\.program\.(operator|upgradeAuthority|deployedAtSlot|code\..*)$/,
	/^pins\.solana\.assets\.(0\.(symbol|kind|feed\..*)|1\..*)$/,
];

test("a change of any one value of request, quote, transaction or pins is refused before signing, or does not change what is signed", async () => {
	const { limits: _, ...op } = await makeOp();
	const paths = leafPaths(op);
	const signed = await verifyAndSignSolana({ ...op, limits, signer });
	const touched = new Set<string>();
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...paths), fc.nat(), async (path, seed) => {
			const changed = changeAt(structuredClone(op), path, seed);
			const field = await refusedField({ ...changed, limits });
			touched.add(path);
			if (field !== undefined) return;
			expect(path).toSatisfy((text: string) => inert.some((pattern) => pattern.test(text)));
			expect(await verifyAndSignSolana({ ...changed, limits, signer })).toBe(signed);
		}),
		{ numRuns: 300, examples: paths.map((path): [string, number] => [path, 0]) },
	);
	expect(touched.size).toBe(paths.length);
});

test("a build is refused if it lacks any value that the signature depends on", async () => {
	const build = await makeBuild();
	const inertOfBuild = /^(geoOpToken|expiresAt|geoOp\.lastValidBlockHeight)$/;
	for (const path of leafPaths(build).filter((text) => !inertOfBuild.test(text))) {
		const lacking = setAt(structuredClone(build), path, undefined);
		expect(await refusedField(await makeOp({ build: lacking })), path).toBeDefined();
	}
});

test("a build that is consistent with a changed order is refused", async () => {
	const order = makeOrder();
	for (const field of Object.keys(order) as (keyof Order)[]) {
		// The transaction cannot be made at all unless the input token is listed.
		if (field === "deadlines" || field === "inputToken") continue;
		const value = order[field];
		const other = typeof value === "bigint" ? value + 1n : toHex(BigInt(value) + 1n, { size: 32 });
		const build = await makeBuild({ order: makeOrder({ [field]: other }) });
		expect(await refusedField(await makeOp({ build })), field).toBeDefined();
	}
	const native = makeOrder({ inputToken: toSolanaWord(solanaNativeToken) });
	expect(await refusedField(await makeOp({ build: await makeBuild({ order: native }) }))).toBeDefined();
});

test("a transaction for an order other than the one shown is refused", async () => {
	const build = await makeBuild();
	const more = makeOrder({ inputAmount: 10_000_001n });
	const { unsignedTransaction } = await makeBuild({ order: more });
	const swapped = { ...build, unsignedTransaction };
	expect(await refusedField(await makeOp({ build: swapped }))).toBe("unsignedTransaction");
});

test("compute limits beyond what the transaction needs are refused, and so is the wallet as fee payer", async () => {
	const refused = async (changes: Parameters<typeof makeBuild>[0]) =>
		refusedField(await makeOp({ build: await makeBuild(changes) }));
	expect(await refused({ unitLimit: 200_001 })).toBe("geoOp.compute.unitLimit");
	expect(await refused({ microLamportsPerUnit: 5_000_001n })).toBe("geoOp.compute.microLamportsPerUnit");
	expect(await refused({ payer: otherPayer })).toBeUndefined();
	expect(await refused({ payer: signer.address })).toBe("geoOp.feePayer");
});

test("the wallet signs the message that is shown, and the fee payer's signature stays empty", async () => {
	for (const inputToken of [makeIntent().inputToken, solanaNativeToken]) {
		const build = await makeBuild({ order: makeOrder({ inputToken: toSolanaWord(inputToken as never) }) });
		const op = await makeOp({ build, intent: makeIntent({ inputToken }) });
		const signed = await verifyAndSignSolana({ ...op, signer });
		const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(signed));
		const signature = transaction.signatures[signer.address] as SignatureBytes;
		expect(await verifySignature(signer.keyPair.publicKey, signature, transaction.messageBytes)).toBe(true);
		expect(Object.values(transaction.signatures)[0]).toBeNull();
		expect(getBase64Encoder().encode(build.geoOp.message)).toEqual(new Uint8Array(transaction.messageBytes));
	}
});

test("if the pinned attesters do not match the hash of their set, nothing to or from Solana is signed", async () => {
	const { intent, order, quote } = makeOrderToSolana();
	const toSolana = { intent, quote, build: evm.makeBuild({ order }), limits, account: evm.account };
	const { attesterSet } = makePins().solana?.program ?? {};
	if (!attesterSet) throw new Error("Solana is pinned");
	const [first = "0x", ...others] = attesterSet.attesters;
	const hash = toHex(1n, { size: 32 });
	for (const [changed, field] of [
		[{ hash }, "attesterSet.hash"],
		[{ threshold: attesterSet.threshold + 1 }, "attesterSet"],
		[{ attesters: [getAddress(numberToHex(1, { size: 20 })), ...others] }, "attesterSet"],
		[{ attesters: [first, first, ...others] }, "attesterSet"],
	] as const) {
		const pins = makePins();
		if (!pins.solana) throw new Error("Solana is pinned");
		pins.solana.program.attesterSet = { ...attesterSet, ...changed } as typeof attesterSet;
		const expected = expect.stringMatching(new RegExp(`^pins\\.${solanaChainId}\\.${field}`));
		// The service may have built the order for that set.
		const build = await makeBuild({
			order: makeOrder({ attesterSet: pins.solana.program.attesterSet.hash }),
		});
		expect(await refusedField(await makeOp({ pins, build }))).toEqual(expected);
		await expect(verifyAndSign({ ...toSolana, pins })).rejects.toMatchObject({ field: expected });
	}
});

test("without pins for Solana, nothing to or from it is signed", async () => {
	const { solana: _, ...pins } = makePins();
	expect(await refusedField(await makeOp({ pins }))).toBe("intent.originChain");
	const { intent, order, quote } = makeOrderToSolana();
	const op = { intent, quote, build: evm.makeBuild({ order }), limits, account: evm.account };
	await expect(verifyAndSign({ ...op, pins })).rejects.toMatchObject({ field: "intent.destinationChain" });
	expect(await verifyAndSign({ ...op, pins: makePins() })).toMatch(/^0x/);
	const elsewhere = { ...intent, recipient: solanaNativeToken };
	await expect(verifyAndSign({ ...op, intent: elsewhere, pins: makePins() })).rejects.toBeInstanceOf(
		VerificationError,
	);
});
