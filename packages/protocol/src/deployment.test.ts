import { readFileSync } from "node:fs";
import { type Address, getAddress, numberToHex, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import { attesterSetHash } from "./attester-set.ts";
import {
	type AssetDeployment,
	assetProblems,
	type ChainDeployment,
	chainDeploymentSchema,
	deploymentSchema,
	formatDeployment,
	withChainDeployment,
} from "./deployment.ts";

const at = (n: number): Address => getAddress(numberToHex(n, { size: 20 }));
const [usdc, weth, orb] = [at(0xa), at(0xb), at(0xc)];
const attesterSet = { threshold: 1, attesters: [at(0x51), at(0x52)] };

function asset(
	symbol: string,
	address: Address,
	paths: number[][],
	kind: "stable" | "volatile" = "volatile",
): AssetDeployment {
	return { symbol, address, decimals: 18, kind, feed: { address: at(0xfeed), heartbeatSeconds: 60 }, paths };
}
function withoutFeed({ feed: _, ...priced }: AssetDeployment): AssetDeployment {
	return priced;
}

const assets = [
	asset("USDC", usdc, [], "stable"),
	asset("ETH", zeroAddress, [[500]]),
	asset("ORB", orb, [[3000], [500, 3000]]),
];

function chainWith(
	contracts: Partial<ChainDeployment["contracts"]> = {},
	changes: Partial<ChainDeployment> = {},
): ChainDeployment {
	return {
		chainId: 1,
		name: "Test",
		kind: "eip1559",
		contracts: {
			delegate: at(1),
			typedDelegate: at(2),
			earlierDelegates: [],
			escrow: at(3),
			earlierEscrows: [],
			vault: at(4),
			earlierVaults: [],
			accessManager: at(5),
			...contracts,
		},
		attesterSet: { ...attesterSet, hash: attesterSetHash(attesterSet) },
		uniswap: { factory: at(6), router: at(7), quoterV2: at(8) },
		wrappedNative: weth,
		settlementToken: usdc,
		assets,
		deployedAtBlock: 100,
		...changes,
	};
}

test("a chain may have Circle's contracts, and routes from its vault to other chains", () => {
	const cctp = { domain: 6, tokenMessenger: at(21), messageTransmitter: at(22), routes: { "10": at(23) } };
	const chain = chainWith({}, { cctp });
	expect(chainDeploymentSchema.parse(chain)).toEqual(chain);
	const refused = [
		{ ...cctp, routes: { "1": at(23) } },
		{ ...cctp, routes: { Optimism: at(23) } },
		{ ...cctp, routes: { "10": zeroAddress } },
		{ ...cctp, domain: 2 ** 32 },
		{ ...cctp, messageTransmitter: zeroAddress },
	];
	for (const wrong of refused) {
		expect(chainDeploymentSchema.safeParse(chainWith({}, { cctp: wrong })).success).toBe(false);
	}
});

describe.each([
	["delegate", "earlierDelegates"],
	["typedDelegate", "earlierDelegates"],
	["escrow", "earlierEscrows"],
	["vault", "earlierVaults"],
] as const)("a replaced %s", (current, list) => {
	/** Returns the contract's address and its list after each of these addresses was the current one in turn. */
	function after(...addresses: Address[]) {
		const { chains } = addresses.reduce(
			(deployment, address) => withChainDeployment(deployment, chainWith({ [current]: address })),
			{ chains: [] } as { chains: ChainDeployment[] },
		);
		expect(chains).toHaveLength(1);
		return [chains[0]?.contracts[current], chains[0]?.contracts[list]];
	}

	test("stays listed as an earlier one, together with those before it", () => {
		expect(after(at(11))).toEqual([at(11), []]);
		expect(after(at(11), at(12))).toEqual([at(12), [at(11)]]);
		expect(after(at(11), at(12), at(13))).toEqual([at(13), [at(11), at(12)]]);
	});

	test("is listed once, and not while it is the current one", () => {
		expect(after(at(11), at(11))).toEqual([at(11), []]);
		expect(after(at(11), at(12), at(11))).toEqual([at(11), [at(12)]]);
		expect(after(at(11), at(12), at(11), at(12))).toEqual([at(12), [at(11)]]);
		const [chain] = withChainDeployment(
			{ chains: [] },
			chainWith({ [current]: at(11), [list]: [at(11), at(12), at(12)] }),
		).chains;
		expect(chain?.contracts[list]).toEqual([at(12)]);
	});
});

test("both delegates that are replaced stay listed as earlier ones, and neither of the current ones is", () => {
	const two = (delegate: number, typedDelegate: number) =>
		chainWith({ delegate: at(delegate), typedDelegate: at(typedDelegate) });
	const after = (...chains: ChainDeployment[]) =>
		chains.reduce((deployment, chain) => withChainDeployment(deployment, chain), {
			chains: [],
		} as { chains: ChainDeployment[] }).chains[0]?.contracts.earlierDelegates;
	expect(after(two(11, 21), two(12, 22))).toEqual([at(11), at(21)]);
	expect(after(two(11, 21), two(12, 22), two(11, 22))).toEqual([at(21), at(12)]);
	expect(after(two(11, 21), two(21, 11))).toEqual([]);
});

test("while an earlier vault is listed, deployedAtBlock stays that of the oldest vault", () => {
	const firstBlock = (vault: Address) => {
		const chain = chainWith({ vault }, { deployedAtBlock: 200 });
		return withChainDeployment({ chains: [chainWith()] }, chain).chains[0]?.deployedAtBlock;
	};
	expect(firstBlock(at(44))).toBe(100);
	expect(firstBlock(chainWith().contracts.vault)).toBe(200);
});

test("writing the entry of one chain leaves the entries of other chains unchanged", () => {
	const two = chainWith({ vault: at(44) }, { chainId: 2 });
	const { chains } = withChainDeployment({ chains: [two] }, chainWith());
	expect(chains).toEqual([chainWith(), two]);
});

test.each(Object.keys(chainWith({ permit2: at(9) }).contracts))(
	"contracts.%s is never the zero address",
	(name) => {
		const zero = name.startsWith("earlier") ? [zeroAddress] : zeroAddress;
		const { success, error } = chainDeploymentSchema.safeParse(chainWith({ [name]: zero }));
		expect(success).toBe(false);
		expect(error?.issues[0]?.message).toContain("zero address");
		expect(error?.issues[0]?.path.slice(0, 2)).toEqual(["contracts", name]);
	},
);

test("an attester set with a wrong hash is refused", () => {
	const wrong = chainWith(
		{},
		{ attesterSet: { ...attesterSet, threshold: 2, hash: attesterSetHash(attesterSet) } },
	);
	expect(chainDeploymentSchema.safeParse(wrong).error?.issues[0]?.message).toContain("the set's hash is");
});

test("a chain listed twice is refused", () => {
	const { error } = deploymentSchema.safeParse({ chains: [chainWith(), chainWith()] });
	expect(error?.issues[0]?.message).toBe("chain 1 is listed twice");
});

test("equal deployments are written as the same bytes, regardless of the order of their keys and chains", () => {
	const [one, two] = [chainWith({ permit2: at(9) }), chainWith({}, { chainId: 2 })];
	const reversed = (chain: ChainDeployment) =>
		Object.fromEntries(
			Object.entries({
				...chain,
				contracts: Object.fromEntries(Object.entries(chain.contracts).reverse()),
			}).reverse(),
		) as ChainDeployment;
	const text = formatDeployment({ chains: [one, two] });
	expect(formatDeployment(withChainDeployment({ chains: [reversed(two)] }, reversed(one)))).toBe(text);
	expect(formatDeployment(deploymentSchema.parse(JSON.parse(text)))).toBe(text);
	expect(text.endsWith("}\n")).toBe(true);
});

test("an asset may be priced by Pyth alone, and a rollup may have a feed of its sequencer's uptime", () => {
	const pythId = `0x${"ab".repeat(32)}` as const;
	const orbAtPyth = { ...withoutFeed(asset("ORB", orb, [[3000]])), pythId };
	const changes = { assets: [...assets.slice(0, 2), orbAtPyth], sequencerUptimeFeed: at(0x5e) };
	const chain = chainWith({}, changes);
	expect(chainDeploymentSchema.parse(chain)).toEqual(chain);
	const wrong = { assets: [...assets.slice(0, 2), { ...orbAtPyth, pythId: pythId.slice(2) as "0x" }] };
	expect(chainDeploymentSchema.safeParse(chainWith({}, wrong)).error?.issues[0]?.message).toContain(
		"not an id of Pyth",
	);
});

test.each<[string, Partial<Parameters<typeof assetProblems>[0]>]>([
	["the symbol ORB is used twice", { assets: [...assets, asset("ORB", at(0xd), [[500]])] }],
	[`${orb} is listed twice`, { assets: [...assets, asset("ORB2", orb, [[500]])] }],
	["the settlement token must not be the wrapped native token", { wrappedNative: usdc }],
	[`the settlement token ${at(0xd)} is not among the assets`, { settlementToken: at(0xd) }],
	["the settlement token USDC is not a stable", { assets: [asset("USDC", usdc, []), ...assets.slice(1)] }],
	[
		"USDC is the settlement token and must have no paths",
		{ assets: [asset("USDC", usdc, [[500]], "stable")] },
	],
	[
		"ORB has neither a feed nor a pythId; one of them must give its price",
		{ assets: [...assets.slice(0, 2), withoutFeed(asset("ORB", orb, [[500]]))] },
	],
	["ORB has no path", { assets: [...assets.slice(0, 2), asset("ORB", orb, [])] }],
	[
		"ETH is the native token, and a path to it must have one pool",
		{ assets: [...assets.slice(0, 1), asset("ETH", zeroAddress, [[1, 2]])] },
	],
	[
		"WETH is the native token, and a path to it must have one pool",
		{ assets: [...assets, asset("WETH", weth, [[500], [1, 2]])] },
	],
])("a deployment is refused if it has this problem with its assets: %s", (problem, changes) => {
	const chain = { assets, settlementToken: usdc, wrappedNative: weth };
	expect(assetProblems(chain)).toEqual([]);
	expect(assetProblems({ ...chain, ...changes })).toContain(problem);
	const { success } = chainDeploymentSchema.safeParse(chainWith({}, changes));
	expect(success).toBe(false);
});

test("a deployment file of an earlier version is accepted, and is written back unchanged", () => {
	const file = new URL("../vectors/deployment-without-pyth.json", import.meta.url);
	const text = readFileSync(file, "utf8");
	expect(formatDeployment(deploymentSchema.parse(JSON.parse(text)))).toBe(text);
});
