import type { TokenEntry } from "@geoswap/protocol";
import { getTokens } from "@geoswap/sdk";
import { type Call, openContext } from "../context.ts";
import type { Line } from "../output.ts";
import { findChain, isSameAddress, type PinnedChain, pinnedChains } from "../pinned-assets.ts";

export async function tokensCommand(call: Call, { chain: text }: { chain?: string }): Promise<void> {
	const { config, client, output } = await openContext(call);
	const chain = text === undefined ? undefined : findChain(config.pins, text);
	const { tokens } = await getTokens(client, chain && { chainId: chain.chainId });
	const pinned = pinnedChains(config.pins);
	const compared = tokens.map((token) => ({ ...token, ...differenceOf(pinned, token) }));
	const chainIds = [...new Set(compared.map(({ chainId }) => chainId))];
	await output.result(
		{ tokens: compared },
		chainIds.flatMap((chainId): Line[] => [
			`${pinned.find((one) => one.chainId === chainId)?.name ?? "?"} (${chainId})`,
			...compared.filter((token) => token.chainId === chainId).flatMap(describe),
		]),
	);
}

/** Compares a token with the deployment file. Swaps use that file, so a token that differs from it cannot be named. */
function differenceOf(pinned: readonly PinnedChain[], token: TokenEntry): { differs?: string } {
	const assets = pinned.find(({ chainId }) => chainId === token.chainId)?.assets ?? [];
	const found = assets.find(({ address }) => isSameAddress(token.chainId, address, token.address));
	if (!found) return { differs: "not in the deployment file" };
	if (found.symbol !== token.symbol)
		return { differs: `its symbol is ${found.symbol} in the deployment file` };
	if (found.decimals !== token.decimals) {
		return {
			differs: `it has ${found.decimals} decimals in the deployment file, not ${Number(token.decimals)}`,
		};
	}
	return {};
}

function describe({ symbol, address, live, paused, differs }: TokenEntry & { differs?: string }): Line[] {
	const state = paused === undefined ? (live ? "live" : "not quoted now") : "paused";
	return [
		`  ${symbol.padEnd(8)} ${address.padEnd(44)} ${state}`,
		...(differs === undefined ? [] : [["", `DIFFERS: ${differs}`] satisfies Line]),
	];
}
