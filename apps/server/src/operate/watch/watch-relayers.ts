import { formatUnits } from "viem";
import type { Meter } from "../../telemetry/meter.ts";

const maxAgeMs = 60_000;

/** Publishes what relayers have left for gas. Separate from their lanes, which do not wait for this. */
export function watchRelayers({
	meter,
	chains,
}: {
	meter: Meter;
	chains: readonly {
		chainId: number;
		config: { nativeDecimals: number };
		readBalances: () => Promise<{ relayer: string; balance: bigint }[]>;
	}[];
}): void {
	// Each chain is read by itself: one that does not answer does not hide the others.
	for (const { chainId, config, readBalances } of chains) {
		meter.reading({
			name: `relayers of chain ${chainId}`,
			gauges: {
				geoswap_relayer_balance_native: "Balance of a relayer or fee payer, in the chain's native token",
			},
			maxAgeMs,
			read: async () =>
				(await readBalances()).map(({ relayer, balance }) => ({
					gauge: "geoswap_relayer_balance_native",
					labels: { chain: String(chainId), relayer },
					value: Number(formatUnits(balance, config.nativeDecimals)),
				})),
		});
	}
}
