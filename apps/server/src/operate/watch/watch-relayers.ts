import { formatAddress, fromSolanaWord } from "@geoswap/protocol";
import { address, type Rpc, type SolanaRpcApi } from "@solana/kit";
import { type Address, formatUnits, type Hex } from "viem";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import type { Meter, Sample } from "../../telemetry/meter.ts";

const maxAgeMs = 60_000;

/** Lets be seen what relayers have left for gas. Apart from their lanes, which wait for nothing here. */
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

	/** Each chain for itself: one that does not answer leaves the others to be seen. */
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
