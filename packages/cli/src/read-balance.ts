import { type SolanaAddress, solanaNativeToken, tokenAccountOf } from "@geoswap/protocol";
import type { Address } from "viem";
import type { LoadedConfig } from "./config.ts";
import type { PinnedAsset, PinnedChain } from "./pinned-assets.ts";
import { explainFailures, OtherChain, withEvmNode } from "./with-evm-node.ts";

const timeoutMs = 15_000;

/** Returns what a wallet holds of each asset, read from the chain at the configured endpoint. */
export async function readBalances(
	{ rpc, pins }: Pick<LoadedConfig, "rpc" | "pins">,
	chain: PinnedChain,
	held: { wallet: string; assets: readonly PinnedAsset[] },
): Promise<bigint[]> {
	return chain.kind === "evm"
		? readEvm({ rpc }, chain, held)
		: explainFailures({ rpc }, chain, (url) => readSolana(url, pins.solana?.genesisHash, held));
}

async function readEvm(
	config: Pick<LoadedConfig, "rpc">,
	chain: PinnedChain,
	{ wallet, assets }: { wallet: string; assets: readonly PinnedAsset[] },
): Promise<bigint[]> {
	const { erc20Abi } = await import("viem");
	return withEvmNode(config, chain, (client) =>
		Promise.all(
			assets.map(({ address, isNative }) =>
				isNative
					? client.getBalance({ address: wallet as Address })
					: client.readContract({
							address: address as Address,
							abi: erc20Abi,
							functionName: "balanceOf",
							args: [wallet as Address],
						}),
			),
		),
	);
}

async function readSolana(
	url: string,
	genesisHash: string | undefined,
	{ wallet, assets }: { wallet: string; assets: readonly PinnedAsset[] },
): Promise<bigint[]> {
	const { createSolanaRpc } = await import("@solana/kit");
	const rpc = createSolanaRpc(url);
	const abortSignal = AbortSignal.timeout(timeoutMs);
	const found = await rpc.getGenesisHash().send({ abortSignal });
	if (found !== genesisHash) throw new OtherChain("is a node of another cluster");
	const owner = wallet as SolanaAddress;
	return Promise.all(
		assets.map(async ({ address }) => {
			if (address === solanaNativeToken)
				return (await rpc.getBalance(owner, { commitment: "confirmed" }).send({ abortSignal })).value;
			const account = await tokenAccountOf({ owner, token: address as SolanaAddress });
			const { value } = await rpc
				.getAccountInfo(account, { commitment: "confirmed", encoding: "base64" })
				.send({ abortSignal });
			// A token account begins with mint, owner and amount.
			return value ? Buffer.from(value.data[0], "base64").readBigUInt64LE(64) : 0n;
		}),
	);
}
