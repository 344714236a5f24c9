import { toSolanaWord } from "@geoswap/protocol";
import type { Config } from "../../config/config.ts";
import { deskChains } from "../../desk/desk-chain.ts";
import type { JournalChain } from "./journal.ts";

/** Returns the parts of the configured chains that the numbers of a journal depend on. */
export function journalChains(config: Pick<Config, "chains">): JournalChain[] {
	const chains = deskChains(config);
	return config.chains.map((chain): JournalChain => {
		const desk = chains.get(chain.chainId);
		if (!desk) throw new RangeError(`the desk does not know chain ${chain.chainId}`);
		const { chainId, name, nativeDecimals, settlementToken } = desk;
		const of = { chainId, name, nativeDecimals, native: desk.native.address, settlementToken };
		if (chain.kind === "evm") {
			const assets = chain.deployment.assets.map(({ address, feed, symbol, decimals }) => ({
				token: address,
				symbol,
				decimals,
				...(feed && { feed: { chainId, address: feed.address } }),
			}));
			return { ...of, kind: chain.deployment.kind, assets };
		}
		const { assets } = chain.deployment;
		const { quoter } = chain;
		return {
			...of,
			kind: "solana",
			assets: assets.map(({ address, symbol, decimals, feed }) => ({
				token: toSolanaWord(address),
				symbol,
				decimals,
				feed: { chainId: feed.chainId, address: feed.address },
			})),
			spreadBps: Object.fromEntries(
				assets.map(({ address, kind }) => [toSolanaWord(address), chain.spreadBps[kind]]),
			),
			...(quoter && {
				quoter: {
					maxAgeMs: quoter.maxAgeSeconds * 1_000,
					marginBps: Object.fromEntries(
						assets.map(({ address, kind }) => [toSolanaWord(address), quoter.marginBps[kind]]),
					),
				},
			}),
		};
	});
}
