import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	attestationMessage,
	attestationTypedData,
	type Bundle,
	encodeBundle,
	type Fill,
	geoEscrowAbi,
	geoVaultAbi,
	type Opening,
	type Order,
	orderDigest,
	orderId,
	orderProof,
	orderTerms,
	orderTypedData,
	packDeadlines,
	type SignatureKind,
	toWord,
} from "@geoswap/protocol";
import { type Address, concat, type Hex, HttpRequestError, zeroAddress } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ability, connectWithout } from "../../../../test/chain/connect-without.ts";
import { assetOf, newOrder, newWallet, sendAsAnyone } from "../../../../test/lane/lane-scene.ts";
import { connectChain, type EvmChain } from "../connect-chain.ts";
import { simulateBundle } from "../send/simulate-bundle.ts";
import { simulateSigned, simulateUnsigned } from "../wallet/simulate-open.ts";
import type { SimulationMethod } from "./find-simulator.ts";
import { simulatorOf } from "./simulate.ts";

const lacking: Record<SimulationMethod, Ability[]> = {
	eth_simulateV1: [],
	eth_call: ["eth_simulateV1", "debug_traceCall"],
	debug_traceCall: ["eth_simulateV1", "overrides in eth_call"],
};
const methods = Object.keys(lacking) as SimulationMethod[];

let chains: TestChains;
const stops: (() => Promise<void>)[] = [];
const origins = new Map<SimulationMethod, EvmChain>();
const destinations = new Map<SimulationMethod, EvmChain>();
beforeAll(async () => {
	chains = await startTestChains({ automine: true });
	for (const method of methods) {
		const [origin, destination] = await Promise.all([
			connectWithout(chains.origin, lacking[method]),
			connectWithout(chains.destination, lacking[method]),
		]);
		stops.push(origin.stop, destination.stop);
		origins.set(method, origin.chain);
		destinations.set(method, destination.chain);
	}
});
afterAll(async () => {
	await Promise.all(stops.map((stop) => stop()));
	await chains.stop();
});

type WithoutGas<T> = T extends unknown ? Omit<T, "gasUsed"> : never;

/** Expects the same answer by every method, except for gas, and returns it with the gas by each. */
async function sameByAll<T extends object>(
	nodes: ReadonlyMap<SimulationMethod, EvmChain>,
	ask: (chain: EvmChain) => Promise<T>,
): Promise<{ answer: WithoutGas<T>; gas: Map<SimulationMethod, bigint> }> {
	const gas = new Map<SimulationMethod, bigint>();
	const answers = new Map<SimulationMethod, WithoutGas<T>>();
	for (const [method, chain] of nodes) {
		const { gasUsed, ...answer } = (await ask(chain)) as T & { gasUsed?: bigint };
		if (gasUsed !== undefined) gas.set(method, gasUsed);
		answers.set(method, answer as WithoutGas<T>);
	}
	const [first] = answers.values();
	for (const [method, answer] of answers) expect.soft(answer, method).toEqual(first);
	return { answer: first as WithoutGas<T>, gas };
}

test("each node is used with the best method that it supports, and the reason is recorded for each better one", async () => {
	for (const [method, chain] of [...origins, ...destinations]) {
		const simulator = await simulatorOf(chain);
		expect(simulator.method).toBe(method);
		expect(simulator.takesAuthorizations).toBe(method === "eth_simulateV1");
		expect(simulator.refused).toHaveLength({ eth_simulateV1: 0, eth_call: 1, debug_traceCall: 2 }[method]);
	}
	const none = await connectWithout(chains.origin, [
		"eth_simulateV1",
		"overrides in eth_call",
		"debug_traceCall",
	]);
	stops.push(none.stop);
	await expect(simulatorOf(none.chain)).rejects.toThrow(/configure a node with one of these methods/);
});

test("a node that is unreachable or busy gets the method again, and one that lacks only a method gets the next one", async () => {
	const { origin } = chains;
	const away = connectChain({ ...origin, rpcUrl: "http://127.0.0.1:9" });
	await expect(simulatorOf(away)).rejects.toThrow(/HTTP request failed/);

	const crashing = await connectWithout(origin, []);
	stops.push(crashing.stop);
	const { request } = crashing.chain.client;
	let answer: () => Promise<unknown> = () => Promise.reject(new Error("never asked"));
	const client = {
		...crashing.chain.client,
		simulateBlocks: () => answer(),
		request,
	} as unknown as EvmChain["client"];
	const chain = { ...crashing.chain, client };
	const failure = async (status: number): Promise<never> => {
		throw new HttpRequestError({ url: "", status });
	};
	answer = () => failure(429);
	await expect(simulatorOf(chain)).rejects.toThrow(/HTTP request failed/);
	answer = () => failure(500);
	expect((await simulatorOf(chain)).method).toBe("eth_call");
});

test("if another node that lacks the method responds, the next method is used immediately", async () => {
	const lacks: Ability[] = [];
	const node = await connectWithout(chains.origin, lacks);
	stops.push(node.stop);
	const order = await newOrder({ chains }, { wallet: toWord((await newWallet({ chains })).address) });
	const ask = () => simulateUnsigned({ chain: node.chain, order });
	expect((await ask()).opens).toBe(true);
	lacks.push("eth_simulateV1");
	expect((await ask()).opens).toBe(true);
	expect((await simulatorOf(node.chain)).method).toBe("eth_call");
});

test("an order gets the same verdict from every method, before there is a signature", async () => {
	const wallet = await newWallet({ chains });
	const make = (terms: Partial<Order> = {}) =>
		newOrder({ chains }, { wallet: toWord(wallet.address), ...terms });
	const past = packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n });
	const ask = (order: Order) => sameByAll(origins, (chain) => simulateUnsigned({ chain, order }));
	const fine = await ask(await make());
	expect(fine.answer).toEqual({ opens: true });
	expectCloseGas(fine.gas);
	const reasons = {
		ERC20InsufficientBalance: await make({ inputAmount: 200_000_000n }),
		InvalidDeadlines: await make({ deadlines: past }),
		InvalidAmount: await make({ minOutput: 0n }),
	};
	for (const [reason, order] of Object.entries(reasons)) {
		expect.soft((await ask(order)).answer).toMatchObject({ opens: false, reason });
	}
});

test("a signed order gets the same verdict from every method, with its authorization", async () => {
	const { origin } = chains;
	const { delegate, typedDelegate, escrow } = origin.deployment.contracts;
	const wallet = await newWallet({ chains });
	const order = await newOrder({ chains }, { wallet: toWord(wallet.address) });
	const authorization = await authorize(wallet, {});
	const ask = async (
		signed: Parameters<typeof signedOrder>[1] = { order },
		given: typeof authorization | "none" = authorization,
	) => {
		const { proof } = await signedOrder(wallet, signed);
		return sameByAll(origins, (chain) =>
			simulateSigned({
				chain,
				order: signed.order,
				proof,
				authorization: given === "none" ? undefined : given,
			}),
		);
	};
	const fine = await ask();
	expect(fine.answer).toEqual({ opens: true });
	expectCloseGas(fine.gas);
	expect((await ask({ order, kind: "typed" })).answer).toEqual({ opens: true });
	const typedOnly = await authorize(wallet, { address: typedDelegate });
	expect((await ask({ order, kind: "typed" }, typedOnly)).answer).toEqual({ opens: true });

	const refused = async (asking: ReturnType<typeof ask>) => {
		const { answer } = await asking;
		return answer.opens ? "opens" : answer.reason;
	};
	const poor = await newOrder({ chains }, { wallet: toWord(wallet.address), inputAmount: 200_000_000n });
	const other = privateKeyToAccount(generatePrivateKey());
	expect({
		"without a delegation": await refused(ask({ order }, "none")),
		"a spent nonce": await refused(ask({ order }, await authorize(wallet, { nonce: 1 }))),
		"another chain": await refused(ask({ order }, await authorize(wallet, { chainId: 1 }))),
		"every chain": await refused(ask({ order }, await authorize(wallet, { chainId: 0 }))),
		"another signer": await refused(ask({ order }, await authorize(other, {}))),
		"another delegate": await refused(ask({ order }, await authorize(wallet, { address: escrow }))),
		"a delegate that accepts typed data only": await refused(ask({ order }, typedOnly)),
		"too little": await refused(ask({ order: poor })),
		"a forged signature": await refused(ask({ order, signer: other })),
	}).toMatchInlineSnapshot(`
		{
		  "a delegate that accepts typed data only": "Opaque",
		  "a forged signature": "WrongSigner",
		  "a spent nonce": "reverted without a reason",
		  "another chain": "reverted without a reason",
		  "another delegate": "reverted without a reason",
		  "another signer": "reverted without a reason",
		  "every chain": "opens",
		  "too little": "ERC20InsufficientBalance",
		  "without a delegation": "reverted without a reason",
		}
	`);

	await origin.testClient.setCode({
		address: wallet.address,
		bytecode: concat(["0xef0100", delegate]),
	});
	expect((await ask({ order }, "none")).answer).toEqual({ opens: true });
	const openings = [await signedOrder(wallet, { order })];
	await land(origin, { kind: "open", escrow, openings }, order);
	expect(await refused(ask({ order }, "none"))).toBe("AlreadyOpened");
});

test("a simulated bundle of opens shows which ones would open, and the others do open", async () => {
	const { origin, keys } = chains;
	const { delegate, escrow } = origin.deployment.contracts;
	const wallets = await Promise.all([newWallet({ chains }), newWallet({ chains }), newWallet({ chains })]);
	const orders: Order[] = [];
	for (const [i, { address }] of wallets.entries()) {
		await origin.testClient.setCode({ address, bytecode: concat(["0xef0100", delegate]) });
		orders.push(
			await newOrder(
				{ chains },
				{ wallet: toWord(address), inputAmount: i === 1 ? 10n ** 12n : 10_000_000n },
			),
		);
	}
	const openings = await Promise.all(
		wallets.map((wallet, i) => signedOrder(wallet, { order: orders[i] as Order })),
	);
	const from = privateKeyToAccount(keys.relayers[0] as Hex).address;
	const ask = async (given: Opening[]) => {
		const bundle: Bundle = { kind: "open", escrow, openings: given };
		const { answer } = await askBundle(origins, { from, bundle, orders });
		return answer;
	};
	const changed = (change: Partial<Opening>) =>
		openings.map((opening, i) => (i === 2 ? { ...opening, ...change } : opening));
	expect(await ask(openings)).toEqual({ succeeds: true, done: [0, 2], skips: [] });
	const first = { succeeds: true, done: [0], skips: [] };
	expect(await ask(changed({ proof: "0x12" }))).toEqual(first);
	expect(await ask(changed({ gas: 40_000n }))).toEqual(first);
	// JUMPDEST, PUSH1 0, JUMP, which uses up all gas that it gets.
	await origin.testClient.setCode({ address: wallets[0]?.address as Address, bytecode: "0x5b600056" });
	expect(await ask(openings)).toEqual({ succeeds: true, done: [2], skips: [] });
});

test("a bundle opens as many orders of one wallet as its balance pays for", async () => {
	const { origin, keys } = chains;
	const { delegate, escrow } = origin.deployment.contracts;
	const wallet = await newWallet({ chains });
	await origin.testClient.setCode({ address: wallet.address, bytecode: concat(["0xef0100", delegate]) });
	const orders: Order[] = [];
	for (const inputAmount of [60_000_000n, 60_000_000n, 40_000_000n]) {
		orders.push(await newOrder({ chains }, { wallet: toWord(wallet.address), inputAmount }));
	}
	const openings = await Promise.all(orders.map((order) => signedOrder(wallet, { order })));
	const from = privateKeyToAccount(keys.relayers[0] as Hex).address;
	const bundle: Bundle = { kind: "open", escrow, openings };
	const { answer } = await askBundle(origins, { from, bundle, orders });
	expect(answer).toEqual({ succeeds: true, done: [0, 2], skips: [] });
});

test("a simulated bundle of fills shows which ones would be skipped, each with the reason at its position", async () => {
	const { destination, keys } = chains;
	const { vault, escrow } = destination.deployment.contracts;
	const from = privateKeyToAccount(keys.relayers[0] as Hex).address;
	const eth = toWord(assetOf(destination, "ETH"));
	const orb = toWord(assetOf(destination, "ORB"));
	const make = (terms: Partial<Order> = {}) =>
		newOrder({ chains }, { wallet: toWord(privateKeyToAccount(generatePrivateKey()).address), ...terms });
	const past = packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n });
	const inventory = { amount: 9_950_000n, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
	const routed = { ...inventory, amount: 10_000_000n, poolFee: 3000 };
	const decided = { ...inventory, order: await make() };
	const relayer = privateKeyToAccount(keys.relayers[0] as Hex);
	await land(destination, { kind: "fill", vault, fills: [decided] }, decided.order, relayer);
	const fills: Record<string, Fill> = {
		fine: { ...inventory, order: await make() },
		decided,
		expired: { ...inventory, order: await make({ deadlines: past }) },
		"too little": { ...inventory, order: await make({ minOutput: 10_000_000n }) },
		routed: { ...routed, order: await make({ outputToken: orb, minOutput: 1n }) },
		"price moved": {
			...routed,
			minOutput: 10n ** 30n,
			order: await make({ outputToken: orb, minOutput: 1n }),
		},
		"above the cap": { ...inventory, amount: 10n ** 15n, order: await make() },
		native: { ...inventory, amount: 10n ** 15n, order: await make({ outputToken: eth, minOutput: 1n }) },
		"frozen recipient": {
			...inventory,
			amount: 10n ** 15n,
			order: await make({ outputToken: eth, minOutput: 1n, recipient: toWord(escrow) }),
		},
		"other vault": { ...inventory, order: await make({ destinationVault: toWord(escrow) }) },
		"fine too": { ...inventory, order: await make() },
	};
	const bundle: Bundle = { kind: "fill", vault, fills: Object.values(fills) };
	const orders = Object.values(fills).map(({ order }) => order);
	const { answer, gas } = await askBundle(destinations, { from, bundle, orders });
	expectCloseGas(gas);
	const names = Object.keys(fills);
	if (!answer.succeeds) throw new Error("the bundle must succeed");
	expect({
		done: answer.done.map((i) => names[i]),
		skips: answer.skips.map(([i, reason]) => [names[i], reason]),
	}).toMatchInlineSnapshot(`
		{
		  "done": [
		    "fine",
		    "routed",
		    "native",
		    "fine too",
		  ],
		  "skips": [
		    [
		      "decided",
		      "0x807cb697",
		    ],
		    [
		      "expired",
		      "0x498eea02",
		    ],
		    [
		      "too little",
		      "0xfbab5e0f",
		    ],
		    [
		      "price moved",
		      "0x08c379a0",
		    ],
		    [
		      "above the cap",
		      "0xf480e285",
		    ],
		    [
		      "frozen recipient",
		      "0xbf7e35a3",
		    ],
		    [
		      "other vault",
		      "0x988057d8",
		    ],
		  ],
		}
	`);

	// The cap leaves room for the first, but not for the first and the second.
	const room = await destinations.get("eth_simulateV1")?.client.readContract({
		address: vault,
		abi: geoVaultAbi,
		functionName: "capOf",
		args: [0, assetOf(destination, "USDC"), zeroAddress],
	});
	const [, available = 0n] = room ?? [];
	const most = [
		{ ...inventory, amount: available - 1n, order: await make() },
		{ ...inventory, order: await make() },
	];
	const capped = await askBundle(destinations, {
		from,
		bundle: { kind: "fill", vault, fills: most },
		orders: most.map(({ order }) => order),
	});
	expect(capped.answer).toMatchObject({ done: [0], skips: [[1, expect.any(String)]] });

	const stranger = await askBundle(destinations, { from: escrow, bundle, orders });
	expect(stranger.answer).toMatchObject({ succeeds: false });
	const voids: Bundle = { kind: "void", vault, orders: [decided.order, await make()] };
	const voided = await askBundle(destinations, { from, bundle: voids, orders: voids.orders });
	expect(voided.answer).toMatchObject({ succeeds: true, done: [1] });
});

test("a simulated bundle of releases or refunds shows which orders it would decide", async () => {
	const { origin, keys } = chains;
	const { escrow } = origin.deployment.contracts;
	const from = privateKeyToAccount(keys.relayers[0] as Hex).address;
	const wallet = await newWallet({ chains });
	const { delegate } = origin.deployment.contracts;
	await origin.testClient.setCode({ address: wallet.address, bytecode: concat(["0xef0100", delegate]) });
	const open = await newOrder({ chains }, { wallet: toWord(wallet.address) });
	const unopened = await newOrder({ chains }, { wallet: toWord(wallet.address) });
	const openings = [await signedOrder(wallet, { order: open })];
	await land(origin, { kind: "open", escrow, openings }, open);
	const orders = [unopened, open];
	for (const kind of ["release", "refund"] as const) {
		const attestation = await attest(kind === "release" ? "Release" : "Refund", orders);
		const { answer } = await askBundle(origins, {
			from,
			bundle: { kind, escrow, orders, attestation },
			orders,
		});
		expect(answer).toMatchObject({ succeeds: true, done: [1] });
		const few = { ...attestation, signatures: attestation.signatures.slice(1) };
		const unsigned = await askBundle(origins, {
			from,
			bundle: { kind, escrow, orders, attestation: few },
			orders,
		});
		expect(unsigned.answer).toMatchObject({ succeeds: false, reason: "ThresholdNotMet" });
	}
	const early = await askBundle(origins, {
		from,
		bundle: { kind: "late-refund", escrow, order: open },
		orders: [open],
	});
	expect(early.answer).toMatchObject({ succeeds: false, reason: "TooEarly" });
});

/** Sends a bundle, and waits until its contract has changed the order's state. */
async function land(
	chain: TestChain,
	bundle: Bundle,
	order: Order,
	account?: PrivateKeyAccount,
): Promise<void> {
	const call = encodeBundle(bundle);
	await sendAsAnyone(chain, call, account);
	// Escrows and vaults have the same function.
	const state = { address: call.to, abi: geoEscrowAbi, functionName: "orderState" } as const;
	await expect
		.poll(() => chain.publicClient.readContract({ ...state, args: [orderId(order)] }))
		.toBeGreaterThan(0);
}

/** Simulates a bundle by every method. Orders are named by their places. */
async function askBundle(
	nodes: ReadonlyMap<SimulationMethod, EvmChain>,
	{ from, bundle, orders }: { from: Address; bundle: Bundle; orders: Order[] },
) {
	const ids = orders.map(orderId);
	return sameByAll(nodes, async (chain) => {
		const simulation = await simulateBundle(chain, {
			from,
			bundle,
			orders: orders.map((order, i) => ({ order, orderId: ids[i] as Hex })),
		});
		if (!simulation.succeeds) return simulation;
		const { done, skips } = simulation;
		return {
			succeeds: true as const,
			gasUsed: simulation.gasUsed,
			done: [...done].map((id) => ids.indexOf(id)).sort((a, b) => a - b),
			skips: [...skips].map(([id, reason]) => [ids.indexOf(id), reason] as const),
		};
	});
}

/** Expects each method to return at least the gas that a transaction needs, and little more. */
function expectCloseGas(gas: ReadonlyMap<SimulationMethod, bigint>): void {
	const exact = gas.get("eth_simulateV1") ?? 0n;
	for (const [method, used] of gas) {
		expect.soft(used, method).toBeGreaterThanOrEqual(exact);
		expect.soft(used, method).toBeLessThan((exact * 6n) / 5n + 10_000n);
	}
}

async function authorize(
	wallet: PrivateKeyAccount,
	{
		nonce = 0,
		chainId = chains.origin.chainId,
		address = chains.origin.deployment.contracts.delegate,
	}: { nonce?: number; chainId?: number; address?: Address },
) {
	const { r, s, yParity } = await wallet.signAuthorization({ address, chainId, nonce });
	return { address, chainId: BigInt(chainId), nonce: BigInt(nonce), r, s, yParity: BigInt(yParity ?? 0) };
}

/** Returns the order with its wallet's signature, or that of another signer. */
async function signedOrder(
	wallet: PrivateKeyAccount,
	{
		order,
		kind = "personal",
		signer = wallet,
	}: { order: Order; kind?: SignatureKind; signer?: PrivateKeyAccount },
): Promise<Opening> {
	const signature =
		kind === "typed"
			? await signer.signTypedData(orderTypedData(order))
			: await signer.signMessage({ message: { raw: orderDigest(order) } });
	return {
		wallet: wallet.address,
		gas: 250_000n,
		terms: orderTerms(order),
		proof: orderProof({ kind, signature }),
	};
}

async function attest(kind: "Release" | "Refund", orders: Order[]) {
	const { threshold, attesters } = chains.origin.deployment.attesterSet;
	const typedData = attestationTypedData(attestationMessage(kind, orders));
	const signers = chains.keys.attesters.map((key) => privateKeyToAccount(key)).slice(0, threshold);
	const signatures = await Promise.all(signers.map((signer) => signer.signTypedData(typedData)));
	return { threshold: BigInt(threshold), attesters, signatures };
}
