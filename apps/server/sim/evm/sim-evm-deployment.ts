import { type AttesterSet, attesterSetHash, type ChainDeployment } from "@geoswap/protocol";
import { type Address, getAddress, keccak256, parseUnits, stringToHex, zeroAddress } from "viem";

type SimAsset = {
	symbol: string;
	decimals: number;
	kind: "stable" | "volatile";
	paths: number[][];
	inventory: string;
	outflowPerHour: string;
};

/** The devnet's assets, with the inventory of its vaults in whole tokens. */
const assets: readonly SimAsset[] = [
	{
		symbol: "ETH",
		decimals: 18,
		kind: "volatile",
		paths: [[500]],
		inventory: "1000",
		outflowPerHour: "500",
	},
	{ symbol: "USDC", decimals: 6, kind: "stable", paths: [], inventory: "5000000", outflowPerHour: "2000000" },
	{
		symbol: "USDT",
		decimals: 6,
		kind: "stable",
		paths: [[100]],
		inventory: "5000000",
		outflowPerHour: "2000000",
	},
	{
		symbol: "WETH",
		decimals: 18,
		kind: "volatile",
		paths: [[500]],
		inventory: "1000",
		outflowPerHour: "500",
	},
	{
		symbol: "ORB",
		decimals: 18,
		kind: "volatile",
		paths: [[3000], [500, 3000]],
		inventory: "1000000",
		outflowPerHour: "500000",
	},
];

/** Returns the contracts of a chain that exists only in the simulator. Their addresses follow from the chain's ID. */
export function simEvmDeployment({
	chainId,
	name,
	attesterSet: { threshold, attesters },
}: {
	chainId: number;
	name: string;
	attesterSet: AttesterSet;
}): ChainDeployment {
	const at = (what: string): Address =>
		getAddress(`0x${keccak256(stringToHex(`${chainId}/${what}`)).slice(-40)}`);
	return {
		chainId,
		name,
		kind: "eip1559",
		contracts: {
			delegate: at("delegate"),
			typedDelegate: at("typed-delegate"),
			earlierDelegates: [],
			escrow: at("escrow"),
			earlierEscrows: [],
			vault: at("vault"),
			earlierVaults: [],
			accessManager: at("access-manager"),
		},
		attesterSet: {
			threshold,
			attesters: [...attesters],
			hash: attesterSetHash({ threshold, attesters }),
		},
		uniswap: { factory: at("factory"), router: at("router"), quoterV2: at("quoter") },
		wrappedNative: at("WETH"),
		settlementToken: at("USDC"),
		assets: assets.map(({ symbol, decimals, kind, paths }) => ({
			symbol,
			address: symbol === "ETH" ? zeroAddress : at(symbol),
			decimals,
			kind,
			feed: {
				address: at(`${symbol === "ETH" ? "WETH" : symbol}/feed`),
				heartbeatSeconds: 24 * 3_600,
			},
			paths,
		})),
		deployedAtBlock: 1,
	};
}

/** Returns the contract of a token with this symbol, on the devnet and here. */
export function tokenContractOf(symbol: string): "DevToken" | "DevTokenWithoutReturn" | "WETH9" {
	if (symbol === "USDT") return "DevTokenWithoutReturn";
	return symbol === "WETH" ? "WETH9" : "DevToken";
}

/** Returns a vault's initial inventory and its outflow limit per hour, by the asset's symbol. */
export function firstInventoryOf(symbol: string): { inventory: bigint; outflowPerHour: bigint } {
	const asset = assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) return { inventory: 0n, outflowPerHour: 0n };
	return {
		inventory: parseUnits(asset.inventory, asset.decimals),
		outflowPerHour: parseUnits(asset.outflowPerHour, asset.decimals),
	};
}
