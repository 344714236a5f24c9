import { attesterSetHash } from "@geoswap/protocol";
import { bytesToHex, type PrivateKeyAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createSimEvmChain } from "./evm/create-sim-evm-chain.ts";
import { attesterNames } from "./plan.ts";
import { seededRandom } from "./seeded-random.ts";
import { pace, simConfig } from "./sim-config.ts";
import { createSimSolanaChain } from "./solana/create-sim-solana-chain.ts";
import { relayersPerChain, type World, worldStartMs } from "./world.ts";

/**
 * Creates the chains of a world, with the contracts deployed, and the service's configuration for them. The keys of
 * attesters and relayers are the same in every world. Only what happens differs.
 */
export async function createSimChains({ scheduler, random }: Pick<World, "scheduler" | "random">): Promise<
	Pick<World, "evm" | "solana" | "chains" | "relayers" | "config"> & {
		/** In the order of `attesterNames`. */
		attesterAccounts: readonly PrivateKeyAccount[];
	}
> {
	const keys = seededRandom("keys");
	const newAccount = () => privateKeyToAccount(bytesToHex(keys.bytes(32)));
	const attesterAccounts = attesterNames.map(newAccount);
	const set = {
		threshold: 2,
		attesters: attesterAccounts
			.map(({ address }) => address)
			.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)),
	};
	const attesterSet = { ...set, hash: attesterSetHash(set) };
	const relayers = { east: accounts(), west: accounts() };
	function accounts() {
		return Array.from({ length: relayersPerChain }, newAccount);
	}
	const evmChain = (name: "east" | "west", chainId: number) =>
		createSimEvmChain({
			chainId,
			name,
			startMs: worldStartMs,
			finalityBlocks: pace.evm.finalityBlocks,
			attesterSet,
			relayers: relayers[name].map(({ address }) => address),
		});
	const evm = { east: await evmChain("east", 31_337), west: await evmChain("west", 31_338) };
	const solana = await scheduler.during(
		createSimSolanaChain({
			startMs: worldStartMs,
			random,
			finalitySlots: pace.solana.finalitySlots,
			attesterSet,
		}),
	);
	const config = simConfig({ chains: [evm.east.deployment, evm.west.deployment], solana: solana.deployment });

	return { evm, solana, chains: { ...evm, solana }, relayers, attesterAccounts, config };
}
