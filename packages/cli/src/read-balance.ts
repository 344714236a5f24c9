import { type SolanaAddress, solanaNativeToken, tokenAccountOf } from "@geoswap/protocol";
import type { Address } from "viem";
import { CliError } from "./cli-error.ts";
import type { LoadedConfig } from "./config.ts";
import { exitCode } from "./exit-code.ts";
import type { PinnedAsset, PinnedChain } from "./pinned-assets.ts";

const timeoutMs = 15_000;

/** Returns what a wallet holds of each asset, read from the chain at the configured endpoint. */
export async function readBalances(
	{ rpc, pins }: Pick<LoadedConfig, "rpc" | "pins">,
	chain: PinnedChain,
	{ wallet, assets }: { wallet: string; assets: readonly PinnedAsset[] },
): Promise<bigint[]> {
	const url = rpc[chain.chainId];
	if (url === undefined) {
		throw new CliError(
			`There is no endpoint for ${chain.name}. Add one: geoswap init --rpc ${chain.chainId}=<url>`,
			{ code: "NO_RPC", section: "balances", details: { chainId: chain.chainId } },
		);
	}
	try {
		return await (chain.kind === "evm"
			? readEvm(url, chain.chainId, { wallet, assets })
			: readSolana(url, pins.solana?.genesisHash, { wallet, assets }));
	} catch (error) {
		if (error instanceof OtherChain) throw unavailable(chain, url, error.message, { next: "fix_request" });
		// The library's message has the whole address in it, and with it the key that many endpoints carry.
		throw unavailable(chain, url, "does not answer like a node", { next: "retry" });
	}
}

class OtherChain extends Error {}

async function readEvm(
	url: string,
	chainId: number,
	{ wallet, assets }: { wallet: string; assets: readonly PinnedAsset[] },
): Promise<bigint[]> {
	const { createPublicClient, erc20Abi, http } = await import("viem");
	const client = createPublicClient({ transport: http(url, { timeout: timeoutMs, retryCount: 1 }) });
	const found = await client.getChainId();
	if (found !== chainId) throw new OtherChain(`is a node of chain ${found}`);
	return Promise.all(
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

function unavailable(
	{ name, chainId }: PinnedChain,
	url: string,
	what: string,
	{ next }: { next: "retry" | "fix_request" },
): CliError {
	const isRetryable = next === "retry";
	return new CliError(
		`The endpoint of ${name} at ${new URL(url).host} ${what}. ${isRetryable ? "Try again, or set" : "Set"} another one: geoswap init --rpc ${chainId}=<url>`,
		{
			code: "RPC_UNAVAILABLE",
			exit: isRetryable ? exitCode.refused : exitCode.usage,
			next,
			retryable: isRetryable,
			section: "balances",
			details: { chainId },
		},
	);
}
