import { randomBytes } from "node:crypto";
import {
	fromSwapKey,
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	solanaChainId,
	toSolanaWord,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { type Address, getAddress, hexToBytes, pad } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { plainOrder } from "../../test/order/plain-order.ts";
import { type SolanaOrderScene, solanaOrderScene } from "../../test/order/solana-order-scene.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import type { Config } from "../config/config.ts";
import { expectOpenSwaps } from "./expect-open-swaps.ts";

const addressOf = (n: number): Address => getAddress(pad(`0x${n.toString(16)}`, { size: 20 }));
const hashOf = (n: number) => pad(`0x${n.toString(16)}`, { size: 32 });
const contracts = {
	delegate: addressOf(0xd1),
	typedDelegate: addressOf(0xd2),
	earlierDelegates: [] as Address[],
	escrow: addressOf(0xe1),
	earlierEscrows: [] as Address[],
	vault: addressOf(0xf1),
	earlierVaults: [] as Address[],
};
const set = { hash: hashOf(0xa1) };

let database: TestDatabase;
let scene: SolanaOrderScene;
beforeAll(async () => {
	[database, scene] = await Promise.all([createTestDatabase({ as: "owner" }), solanaOrderScene()]);
});
afterAll(() => database?.drop());
beforeEach(() => database.owner.query("delete from swaps"));

/** Inserts a swap from EVM chain 1 to Solana, whose op names the delegate. */
async function insertSwap(changes: Partial<Order> = {}): Promise<void> {
	const { program, assets } = scene.deployment;
	const order = plainOrder({
		swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
		originChainId: 1n,
		destinationChainId: BigInt(solanaChainId),
		escrow: toWord(contracts.escrow),
		originVault: toWord(contracts.vault),
		destinationVault: toSolanaWord(program.vault),
		attesterSet: set.hash,
		inputToken: toWord(addressOf(0x51)),
		...(assets[0] && { outputToken: toSolanaWord(assets[0].address) }),
		...changes,
	});
	await database.owner.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery, op)
		values ($1, $2, $3, 0, 0, '{}', $4)`,
		[
			fromSwapKey(order.swapKey),
			hexToBytes(orderId(order)),
			orderToJson(order),
			{ delegate: contracts.delegate },
		],
	);
}

type Changes = {
	on?: Partial<typeof contracts>;
	setHash?: string;
	earlierSets?: string[];
	token?: Address;
	program?: Partial<SolanaOrderScene["deployment"]["program"]>;
	chainIds?: number[];
};

function configOf({
	on = {},
	setHash = set.hash,
	earlierSets = [],
	token = addressOf(0x51),
	program = {},
	chainIds = [1, solanaChainId],
}: Changes): Config {
	const evm = {
		contracts: { ...contracts, ...on },
		attesterSet: { hash: setHash },
		assets: [{ symbol: "USDC", address: token }],
	};
	const { deployment } = scene;
	const solana = { ...deployment, program: { ...deployment.program, ...program } };
	const chains = [
		{ kind: "evm", chainId: 1, deployment: evm },
		{ kind: "solana", chainId: solanaChainId, deployment: solana },
	].filter(({ chainId }) => chainIds.includes(chainId));
	return {
		chains,
		deployment: { chains: [evm], solana },
		earlierAttesterSets: earlierSets.map((hash) => ({ hash })),
	} as unknown as Config;
}

/** Returns the outcome of a start with these changes of the configuration. */
function startWith(changes: Changes = {}, role: "api" | "worker" = "api"): Promise<string> {
	return expectOpenSwaps(database.pools[role], configOf(changes), { role }).then(
		() => "started",
		(error: Error) => error.message,
	);
}

test.each([
	["delegate", "earlierDelegates"],
	["escrow", "earlierEscrows"],
	["vault", "earlierVaults"],
] as const)(
	"a replaced %s stays listed until the last open swap that names it has ended",
	async (part, list) => {
		const replaced = { [part]: addressOf(0x99) };
		expect(await startWith({ on: replaced })).toBe("started");
		await insertSwap();
		await insertSwap();
		for (const role of ["api", "worker"] as const) {
			expect(await startWith({}, role)).toBe("started");
			expect(await startWith({ on: replaced }, role)).toBe(
				`the configuration: 2 open swaps need the ${part} ${contracts[part]} of chain 1, which is not listed; put it into ${list} of the deployment file, or keep the earlier files until they have ended`,
			);
			expect(await startWith({ on: { ...replaced, [list]: [contracts[part]] } }, role)).toBe("started");
		}
		await database.owner.query("update swaps set ended_at = now()");
		expect(await startWith({ on: replaced })).toBe("started");
	},
);

test("a replaced attester set stays listed until the last open swap that names it has ended", async () => {
	await insertSwap();
	const setHash = hashOf(0xa2);
	expect(await startWith({ setHash })).toBe(
		`the configuration: 1 open swap needs the attester set ${set.hash} of chain 1, which is not listed; put it into earlierAttesterSets, or keep the earlier files until they have ended`,
	);
	expect(await startWith({ setHash, earlierSets: [set.hash] })).toBe("started");
});

test("the program and the vault on Solana that open swaps name must be kept, and its keys need not", async () => {
	const { address: other } = scene.stranger;
	const { address, vault } = scene.deployment.program;
	await insertSwap();
	expect(await startWith({ program: { address: other, operator: other } })).toBe("started");
	expect(await startWith({ program: { vault: other } })).toContain(`needs the vault ${vault} of chain`);
	await insertSwap({
		originChainId: BigInt(solanaChainId),
		destinationChainId: 1n,
		escrow: toSolanaWord(address),
		originVault: toSolanaWord(vault),
		destinationVault: toWord(contracts.vault),
		attesterSet: scene.deployment.program.attesterSet.hash,
	});
	expect(await startWith({ program: { address: other } })).toContain(
		`1 open swap needs the escrow ${address}`,
	);
	expect(await startWith({ program: { vault: other } })).toContain(`2 open swaps need the vault ${vault}`);
});

test("a worker needs the chains and tokens of open swaps; an API starts without them, so that they are no longer quoted", async () => {
	await insertSwap();
	const withoutChain = { chainIds: [solanaChainId] };
	expect(await startWith(withoutChain, "worker")).toBe(
		"the configuration: 1 open swap needs chain 1, which is not configured; put it back, or keep the earlier files until they have ended",
	);
	expect(await startWith(withoutChain, "api")).toBe("started");
	const withoutToken = { token: addressOf(0x52) };
	expect(await startWith(withoutToken, "worker")).toContain(
		`1 open swap needs the token ${addressOf(0x51)} of chain 1, which is not listed; put it into the assets of the deployment file`,
	);
	expect(await startWith(withoutToken, "api")).toBe("started");
});

test("all missing items are reported together", async () => {
	await insertSwap();
	const problem = await startWith({ on: { escrow: addressOf(0x98) }, setHash: hashOf(0xa2) });
	expect(problem.split("\n")).toEqual([
		expect.stringContaining("the attester set"),
		expect.stringContaining("the escrow"),
	]);
});
