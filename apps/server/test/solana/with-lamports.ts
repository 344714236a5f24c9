import type { SolanaAddress } from "@geoswap/protocol";
import type { SolanaChain } from "../../src/chain/solana/connect-solana.ts";

/** Returns the chain behind a node that reports these lamports for one account, regardless of its real balance. */
export function withLamports(
	chain: SolanaChain,
	{ address, lamports }: { address: SolanaAddress; lamports: bigint },
): SolanaChain {
	return {
		...chain,
		rpc: new Proxy(chain.rpc, {
			get: (rpc, name, receiver) => {
				if (name !== "getMultipleAccounts") return Reflect.get(rpc, name, receiver);
				return (...args: Parameters<typeof rpc.getMultipleAccounts>) => ({
					send: async () => {
						const answer = await rpc.getMultipleAccounts(...args).send();
						const value = answer.value.map((account, i) =>
							account && args[0][i] === address ? { ...account, lamports } : account,
						);
						return { ...answer, value };
					},
				});
			},
		}),
	};
}
