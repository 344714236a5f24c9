import { readFileSync } from "node:fs";
import {
	type Deployment,
	type Order,
	orderTypedData,
	packDeadlines,
	type QuoteRequestBody,
	type TypedDataJson,
	toWord,
} from "@geoswap/protocol";
import fc from "fast-check";
import { type Address, getAddress, type Hex, hashTypedData, recoverAddress, toHex, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { changeAt, leafPaths, setAt } from "../test/change-at.ts";
import { account, makeBuild, makeIntent, makeOrder, makePins, makeQuote, nowMs } from "../test/op-fixture.ts";
import type { EvmAccount } from "./evm-account.ts";
import { pinnedChain } from "./pinned-chain.ts";
import { VerificationError } from "./verification-error.ts";
import { verifyAndSign } from "./verify-and-sign.ts";
import { type OpToVerify, verifyOp } from "./verify-op.ts";

const limits = { nowMs };
const makeOp = (changes: Partial<OpToVerify> = {}): OpToVerify => ({
	intent: makeIntent(),
	quote: makeQuote(),
	build: makeBuild(),
	pins: makePins(),
	limits,
	...changes,
});
const sign = (op: OpToVerify) => verifyAndSign({ ...op, account });

/** Returns the field for which nothing was signed, or undefined if it was signed. */
async function refusedField(op: OpToVerify): Promise<string | undefined> {
	let isAsked = false;
	const watch =
		<Args extends unknown[], Result>(sign: (...args: Args) => Result) =>
		(...args: Args): Result => {
			isAsked = true;
			return sign(...args);
		};
	const { address, signTypedData, signMessage } = account;
	const watched: EvmAccount = {
		address,
		signTypedData: watch((typedData: TypedDataJson) => signTypedData(typedData)),
		signMessage: watch(signMessage),
		sign: watch(account.sign),
	};
	try {
		await verifyAndSign({ ...op, account: watched });
		return undefined;
	} catch (error) {
		expect(isAsked).toBe(false);
		expect(error).toBeInstanceOf(VerificationError);
		return (error as VerificationError).field;
	}
}

test("a wallet that fails is reported as SIGNER_FAILED", async () => {
	const signMessage = async () => Promise.reject(new Error("the HSM is away"));
	const failing = { address: account.address, signMessage };
	await expect(verifyAndSign({ ...makeOp(), account: failing })).rejects.toMatchObject({
		code: "SIGNER_FAILED",
		cause: { message: "the HSM is away" },
	});
});

/** The values that a signature does not depend on. Everything else is refused when it changes. */
const inert = [
	// The quote's preview, and the tokens, which only the service can read.
	/^quote\.(geoQuoteToken|expiresAt|feeBps|inputUsd|outputUsd|priceImpactBps|warnings\..*|etaSeconds|summary)$/,
	/^build\.(geoOpToken|expiresAt)$/,
	// Only a lower output would be signed, and the minimum stays.
	/^quote\.output$/,
	// Parts of the deployment that an order does not name.
	/^pins\.chains\.\d\.(name|kind|uniswap\..*|wrappedNative|settlementToken|assets\..*|deployedAtBlock)$/,
	/^pins\.chains\.\d\.contracts\.(earlier\w+\.\d|accessManager|typedDelegate)$/,
	/^pins\.chains\.1\.contracts\.(delegate|escrow)$/,
];

test("a change of any one value of request, quote, op or pins is refused before signing, or does not change what is signed", async () => {
	const { limits: _, ...op } = makeOp();
	const paths = leafPaths(op);
	expect(paths.length).toBeGreaterThan(100);
	const signature = await sign(makeOp());
	const touched = new Set<string>();
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...paths), fc.nat(), async (path, seed) => {
			const changed = changeAt(structuredClone(op), path, seed);
			const field = await refusedField({ ...changed, limits });
			touched.add(path);
			if (field !== undefined) return;
			expect(path).toSatisfy((text: string) => inert.some((pattern) => pattern.test(text)));
			expect(await sign({ ...changed, limits })).toBe(signature);
		}),
		{ numRuns: 600, examples: paths.map((path): [string, number] => [path, 0]) },
	);
	expect(touched.size).toBe(paths.length);
});

test("a build is refused if it lacks any value that the signature depends on", async () => {
	const build = makeBuild();
	for (const path of leafPaths(build).filter((text) => !/^(geoOpToken|expiresAt)$/.test(text))) {
		const lacking = setAt(structuredClone(build), path, undefined);
		expect(await refusedField(makeOp({ build: lacking })), path).toBeDefined();
	}
	expect(await refusedField(makeOp({ build: {} as never }))).toBe("geoOp.order.deadlines");
});

test("a build that is consistent with a changed order is refused, and the error names the changed term", async () => {
	const order = makeOrder();
	for (const field of Object.keys(order) as (keyof Order)[]) {
		if (field === "deadlines") continue;
		const value = order[field];
		const other = typeof value === "bigint" ? value + 1n : toHex(BigInt(value) + 1n, { size: 32 });
		const build = makeBuild({ order: makeOrder({ [field]: other }) });
		expect(await refusedField(makeOp({ build })), field).toBe(`geoOp.order.${field}`);
	}
});

test("typed data and a hash of an order other than the one shown are refused", async () => {
	const build = makeBuild();
	const { geoOpHash, geoOp } = makeBuild({ order: makeOrder({ inputAmount: 10_000_001n }) });
	const hidden = { ...build, geoOp: { ...build.geoOp, typedData: geoOp.typedData } };
	expect(await refusedField(makeOp({ build: hidden }))).toBe("geoOp.typedData.message.inputAmount");
	expect(await refusedField(makeOp({ build: { ...build, geoOpHash } }))).toBe("geoOpHash");
});

test("an unchanged op is signed as typed data whose digest is its hash", async () => {
	const signature = await sign(makeOp());
	const hash = makeBuild().geoOpHash as Hex;
	expect(await recoverAddress({ hash, signature })).toBe(account.address);
	expect(hashTypedData(orderTypedData(makeOrder()))).toBe(hash);
});

test("verifyOp returns the order and its hash, and whether its account accepts typed data only", () => {
	const { delegate = zeroAddress, typedDelegate = zeroAddress } = makePins().chains[0]?.contracts ?? {};
	const verified = (chosen: Address) =>
		verifyOp({ ...makeOp({ build: makeBuild({ delegate: chosen }) }), wallet: account.address });
	const { geoOpHash: hash } = makeBuild();
	expect(verified(delegate)).toEqual({ order: makeOrder(), hash, isTypedOnly: false });
	expect(verified(typedDelegate)).toEqual({ order: makeOrder(), hash, isTypedOnly: true });
});

test("chains and fields that are unknown to this version, in pins and responses, change nothing for the pinned chains", async () => {
	const signature = await sign(makeOp());
	const copied = JSON.parse(JSON.stringify({ pins: makePins(), build: makeBuild() }));
	const op = { ...copied, quote: makeQuote() };
	const unknown = { newField: { deep: ["0x01"] } };
	for (const place of [op.pins, op.quote, op.build, op.build.geoOp, op.build.geoOp.typedData]) {
		Object.assign(place, unknown);
	}
	for (const chain of op.pins.chains) {
		Object.assign(chain, unknown, { kind: "a-newer-kind" });
		Object.assign(chain.contracts, unknown);
		for (const asset of chain.assets) Object.assign(asset, unknown);
	}
	op.pins.chains.push({ chainId: 8453, kind: "a-newer-kind", contracts: { escrow: "not an address" } });
	expect(await sign(makeOp(op))).toBe(signature);
	const intent = { ...makeIntent(), destinationChain: 10 };
	expect(await refusedField(makeOp({ ...op, intent }))).toBe("intent.destinationChain");
});

test("the pins in a deployment file of an earlier version remain valid for its chains", () => {
	const file = new URL("../../protocol/vectors/deployment-without-pyth.json", import.meta.url);
	const pins: Deployment = JSON.parse(readFileSync(file, "utf8"));
	for (const chain of pins.chains) {
		expect(pinnedChain(pins, { field: "intent.originChain", chainId: chain.chainId })).toBe(chain);
	}
	expect(() => pinnedChain(pins, { field: "intent.originChain", chainId: 8453 })).toThrow(
		"a pinned chain (31337, 31338)",
	);
});

test("an op is signed with either delegate, in any hex case and with a native input", async () => {
	const typedOnly = makePins().chains[0]?.contracts.typedDelegate ?? zeroAddress;
	const lower = JSON.parse(
		JSON.stringify(makeBuild()).replace(/0x[0-9a-fA-F]+/g, (hex) => hex.toLowerCase()),
	);
	const native = makeBuild({ order: makeOrder({ inputToken: toWord(zeroAddress) }) });
	expect(await refusedField(makeOp({ build: makeBuild({ delegate: typedOnly }) }))).toBeUndefined();
	expect(await refusedField(makeOp({ build: lower }))).toBeUndefined();
	const intent = makeIntent({ inputToken: zeroAddress });
	expect(await refusedField(makeOp({ intent, build: native }))).toBeUndefined();
});

test("without a recipient, only the wallet is accepted as the recipient", async () => {
	const { recipient: _, ...intent } = makeIntent();
	const order = makeOrder({ recipient: toWord(account.address) });
	const op = { intent, quote: makeQuote({ recipient: account.address }), build: makeBuild({ order }) };
	expect(await refusedField(makeOp(op))).toBeUndefined();
	expect(await refusedField(makeOp({ intent }))).toBe("quote.recipient");
});

test("an earlier escrow, vault or delegate, and an unknown delegate, are refused for a new order", async () => {
	const [chain] = makePins().chains;
	if (!chain) throw new Error("two chains are pinned");
	const { earlierEscrows, earlierVaults, earlierDelegates, escrow } = chain.contracts;
	const refused = (changes: Partial<Order>) =>
		refusedField(makeOp({ build: makeBuild({ order: makeOrder(changes) }) }));
	expect(await refused({ escrow: toWord(earlierEscrows[0] ?? escrow) })).toBe("geoOp.order.escrow");
	expect(await refused({ originVault: toWord(earlierVaults[0] ?? escrow) })).toBe("geoOp.order.originVault");
	for (const delegate of [...earlierDelegates, getAddress(toHex(0xbad, { size: 20 }))]) {
		expect(await refusedField(makeOp({ build: makeBuild({ delegate }) }))).toBe("geoOp.delegate");
	}
});

const now = BigInt(nowMs / 1000);
test.each([
	[
		"has an open deadline in the past",
		{ openDeadline: now, fillDeadline: now + 10n, refundAfter: now + 20n },
	],
	[
		"has an open deadline that is too late",
		{ openDeadline: now + 901n, fillDeadline: now + 910n, refundAfter: now + 920n },
	],
	[
		"has a refund time that is too late",
		{ openDeadline: now + 60n, fillDeadline: now + 70n, refundAfter: now + 60n + 259_201n },
	],
])("an order that %s is refused", async (_, deadlines) => {
	const order = makeOrder({ deadlines: packDeadlines(deadlines) });
	expect(await refusedField(makeOp({ build: makeBuild({ order }) }))).toMatch(/^geoOp\.order\.deadlines/);
});

test("deadlines that are equal, or have bits above them, are refused", async () => {
	const times = (open: bigint, fill: bigint, refund: bigint) => (open << 128n) | (fill << 64n) | refund;
	for (const deadlines of [
		times(now + 60n, now + 60n, now + 90n),
		times(now + 60n, now + 70n, now + 70n),
		times(now + 60n, now + 70n, now + 80n) | (1n << 192n),
	]) {
		// No order can be made with such deadlines, so the text is put into the finished build.
		const build = setAt(makeBuild(), "geoOp.order.deadlines", String(deadlines));
		expect(await refusedField(makeOp({ build }))).toBe("geoOp.order.deadlines");
	}
});

test("a minimum that the slippage does not explain, or that is below the caller's own, is refused", async () => {
	const refused = (minOutput: bigint, changes: Partial<OpToVerify> = {}) => {
		const build = makeBuild({ order: makeOrder({ minOutput }) });
		return refusedField(makeOp({ build, quote: makeQuote({ minOutput }), ...changes }));
	};
	// 9,980,000 less 50 bps is 9,930,100.
	expect(await refused(9_930_099n)).toBe("quote.minOutput");
	expect(await refused(9_930_100n)).toBeUndefined();
	expect(await refused(9_980_001n)).toBe("quote.minOutput");
	const atLeast = (minOutput: bigint) => ({ limits: { nowMs, minOutput } });
	expect(await refused(9_930_100n, atLeast(9_930_100n))).toBeUndefined();
	expect(await refused(9_930_100n, atLeast(9_930_101n))).toBe("quote.minOutput");
});

test("the op of an exact output is signed only for that output, and for an input within the caller's maximum", async () => {
	const { amount: _, ...exact } = makeIntent();
	const refused = (minOutput: bigint, limits: NonNullable<OpToVerify["limits"]>, amount = 10_000_000n) => {
		const build = makeBuild({ order: makeOrder({ minOutput, inputAmount: amount }) });
		const intent = { ...exact, outputAmount: "9930100" };
		const output = (minOutput * 10_000n) / 9_950n;
		return refusedField(makeOp({ intent, build, quote: makeQuote({ amount, minOutput, output }), limits }));
	};
	expect(await refused(9_930_100n, { nowMs, maxInput: 10_000_000n })).toBeUndefined();
	expect(await refused(9_930_100n, { nowMs, maxInput: 9_999_999n })).toBe("quote.amount");
	expect(await refused(9_930_100n, { nowMs })).toBe("limits.maxInput");
	expect(await refused(9_930_099n, { nowMs, maxInput: 10_000_000n })).toBe("quote.minOutput");
	// A dear swap is the caller's own decision.
	expect(await refused(9_930_100n, { nowMs, maxInput: 20_000_000n }, 20_000_000n)).toBeUndefined();
});

test("an op is signed only with the requested top-up, and one in USD only with the quoted one", async () => {
	const refused = (asked: Partial<QuoteRequestBody>, quoted: bigint | undefined, topUp: bigint) => {
		const build = makeBuild({ order: makeOrder({ topUp }) });
		const quote = makeQuote(quoted === undefined ? {} : { topUp: quoted });
		const limits = { nowMs, minOutput: 9_930_100n };
		return refusedField(makeOp({ intent: makeIntent(asked), build, quote, limits }));
	};
	expect(await refused({ topUp: "7" }, 7n, 7n)).toBeUndefined();
	expect(await refused({ topUpUsd: "0.50" }, 7n, 7n)).toBeUndefined();
	expect(await refused({ topUp: "7" }, 6n, 6n)).toBe("quote.topUp");
	expect(await refused({ topUp: "7" }, 7n, 6n)).toBe("geoOp.order.topUp");
	expect(await refused({ topUpUsd: "0.50" }, 7n, 6n)).toBe("geoOp.order.topUp");
	expect(await refused({ topUpUsd: "0.50" }, 0n, 0n)).toBe("quote.topUp");
	expect(await refused({ topUpUsd: "0.50" }, undefined, 0n)).toBe("quote.topUp");
	expect(await refused({}, 7n, 7n)).toBe("geoOp.order.topUp");
});

test("an op between two stables for less than 97 % is signed only if the caller gives a minimum", async () => {
	const refused = (output: bigint, changes: Partial<OpToVerify> = {}) => {
		const quote = makeQuote({ output, minOutput: output });
		const build = makeBuild({ order: makeOrder({ minOutput: output }) });
		return refusedField(makeOp({ build, quote, ...changes }));
	};
	expect(await refused(1n)).toBe("quote.minOutput");
	expect(await refused(9_699_999n)).toBe("quote.minOutput");
	expect(await refused(9_700_000n)).toBeUndefined();
	expect(await refused(1n, { limits: { nowMs, minOutput: 1n } })).toBeUndefined();
});

test("a default slippage above the documented one is refused", async () => {
	const { slippageBps: _, ...intent } = makeIntent();
	expect(await refusedField(makeOp({ intent, quote: makeQuote({ slippageBps: 300 }) }))).toBeUndefined();
	expect(await refusedField(makeOp({ intent, quote: makeQuote({ slippageBps: 301 }) }))).toBe(
		"quote.slippageBps",
	);
});

test("another wallet's op, and a chain that is not pinned, are refused", async () => {
	const intent = makeIntent({ walletAddress: zeroAddress });
	expect(await refusedField(makeOp({ intent }))).toBe("intent.walletAddress");
	const elsewhere = makeIntent({ destinationChain: 1 });
	expect(await refusedField(makeOp({ intent: elsewhere }))).toBe("intent.destinationChain");
});
