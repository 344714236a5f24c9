import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { type ChainDeployment, type Order, orderToJson, toWord } from "@geoswap/protocol";
import { publishedCodes } from "@geoswap/protocol/published-code";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { orderActions } from "../../test/order/order-actions.ts";
import { signerOfAccount } from "../../test/signer/signer-of-account.ts";
import { connectChain, type EvmChain } from "../chain/evm/connect-chain.ts";
import { createLog } from "../telemetry/log.ts";
import { createCodeWatch } from "./create-code-watch.ts";
import { startAttester } from "./start-attester.ts";

const log = createLog({ level: "silent", process: "test" });
const stranger: Address = "0x00000000000000000000000000000000deadbeef";

const noneEarlier = { earlierRouters: [], earlierSettlementTokens: [] };

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let filled: Order;
const snapshots = new Map<TestChain, Hex>();

beforeAll(async () => {
	chains = await startTestChains();
	actions = orderActions(chains);
	filled = await actions.makeOrder();
	await actions.fill(filled, 9_000_000n);
	await actions.finalize();
});
afterAll(() => chains?.stop());
beforeEach(async () => {
	for (const chain of [chains.origin, chains.destination]) {
		const before = snapshots.get(chain);
		if (before) await chain.testClient.revert({ id: before });
		snapshots.set(chain, await chain.testClient.snapshot());
	}
});

async function attesterOf(seen: EvmChain[]) {
	const attester = await startAttester({
		config: {
			chains: seen,
			...noneEarlier,
			earlierAttesterSets: [],
			host: "127.0.0.1",
			port: 0,
			logLevel: "silent",
		},
		signer: signerOfAccount(privateKeyToAccount(chains.keys.attesters[0] ?? "0x")),
		nowMs: Date.now,
		log,
	});
	onTestFinished(() => attester.close());
	const get = async (path: string) => (await fetch(`${attester.url}${path}`)).json();
	return {
		ask: async (order: Order) => {
			const response = await fetch(`${attester.url}/attest`, {
				method: "POST",
				headers: { "content-type": "application/json" },
				body: JSON.stringify({ kind: "Release", orders: [orderToJson(order)] }),
			});
			const body = (await response.json()) as { refused?: { reason: string }[]; signature?: Hex };
			return body.signature ? "signed" : body.refused?.[0]?.reason;
		},
		heard: async () => ((await get("/heartbeat")) as { chainId: number }[]).map(({ chainId }) => chainId),
		problems: async () => {
			const { chains: told } = (await get("/health")) as {
				chains: { chainId: number; code: string; problems: string[] }[];
			};
			return Object.fromEntries(told.map(({ chainId, code, problems }) => [chainId, [code, ...problems]]));
		},
	};
}

const seen = (chain: TestChain, changes: Partial<ChainDeployment["contracts"]> = {}) =>
	connectChain({
		...chain,
		deployment: { ...chain.deployment, contracts: { ...chain.deployment.contracts, ...changes } },
	});

/** Puts other code in the place of a contract's, and makes that final. */
async function changeCode(
	{ publicClient, testClient }: TestChain,
	address: Address,
	change: (code: Hex) => Hex,
) {
	const code = await publicClient.getCode({ address });
	await testClient.setCode({ address, bytecode: change(code ?? "0x") });
	await testClient.mine({ blocks: 6 });
}

/** Returns the vault's code as a constructor with another router or settlement token would have made it. */
function withImmutable(code: Hex, name: "ROUTER" | "SETTLEMENT_TOKEN", address: Address): Hex {
	const word = toWord(address).slice(2);
	const { [name]: starts = [] } = publishedCodes.vault[0].immutables;
	return starts.reduce<Hex>(
		(changed, start) =>
			`${changed.slice(0, 2 + 2 * start)}${word}${changed.slice(2 + 2 * start + 64)}` as Hex,
		code,
	);
}

const flipByte = (at: number) => (code: Hex) => {
	const byte = (Number.parseInt(code.slice(2 + 2 * at, 4 + 2 * at), 16) ^ 1).toString(16).padStart(2, "0");
	return `${code.slice(0, 2 + 2 * at)}${byte}${code.slice(4 + 2 * at)}` as Hex;
};

test("an attester signs for contracts with the published code and the deployment file's immutables", async () => {
	const attester = await attesterOf([seen(chains.origin), seen(chains.destination)]);
	expect(await attester.problems()).toEqual({ 31337: ["checked"], 31338: ["checked"] });
	expect(await attester.ask(filled)).toBe("signed");
	expect(await attester.heard()).toEqual([31337, 31338]);
});

test("an attester neither signs for nor reports a chain whose vault has another router", async () => {
	const { destination, origin } = chains;
	const { vault } = destination.deployment.contracts;
	await changeCode(destination, vault, (code) => withImmutable(code, "ROUTER", stranger));
	const attester = await attesterOf([seen(origin), seen(destination)]);
	expect(await attester.ask(filled)).toBe("code_differs");
	expect(await attester.heard()).toEqual([31337]);
	const [, problem] = (await attester.problems())[31338] ?? [];
	expect(problem).toBe(
		`vault ${vault} on chain 31338: its immutable ROUTER is ${stranger}, but by the deployment file it should be ${destination.deployment.uniswap.router.toLowerCase()}`,
	);
});

test.each([
	["the vault of the destination", "destination", "vault"],
	["the escrow of the origin", "origin", "escrow"],
	["the vault of the origin, to which inputs are released", "origin", "vault"],
] as const)("nothing is signed if one byte of the code of %s differs", async (_, which, name) => {
	const chain = chains[which];
	const address = chain.deployment.contracts[name];
	await changeCode(chain, address, flipByte(100));
	const attester = await attesterOf([seen(chains.origin), seen(chains.destination)]);
	expect(await attester.ask(filled)).toBe("code_differs");
	expect((await attester.problems())[chain.chainId]).toEqual([
		"differs",
		`${name} ${address} on chain ${chain.chainId}: its code is not the published one, from which it differs at byte 100`,
	]);
});

test("nothing is signed if an address in the deployment file has no code, even an earlier vault's", async () => {
	const { origin, destination } = chains;
	for (const changes of [
		{ vault: stranger },
		{ earlierVaults: [stranger] },
		{ earlierEscrows: [stranger] },
	]) {
		const attester = await attesterOf([seen(origin), seen(destination, changes)]);
		expect(
			await attester.ask({ ...filled, ...("vault" in changes && { destinationVault: toWord(stranger) }) }),
		).toBe("code_differs");
		const [, problem] = (await attester.problems())[31338] ?? [];
		expect(problem).toContain(`${stranger} on chain 31338: there is no code at this address`);
	}
});

test.each([
	["router", "ROUTER", "earlierRouters"],
	["settlement token", "SETTLEMENT_TOKEN", "earlierSettlementTokens"],
] as const)(
	"an earlier vault may have an earlier %s if the attester's file names it, and the current vault may not",
	async (_, immutable, setting) => {
		const { destination } = chains;
		const { vault } = destination.deployment.contracts;
		const code = (await destination.publicClient.getCode({ address: vault })) ?? "0x";
		const earlier: Address = "0x00000000000000000000000000000000000ea411";
		const changed = withImmutable(code, immutable, stranger);
		await destination.testClient.setCode({ address: earlier, bytecode: changed });
		await destination.testClient.mine({ blocks: 6 });
		const stateWith = async (names: Partial<typeof noneEarlier>, changes: object) => {
			const known = [seen(destination, changes)];
			const watch = createCodeWatch({ chains: known, ...noneEarlier, ...names, nowMs: Date.now, log });
			await watch.check();
			return watch.stateOf(31338);
		};
		const named = { [setting]: [stranger] };
		expect(await stateWith({}, { earlierVaults: [earlier] })).toBe("differs");
		expect(await stateWith(named, { earlierVaults: [earlier] })).toBe("checked");
		expect(await stateWith(named, { vault: earlier })).toBe("differs");
	},
);

test("a chain is signed for only once its code was checked, and checked code is checked again after a day", async () => {
	const { origin, destination } = chains;
	const unanswered = connectChain({ ...destination, rpcUrl: "http://127.0.0.1:9" });
	const blind = await attesterOf([seen(origin), unanswered]);
	expect(await blind.ask(filled)).toBe("code_unchecked");
	expect(await blind.heard()).toEqual([31337]);

	let now = 0;
	const watch = createCodeWatch({ chains: [seen(destination)], ...noneEarlier, nowMs: () => now, log });
	expect(watch.stateOf(31338)).toBe("unchecked");
	await watch.check();
	expect(watch.stateOf(31338)).toBe("checked");
	await changeCode(destination, destination.deployment.contracts.vault, flipByte(7));
	now += 23 * 3_600_000;
	await watch.check();
	expect(watch.stateOf(31338)).toBe("checked");
	now += 3_600_000;
	await watch.check();
	expect(watch.stateOf(31338)).toBe("differs");
	// A chain that differs is compared each time, so that a mended file or chain does not wait for a day.
	await changeCode(destination, destination.deployment.contracts.vault, flipByte(7));
	await watch.check();
	expect(watch.stateOf(31338)).toBe("checked");
});
