import { type Amount, geoVaultAbi, type Wei } from "@geoswap/protocol";
import { type Address, getChainContractAddress, multicall3Abi, zeroAddress } from "viem";
import type { EvmChain } from "../connect-chain.ts";

/** What a chain shows of the means to move inventory, at one block. */
export type TreasuryReading = {
	/** The time of the block, in seconds since 1970. */
	timestamp: number;
	/** What the vault's cap lets a trade of each token take now, by token. */
	tradeCapLeft: Map<Address, Amount>;
	/** What the vault's cap lets through each of its routes now, by the other chain's id. */
	bridgeCapLeft: Map<number, Amount>;
	relayers: { address: Address; balance: Wei; sendCapLeft: Wei }[];
};

/** Kinds of caps, as the vault numbers them. */
const capKinds = { trade: 1, send: 2, bridge: 3 } as const;

/** Reads the caps of the current vault on trades, sends of gas and bridges, and the relayers' gas, with one call. */
export async function readTreasury(
	{ client, deployment }: EvmChain,
	{ relayers }: { relayers: readonly Address[] },
): Promise<TreasuryReading> {
	const { assets, settlementToken, contracts, cctp } = deployment;
	const tokens = assets.map(({ address }) => address);
	const routes = Object.entries(cctp?.routes ?? {});
	const multicall3 = getChainContractAddress({ chain: client.chain, contract: "multicall3" });
	const capCall = (kind: keyof typeof capKinds, token: Address, to: Address) => ({
		address: contracts.vault,
		abi: geoVaultAbi,
		functionName: "capOf" as const,
		args: [capKinds[kind], token, to] as const,
	});
	const read: readonly unknown[] = await client.multicall({
		allowFailure: false,
		batchSize: 0,
		contracts: [
			...tokens.map((token) => capCall("trade", token, zeroAddress)),
			...routes.map(([, route]) => capCall("bridge", settlementToken, route)),
			...relayers.map((relayer) => capCall("send", zeroAddress, relayer)),
			...relayers.map((relayer) => ({
				address: multicall3,
				abi: multicall3Abi,
				functionName: "getEthBalance" as const,
				args: [relayer] as const,
			})),
			{ address: multicall3, abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" as const },
		],
	});
	const capAt = (i: number): bigint => (read[i] as readonly [bigint, bigint])[1];
	const sends = tokens.length + routes.length;
	return {
		timestamp: Number(read[sends + 2 * relayers.length]),
		tradeCapLeft: new Map(tokens.map((token, i) => [token, capAt(i)])),
		bridgeCapLeft: new Map(routes.map(([chainId], i) => [Number(chainId), capAt(tokens.length + i)])),
		relayers: relayers.map((address, i) => ({
			address,
			sendCapLeft: capAt(sends + i),
			balance: read[sends + relayers.length + i] as bigint,
		})),
	};
}
