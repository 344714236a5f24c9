import {
	type ChainDeployment,
	encodeBundle,
	encodeMandate,
	geoAccountAbi,
	type Mandate,
	mandateTypedData,
	type Opening,
	type Order,
	orderDigest,
	orderProof,
	orderTerms,
	orderTypedData,
	packDeadlines,
	type SignatureKind,
	toWord,
} from "@geoswap/protocol";
import {
	type Address,
	concat,
	encodeFunctionData,
	getAddress,
	type Hex,
	numberToHex,
	type SignedAuthorization,
	serializeTransaction,
	slice,
	zeroAddress,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { plainOrder } from "../../test/plain-order.ts";
import { judgeRelayer, type RelayerRules } from "./judge-relayer.ts";
import { outflowMeter } from "./meters.ts";
import { Refusal } from "./refusal.ts";

const at = (n: number): Address => getAddress(numberToHex(n, { size: 20 }));
const contracts = {
	delegate: at(0xde1),
	typedDelegate: at(0xde2),
	earlierDelegates: [at(0xde0)],
	escrow: at(0xe5c2),
	earlierEscrows: [at(0xe5c1)],
	vault: at(0x7a),
	earlierVaults: [],
	accessManager: at(0xacc),
};
const chainId = 31337;
const rules: RelayerRules = {
	key: "relayer",
	address: at(0x9e1),
	chain: { chainId, contracts } as unknown as ChainDeployment,
	maxGas: 10n ** 7n,
	maxFeePerGasWei: 10n ** 9n,
	maxTransactionFeeWei: 10n ** 18n,
	deployment: { chains: [] },
	attesterSets: new Set(),
	finalitySeconds: new Map(),
	nowMs: Date.now,
};
const [wallet, other, stranger] = [1, 2, 3].map(() => privateKeyToAccount(generatePrivateKey())) as [
	PrivateKeyAccount,
	PrivateKeyAccount,
	PrivateKeyAccount,
];

function orderOf(owner: PrivateKeyAccount, terms: Partial<Order> = {}): Order {
	const escrow = toWord(contracts.escrow);
	return plainOrder({ swapKey: toWord(owner.address), wallet: toWord(owner.address), escrow, ...terms });
}

async function openingOf(
	owner: PrivateKeyAccount,
	{
		kind = "typed",
		signer = owner,
		...terms
	}: { kind?: SignatureKind; signer?: PrivateKeyAccount } & Partial<Order> = {},
): Promise<Opening> {
	const order = orderOf(owner, terms);
	const signature =
		kind === "typed"
			? await signer.signTypedData(orderTypedData(order))
			: await signer.signMessage({ message: { raw: orderDigest(order) } });
	const proof = orderProof({ kind, signature });
	return { wallet: owner.address, gas: 200_000n, terms: orderTerms(order), proof };
}

function judge(
	openings: Opening[],
	{
		escrow = contracts.escrow,
		authorizationList,
	}: { escrow?: Address; authorizationList?: SignedAuthorization[] } = {},
): string {
	const call = encodeBundle({ kind: "open", escrow, openings });
	const common = { chainId, nonce: 7, gas: 10n ** 6n, maxFeePerGas: 10n ** 8n, ...call };
	const unsigned: Hex = authorizationList
		? serializeTransaction({ ...common, type: "eip7702", authorizationList })
		: serializeTransaction({ ...common, type: "eip1559" });
	try {
		const { kind, payouts, about } = judgeRelayer(unsigned, rules);
		expect(payouts).toEqual([]);
		expect(about).toMatchObject({ wallets: openings.map((opening) => opening.wallet) });
		return kind;
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		return error.reason;
	}
}

test("orders that their wallets signed, in either way, are opened in one transaction, also two of one wallet", async () => {
	const openings = [
		await openingOf(wallet),
		await openingOf(wallet, { kind: "personal", swapKey: toWord(at(5)) }),
		await openingOf(other, { kind: "personal" }),
	];
	expect(judge(openings)).toBe("open");
	expect(judge(openings.slice(2))).toBe("open");
});

test("a batch is refused if the wallet of any of its orders has not signed exactly this order", async () => {
	const good = await openingOf(wallet);
	const personal = await openingOf(wallet, { kind: "personal" });
	const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
	const twin = concat([
		slice(good.proof, 0, 33),
		numberToHex(curveOrder - BigInt(slice(good.proof, 33, 65)), { size: 32 }),
		slice(good.proof, 65) === "0x1b" ? "0x1c" : "0x1b",
	]);
	const withKind = (kind: Hex, { proof }: Opening): Hex => concat([kind, slice(proof, 1)]);
	const withV = (v: Hex): Hex => concat([slice(good.proof, 0, 65), v]);
	const forgeries: Record<string, [Partial<Opening>, reason: string]> = {
		"a stranger's signature": [await openingOf(wallet, { signer: stranger }), "bad-signature"],
		"another wallet": [{ wallet: other.address }, "bad-signature"],
		"another recipient": [{ terms: { ...good.terms, recipient: toWord(stranger.address) } }, "bad-signature"],
		"a top-up": [{ terms: { ...good.terms, topUp: 1n } }, "bad-signature"],
		"more bits in the deadlines": [
			{ terms: { ...good.terms, deadlines: good.terms.deadlines | (1n << 255n) } },
			"bad-signature",
		],
		"a typed signature as a personal one": [{ proof: withKind("0x01", good) }, "bad-signature"],
		"a personal signature as a typed one": [{ proof: withKind("0x00", personal) }, "bad-signature"],
		"another kind": [{ proof: withKind("0x02", good) }, "malformed"],
		"the twin with a high s": [{ proof: twin }, "bad-signature"],
		"a parity in place of v": [
			{ proof: withV(slice(good.proof, 65) === "0x1b" ? "0x00" : "0x01") },
			"bad-signature",
		],
		"another v": [{ proof: withV("0x1d") }, "bad-signature"],
		"a longer proof": [{ proof: concat([good.proof, "0x00"]) }, "malformed"],
		"a shorter proof": [{ proof: slice(good.proof, 0, 65) }, "malformed"],
		"no proof": [{ proof: "0x" }, "malformed"],
	};
	const honest = await openingOf(other);
	expect(judge([honest, good, personal])).toBe("open");
	for (const [name, [change, reason]] of Object.entries(forgeries)) {
		expect.soft(judge([{ ...good, ...change }]), name).toBe(reason);
		expect.soft(judge([honest, { ...good, ...change }]), `${name}, after an honest one`).toBe(reason);
	}
	expect(judge([])).toBe("malformed");
});

test("an agent's order is opened only within a mandate of its wallet's owner", async () => {
	const [agent, swapKey] = [stranger, toWord(at(6))];
	const order = orderOf(wallet, { swapKey });
	const mandateOf = async (change: Partial<Mandate> = {}, { signer = wallet } = {}): Promise<Hex> => {
		const mandate: Mandate = {
			wallet: wallet.address,
			agent: agent.address,
			epoch: 0n,
			expiry: 1n << 63n,
			period: 60,
			originVault: getAddress(slice(order.originVault, 12)),
			attesterSet: order.attesterSet,
			inputs: [{ token: getAddress(slice(order.inputToken, 12)), maxAmount: order.inputAmount }],
			outputs: [],
			recipients: [order.recipient],
			...change,
		};
		const typedData = mandateTypedData({ chainId, escrow: contracts.escrow, mandate });
		return encodeMandate({ mandate, signature: await signer.signTypedData(typedData) });
	};
	const judged = async (mandate: Hex, signer = agent) => {
		const opening = await openingOf(wallet, { signer, swapKey });
		return judge([{ ...opening, proof: concat([opening.proof, mandate]) }]);
	};
	const good = await mandateOf();
	expect(await judged(good)).toBe("open");
	expect(await judged(good, other)).toBe("bad-signature");
	expect(await judged(good, wallet)).toBe("bad-signature");
	expect(await judged(await mandateOf({}, { signer: stranger }))).toBe("bad-mandate");
	expect(await judged(await mandateOf({ recipients: [] }))).toBe("bad-mandate");
	expect(await judged(await mandateOf({ originVault: at(0xbad) }))).toBe("bad-mandate");
	expect(await judged(await mandateOf({ wallet: other.address }))).toBe("bad-mandate");
	expect(await judged(await mandateOf({ inputs: [] }))).toBe("bad-mandate");
	expect(await judged(await mandateOf({ expiry: 1n }))).toBe("bad-mandate");
	expect(await judged(concat([good, "0x00"]))).toBe("malformed");
	expect(await judged(slice(good, 0, 64))).toBe("malformed");
});

test("a wallet's revocation of its mandates is sent, in the one form that a lane writes", () => {
	const call = (data: Hex) => {
		const fees = { gas: 10n ** 5n, maxFeePerGas: 10n ** 8n };
		const unsigned = serializeTransaction({ chainId, nonce: 7, ...fees, to: wallet.address, data });
		try {
			return judgeRelayer(unsigned, rules).kind;
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			return error.reason;
		}
	};
	const revoke = (proof: Hex) =>
		encodeFunctionData({ abi: geoAccountAbi, functionName: "revokeMandates", args: [proof] });
	const good = revoke(`0x00${"11".repeat(65)}`);
	expect(call(good)).toBe("cancel");
	expect(call(concat([good, "0x00"]))).toBe("malformed");
	expect(call(revoke("0x"))).toBe("malformed");
	expect(call(slice(good, 0, 40))).toBe("malformed");
	expect(call(slice(good, 0, 3))).toBe("malformed");
});

test("orders are opened only in an escrow of ours, and only in the one that they were signed for", async () => {
	const [earlier = at(1)] = contracts.earlierEscrows;
	const foreign = at(0xbad);
	const signedFor = (escrow: Address) => openingOf(wallet, { escrow: toWord(escrow) });
	expect(judge([await signedFor(earlier)], { escrow: earlier })).toBe("open");
	expect(judge([await signedFor(foreign)], { escrow: foreign })).toBe("not-ours");
	expect(judge([await signedFor(earlier)])).toBe("bad-signature");
	expect(judge([await openingOf(wallet, { originChainId: 1n })])).toBe("bad-signature");
});

test("an authorization goes with one order of its wallet, for this chain and one of the two delegates that are offered", async () => {
	const opening = await openingOf(wallet);
	const authorize = async (
		address: Address,
		{ signer = wallet, forChain = chainId }: { signer?: PrivateKeyAccount; forChain?: number } = {},
	) => (await signer.signAuthorization({ address, chainId: forChain, nonce: 0 })) as SignedAuthorization;
	const by = async (...args: Parameters<typeof authorize>) =>
		judge([opening], { authorizationList: [await authorize(...args)] });
	expect(await by(contracts.delegate)).toBe("open");
	expect(await by(contracts.typedDelegate)).toBe("open");
	expect(await by(at(0xbad))).toBe("not-ours");
	expect(await by(contracts.earlierDelegates[0] ?? at(1))).toBe("not-ours");
	expect(await by(contracts.delegate, { forChain: 0 })).toBe("not-ours");
	expect(await by(contracts.delegate, { forChain: 1 })).toBe("not-ours");
	expect(await by(contracts.delegate, { signer: stranger })).toBe("bad-signature");
	const good = await authorize(contracts.delegate);
	expect(judge([opening], { authorizationList: [good, good] })).toBe("malformed");
	expect(judge([opening, await openingOf(other)], { authorizationList: [good] })).toBe("malformed");
});

test("a fill's top-up counts against the cap of the native token, and its deposit must be worth both", () => {
	const [usdc, attesterSet] = [at(0xc), numberToHex(5, { size: 32 })];
	const judgeFill = (topUp: bigint, assets: Address[]) => {
		const chain = {
			chainId,
			contracts,
			settlementToken: usdc,
			assets: assets.map((address) => ({ address })),
		} as unknown as ChainDeployment;
		const now = BigInt(Math.floor(Date.now() / 1_000));
		const deadlines = { openDeadline: now + 60n, fillDeadline: now + 3_600n, refundAfter: now + 7_200n };
		const order = orderOf(wallet, {
			originChainId: BigInt(chainId),
			destinationChainId: BigInt(chainId),
			originVault: toWord(contracts.vault),
			destinationVault: toWord(contracts.vault),
			attesterSet,
			inputToken: toWord(usdc),
			outputToken: toWord(usdc),
			recipient: toWord(wallet.address),
			minOutput: 1n,
			deadlines: packDeadlines(deadlines),
			topUp,
		});
		const fill = { order, amount: 9n, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
		const call = encodeBundle({ kind: "fill", vault: contracts.vault, fills: [fill] });
		const common = { chainId, nonce: 7, gas: 10n ** 6n, maxFeePerGas: 10n ** 8n, type: "eip1559" as const };
		return judgeRelayer(serializeTransaction({ ...common, ...call }), {
			...rules,
			chain,
			deployment: { chains: [chain] },
			attesterSets: new Set([attesterSet]),
		}).payouts.map(({ order: _, item: __, ...payout }) => payout);
	};
	const [delivery, topUp] = [
		{ token: usdc, amount: 9n },
		{ token: zeroAddress, amount: 5n },
	];
	const meters = [outflowMeter(chainId, usdc), outflowMeter(chainId, zeroAddress)];
	expect(judgeFill(0n, [usdc, zeroAddress])).toEqual([{ meter: meters[0], ...delivery }]);
	expect(judgeFill(5n, [usdc, zeroAddress])).toEqual([
		{ meter: meters[0], ...delivery, beside: topUp },
		{ meter: meters[1], ...topUp, beside: delivery },
	]);
	expect(() => judgeFill(5n, [usdc])).toThrow("top-up is not ours");
});
