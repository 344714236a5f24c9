import type { Address, Hex } from "viem";

type SafeTransaction = {
	to: Address;
	value: string;
	data: Hex;
	contractMethod: null;
	contractInputsValues: null;
};

/** A file that Safe's Transaction Builder imports. */
type SafeBatch = {
	version: "1.0";
	chainId: string;
	createdAt: number;
	meta: { name: string; description: string; createdFromSafeAddress: Address };
	transactions: SafeTransaction[];
};

/** Returns the calls as a batch for the multisig, which signs and sends them together. */
export function safeBatch({
	chainId,
	name,
	safe,
	calls,
	nowMs,
}: {
	chainId: number;
	name: string;
	safe: Address;
	calls: readonly { name: string; to: Address; data: Hex }[];
	nowMs: number;
}): SafeBatch {
	return {
		version: "1.0",
		chainId: String(chainId),
		createdAt: nowMs,
		meta: {
			name: `Geoswap on ${name}`,
			description: calls.map((call) => call.name).join("; "),
			createdFromSafeAddress: safe,
		},
		transactions: calls.map(({ to, data }) => ({
			to,
			value: "0",
			data,
			contractMethod: null,
			contractInputsValues: null,
		})),
	};
}
