import { connectDevnetChain, type DevnetChain, dressChain, startAnvil } from "@geoswap/devnet";
import type { Hex } from "viem";
import type { EvmPreset } from "../../src/operate/chain/preset-schema.ts";
import { readPreset } from "../../src/operate/chain/read-presets.ts";
import { startReceiptMarker } from "./start-receipt-marker.ts";

/** The price in USD of each pair's base token on a dressed chain. */
const usdOf: Record<string, string> = {
	ETH: "3000",
	BNB: "600",
	POL: "0.5",
	BTC: "60000",
	WBTC: "60000",
	cbBTC: "60000",
	SOL: "150",
	USDC: "1",
	USDT: "1",
};

/** Code that answers every call with six words that are zero. It stands for the contracts that return fees. */
const zeroWords: Hex = "0x60c05ff3";

/** The field that only receipts on this kind of chain have. */
const receiptMarks = { "op-stack": "l1Fee", arbitrum: "gasUsedForL1", eip1559: undefined } as const;

export type DressedChain = DevnetChain & {
	preset: EvmPreset;
	/** The node whose receipts look like the real chain's. */
	nodeUrl: string;
	stop: () => Promise<void>;
};

/** Starts an anvil that looks like the preset's chain. Its contracts are the devnet's, at the real chain's addresses. */
export async function startDressedChain(slug: string): Promise<DressedChain> {
	const preset = readPreset(slug);
	if (preset.kind === "solana") throw new Error("anvil cannot be dressed as Solana");
	const anvil = await startAnvil({ chainId: preset.chainId });
	const chain = connectDevnetChain({ chainId: preset.chainId, rpcUrl: anvil.url });
	const { venue } = preset;
	const venues = Object.entries(preset.venues).sort(([name]) => (name === venue ? -1 : 1));
	const { sequencerUptimeFeed } = preset;
	await dressChain(chain, {
		wrappedNative: preset.wrappedNative.value,
		nativeUsd: usdOf[preset.native.symbol] ?? "1",
		tokens: preset.tokens.map(({ symbol, address, decimals, feed, kind }) => {
			const usd = kind === "stable" ? "1" : (usdOf[(feed ?? "BTC/USD").replace("/USD", "")] ?? "1");
			return { symbol, address: address.value, decimals, usd };
		}),
		settlementToken: preset.settlementToken,
		venues: venues.map(([, { factory, router, quoterV2 }]) => {
			return { factory: factory.value, router: router.value, quoterV2: quoterV2.value };
		}),
		feeds: [
			...preset.feeds.map(({ pair, descriptions: [description = ""], address }) => {
				return { description, address: address.value, usd: usdOf[pair.replace("/USD", "")] ?? "1" };
			}),
			...(sequencerUptimeFeed
				? [
						{
							description: "L2 Sequencer Uptime Status Feed",
							address: sequencerUptimeFeed.value,
							usd: "0",
						},
					]
				: []),
		],
		cctp: preset.cctp && {
			domain: preset.cctp.domain.value,
			tokenMessenger: preset.cctp.tokenMessenger.value,
			messageTransmitter: preset.cctp.messageTransmitter.value,
		},
		codes: Object.values(preset.fees.contracts).map(({ value }) => ({ address: value, code: zeroWords })),
	}).catch(async (error) => {
		await anvil.stop();
		throw error;
	});
	const mark = receiptMarks[preset.kind];
	const marker = mark && (await startReceiptMarker(anvil.url, mark));
	return {
		...chain,
		preset,
		nodeUrl: marker?.url ?? anvil.url,
		stop: async () => {
			await marker?.stop();
			await anvil.stop();
		},
	};
}
