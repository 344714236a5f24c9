import { type Hex, hashMessage } from "viem";
import type { EvmAccount } from "./evm-account.ts";
import { signDigest } from "./sign-digest.ts";

/** Returns the wallet's signature of an op: `personal_sign` over the 32 bytes of its hash. */
export function signOp(
	account: EvmAccount,
	{ hash, signal }: { hash: Hex; signal?: AbortSignal | undefined },
): Promise<Hex> {
	const message = { raw: hash };
	return signDigest(account, {
		digest: hashMessage(message),
		native: account.signMessage && (async () => account.signMessage?.({ message })),
		signal,
	});
}
