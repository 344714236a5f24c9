import { startTestChains, type TestChains } from "@geoswap/devnet";
import {
	attestationMessage,
	attestationTypedData,
	geoVaultAbi,
	type Order,
	orderExecution,
	orderId,
	orderUserOp,
	packDeadlines,
	toWord,
} from "@geoswap/protocol";
import { type Address, concat, type Hex, HttpRequestError } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ability, connectWithout } from "../../../../test/chain/connect-without.ts";
import { assetOf, newOrder, newWallet, sendAsAnyone } from "../../../../test/lane/lane-scene.ts";
import { connectChain, type EvmChain } from "../chain-client.ts";
import type { Bundle, Fill } from "../send/encode-bundle.ts";
import { encodeBundle } from "../send/encode-bundle.ts";
import { simulateBundle } from "../send/simulate-bundle.ts";
import { simulateCalls, simulateOp } from "../wallet/simulate-open.ts";
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

test("each node is asked by the best method that it has, and told why not by a better one", async () => {
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

test("a node that is away or busy is asked again, and one that fails at a method only is asked by the next", async () => {
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

test("if another node answers that lacks the method, the next method is used at once", async () => {
	const lacks: Ability[] = [];
	const node = await connectWithout(chains.origin, lacks);
	stops.push(node.stop);
	const order = await newOrder({ chains }, { wallet: toWord((await newWallet({ chains })).address) });
	const ask = () =>
		simulateCalls({
			chain: node.chain,
			order,
			delegate: chains.origin.deployment.contracts.delegate,
			...orderExecution({ order, allowance: 0n }),
		});
	expect((await ask()).opens).toBe(true);
	lacks.push("eth_simulateV1");
	expect((await ask()).opens).toBe(true);
	expect((await simulatorOf(node.chain)).method).toBe("eth_call");
});

test("the calls of a wallet are judged the same by every method, before there is a signature", async () => {
	const wallet = await newWallet({ chains });
	const { delegate } = chains.origin.deployment.contracts;
	const make = (terms: Partial<Order> = {}) =>
		newOrder({ chains }, { wallet: toWord(wallet.address), ...terms });
	const past = packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n });
	const ask = (order: Order) =>
		sameByAll(origins, (chain) =>
			simulateCalls({ chain, order, delegate, ...orderExecution({ order, allowance: 0n }) }),
		);
	const fine = await ask(await make());
	expect(fine.answer).toEqual({ opens: true });
	expectCloseGas(fine.gas);
	const reasons = {
		ERC20InsufficientBalance: await make({ inputAmount: 200_000_000n }),
		InvalidDeadlines: await make({ deadlines: past }),
		InvalidAmount: await make({ minOutput: 0n }),
	};
	for (const [reason, order] of Object.entries(reasons)) {
		expect.soft((await ask(order)).answer).toEqual({ opens: false, reason });
	}
});

test("a signed op is judged the same by every method, with its authorization", async () => {
	const { origin } = chains;
	const { delegate } = origin.deployment.contracts;
	const wallet = await newWallet({ chains });
	const order = await newOrder({ chains }, { wallet: toWord(wallet.address) });
	const authorization = await authorize(wallet, {});
	const ask = async (
		signed: Parameters<typeof signedOp>[1] = { order },
		given: typeof authorization | "none" = authorization,
	) => {
		const userOp = await signedOp(wallet, signed);
		return sameByAll(origins, (chain) =>
			simulateOp({ chain, order: signed.order, userOp, authorization: given === "none" ? undefined : given }),
		);
	};
	const fine = await ask();
	expect(fine.answer).toEqual({ opens: true });
	expectCloseGas(fine.gas);

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
		"another delegate": await refused(
			ask({ order }, await authorize(wallet, { address: origin.deployment.contracts.escrow })),
		),
		"too little": await refused(ask({ order: poor })),
		"too little gas": await refused(ask({ order, callGasLimit: 60_000n })),
		"a forged signature": await refused(ask({ order, signer: other })),
	}).toMatchInlineSnapshot(`
		{
		  "a forged signature": "AA24 signature error",
		  "a spent nonce": "Eip7702SenderWithoutCode",
		  "another chain": "Eip7702SenderWithoutCode",
		  "another delegate": "AA23 reverted",
		  "another signer": "Eip7702SenderWithoutCode",
		  "every chain": "opens",
		  "too little": "ERC20InsufficientBalance",
		  "too little gas": "reverted with 0xd6bda275",
		  "without a delegation": "Eip7702SenderWithoutCode",
		}
	`);

	await origin.testClient.setCode({
		address: wallet.address,
		bytecode: concat(["0xef0100", delegate]),
	});
	expect((await ask({ order }, "none")).answer).toEqual({ opens: true });
	const userOp = await signedOp(wallet, { order });
	const bundle = encodeBundle({
		kind: "open",
		entryPoint: origin.deployment.contracts.entryPoint,
		userOps: [userOp],
		beneficiary: wallet.address,
	});
	await sendAsAnyone(origin, bundle);
	expect(await refused(ask({ order }, "none"))).toMatch(/AA25/);
});

test("a bundle of opens shows which would open", async () => {
	const { origin, keys } = chains;
	const { delegate, entryPoint } = origin.deployment.contracts;
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
	const userOps = await Promise.all(
		wallets.map((wallet, i) => signedOp(wallet, { order: orders[i] as Order })),
	);
	const from = privateKeyToAccount(keys.relayers[0] as Hex).address;
	const bundle: Bundle = { kind: "open", entryPoint, userOps, beneficiary: from };
	const { answer } = await askBundle(origins, { from, bundle, orders });
	expect(answer).toEqual({ succeeds: true, done: [0, 2], skips: [] });
	const forged = {
		...bundle,
		userOps: userOps.map((op, i) => (i === 1 ? { ...op, signature: "0x12" as const } : op)),
	};
	expect((await askBundle(origins, { from, bundle: forged, orders })).answer).toMatchObject({
		succeeds: false,
		opIndex: 1,
	});
});

test("a bundle of fills shows which would be skipped, and each for the reason at its place", async () => {
	const { destination, keys } = chains;
	const { vault, escrow } = destination.deployment.contracts;
	const from = privateKeyToAccount(keys.relayers[0] as Hex).address;
	const eth = toWord(assetOf(destination, "ETH"));
	const orb = toWord(assetOf(destination, "ORB"));
	const make = (terms: Partial<Order> = {}) =>
		newOrder({ chains }, { wallet: toWord(privateKeyToAccount(generatePrivateKey()).address), ...terms });
	const past = packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n });
	const stock = { amount: 9_950_000n, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
	const routed = { ...stock, amount: 10_000_000n, poolFee: 3000 };
	const decided = { ...stock, order: await make() };
	await sendAsAnyone(
		destination,
		encodeBundle({ kind: "fill", vault, fills: [decided] }),
		privateKeyToAccount(keys.relayers[0] as Hex),
	);
	const fills: Record<string, Fill> = {
		fine: { ...stock, order: await make() },
		decided,
		expired: { ...stock, order: await make({ deadlines: past }) },
		"too little": { ...stock, order: await make({ minOutput: 10_000_000n }) },
		routed: { ...routed, order: await make({ outputToken: orb, minOutput: 1n }) },
		"price moved": {
			...routed,
			minOutput: 10n ** 30n,
			order: await make({ outputToken: orb, minOutput: 1n }),
		},
		"above the cap": { ...stock, amount: 10n ** 15n, order: await make() },
		native: { ...stock, amount: 10n ** 15n, order: await make({ outputToken: eth, minOutput: 1n }) },
		"frozen recipient": {
			...stock,
			amount: 10n ** 15n,
			order: await make({ outputToken: eth, minOutput: 1n, recipient: toWord(escrow) }),
		},
		"other vault": { ...stock, order: await make({ destinationVault: toWord(escrow) }) },
		"fine too": { ...stock, order: await make() },
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
		      "0xbf93256b",
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
		functionName: "outflowAvailable",
		args: [assetOf(destination, "USDC")],
	});
	const most = [
		{ ...stock, amount: (room ?? 0n) - 1n, order: await make() },
		{ ...stock, order: await make() },
	];
	const capped = await askBundle(destinations, {
		from,
		bundle: { kind: "fill", vault, fills: most },
		orders: most.map(({ order }) => order),
	});
	expect(capped.answer).toMatchObject({ done: [0], skips: [[1, expect.any(String)]] });

	const stranger = await askBundle(destinations, { from: escrow, bundle, orders });
	expect(stranger.answer).toMatchObject({ succeeds: false, opIndex: undefined });
	const voids: Bundle = { kind: "void", vault, orders: [decided.order, await make()] };
	const voided = await askBundle(destinations, { from, bundle: voids, orders: voids.orders });
	expect(voided.answer).toMatchObject({ succeeds: true, done: [1] });
});

test("a bundle of releases or refunds shows which orders it would decide", async () => {
	const { origin, keys } = chains;
	const { escrow } = origin.deployment.contracts;
	const from = privateKeyToAccount(keys.relayers[0] as Hex).address;
	const wallet = await newWallet({ chains });
	const { delegate, entryPoint } = origin.deployment.contracts;
	await origin.testClient.setCode({ address: wallet.address, bytecode: concat(["0xef0100", delegate]) });
	const open = await newOrder({ chains }, { wallet: toWord(wallet.address) });
	const unopened = await newOrder({ chains }, { wallet: toWord(wallet.address) });
	const userOps = [await signedOp(wallet, { order: open })];
	await sendAsAnyone(origin, encodeBundle({ kind: "open", entryPoint, userOps, beneficiary: from }));
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

/** Nobody may send less gas than a transaction needs, and little more. */
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

async function signedOp(
	wallet: PrivateKeyAccount,
	{
		order,
		callGasLimit = 250_000n,
		signer = wallet,
	}: { order: Order; callGasLimit?: bigint; signer?: PrivateKeyAccount },
) {
	const { delegate } = chains.origin.deployment.contracts;
	const gas = { verificationGasLimit: 80_000n, callGasLimit };
	const { hash, userOp } = orderUserOp({ order, delegate, allowance: 0n, gas });
	return { ...userOp, signature: await signer.signMessage({ message: { raw: hash } }) };
}

async function attest(kind: "Release" | "Refund", orders: Order[]) {
	const { threshold, attesters } = chains.origin.deployment.attesterSet;
	const typedData = attestationTypedData(attestationMessage(kind, orders));
	const signers = chains.keys.attesters.map((key) => privateKeyToAccount(key)).slice(0, threshold);
	const signatures = await Promise.all(signers.map((signer) => signer.signTypedData(typedData)));
	return { threshold: BigInt(threshold), attesters, signatures };
}
