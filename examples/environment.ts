import { readFileSync } from "node:fs";
import { createClient } from "@geoswap/sdk";
import { parsePins } from "@geoswap/sdk/pins";

/** Returns a variable that the examples need from the environment. On the devnet `pnpm --silent wallet` prints them. */
export function variable(name: string): string {
	const value = process.env[name];
	if (!value) throw new Error(`${name} is not set: see examples/README.md`);
	return value;
}

export const client = createClient({
	baseUrl: variable("GEOSWAP_URL"),
	apiKey: variable("GEOSWAP_API_KEY"),
});

/** The operator's deployment file. It must not come from the API: the API's answers are checked against it. */
export const { pins } = parsePins(JSON.parse(readFileSync(variable("GEOSWAP_DEPLOYMENT"), "utf8")));

/** Returns a pinned chain's token by its symbol. */
export function tokenOf(chainId: number, symbol: string): string {
	const chains = [...pins.chains, ...(pins.solana ? [pins.solana] : [])];
	const asset = chains
		.find((chain) => chain.chainId === chainId)
		?.assets.find((one) => one.symbol === symbol);
	if (!asset) throw new Error(`chain ${chainId} has no ${symbol}`);
	return asset.address;
}

/** The first two EVM chains, and Solana. */
export const chains = {
	one: pins.chains[0]?.chainId ?? 0,
	two: pins.chains[1]?.chainId ?? 0,
	solana: pins.solana?.chainId ?? 0,
};
