import type { Hex } from "viem";
import type { EvmAccount } from "./evm-account.ts";
import { signOp } from "./sign-op.ts";
import { type OpToVerify, verifyOp } from "./verify-op.ts";

/**
 * Returns the wallet's signature of an op: `personal_sign` over the 32 bytes of its hash. Throws a VerificationError,
 * and signs nothing, unless the op does exactly what the caller asked for, as it was quoted, with the contracts that
 * the caller has pinned.
 */
export async function verifyAndSign({ account, ...op }: OpToVerify & { account: EvmAccount }): Promise<Hex> {
	return signOp(account, { hash: verifyOp({ ...op, wallet: account.address }) });
}
