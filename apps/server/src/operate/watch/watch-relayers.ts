import { formatAddress, fromSolanaWord } from "@geoswap/protocol";
import { address, type Rpc, type SolanaRpcApi } from "@solana/kit";
import { type Address, formatUnits, type Hex } from "viem";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import type { Meter, Sample } from "../../telemetry/meter.ts";

const maxAgeMs = 60_000;

/** Publishes what relayers have left for gas. Separate from their lanes, which do not wait for this. */
export function watchRelayers({
	meter,
	chains,
	solana,
}: {
	meter: Meter;
	chains: readonly { chain: EvmChain; accounts: readonly { address: Address }[] }[];
	solana: { chain: { chainId: number; rpc: Rpc<SolanaRpcApi> }; relayers: readonly Hex[] } | undefined;
}): void {
	const sample = (chainId: number, relayer: string, value: string): Sample => ({
		gauge: "geoswap_relayer_balance_native",
		labels: { chain: String(chainId), relayer },
		value: Number(value),
	});
	for (const { chain, accounts } of chains) {
		const { chainId, client } = chain;
		readEach(chainId, () =>
			Promise.all(
				accounts.map(async ({ address }) => {
					const wei = await client.getBalance({ address });
					return sample(chainId, formatAddress(chainId, address), formatUnits(wei, 18));
				}),
			),
		);
	}
	if (solana) {
		const { chainId, rpc } = solana.chain;
		readEach(chainId, () =>
			Promise.all(
				solana.relayers.map(async (relayer) => {
					const feePayer = fromSolanaWord(relayer);
					const { value } = await rpc.getBalance(address(feePayer), { commitment: "confirmed" }).send();
					return sample(chainId, feePayer, formatUnits(value, 9));
				}),
			),
		);
	}

	/** Reads each chain by itself: one that does not answer does not hide the others. */
	function readEach(chainId: number, read: () => Promise<Sample[]>): void {
		meter.reading({
			name: `relayers of chain ${chainId}`,
			gauges: {
				geoswap_relayer_balance_native: "What a relayer or fee payer has, in the chain's native token",
			},
			maxAgeMs,
			read,
		});
	}
}
