import type { Address } from "viem";

/**
 * Wallets that are known to be delegated, by chain. Their swaps save the delegation's gas, and their quotes charge
 * less.
 */
export type DelegatedWallets = {
	learn: (wallet: { chainId: number; address: Address; isDelegated: boolean }) => void;
	has: (wallet: { chainId: number; address: string }) => boolean;
};

/**
 * Remembers the delegation of wallets as builds read it, so that a quote queries no chain. An unknown wallet is
 * quoted with a delegation. If a remembered one needs a delegation after all, its submit charges for that.
 */
export function createDelegatedWallets({ most = 100_000 }: { most?: number } = {}): DelegatedWallets {
	// The order of insertion is the order of the last builds.
	const wallets = new Set<string>();
	const keyOf = ({ chainId, address }: { chainId: number; address: string }) =>
		`${chainId} ${address.toLowerCase()}`;
	return {
		learn: ({ isDelegated, ...wallet }) => {
			const key = keyOf(wallet);
			wallets.delete(key);
			if (!isDelegated) return;
			wallets.add(key);
			const [oldest] = wallets;
			if (wallets.size > most && oldest !== undefined) wallets.delete(oldest);
		},
		has: (wallet) => wallets.has(keyOf(wallet)),
	};
}
