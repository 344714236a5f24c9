import type { Address, Hex } from "viem";
import type { EvmAccount } from "./evm-account.ts";
import { signOp } from "./sign-op.ts";
import { type OpToVerify, verifyOp } from "./verify-op.ts";

/**
 * Returns the wallet's signature of an order, over its typed data or by `personal_sign` over the 32 bytes of its
 * digest. Throws a VerificationError, and signs nothing, unless the order is exactly what the caller requested and was
 * quoted, with the contracts that the caller has pinned. An agent that signs within a mandate names the mandate's
 * wallet.
 */
export async function verifyAndSign({
	account,
	wallet = account.address,
	...op
}: OpToVerify & { account: EvmAccount; wallet?: Address }): Promise<Hex> {
	return signOp(account, verifyOp({ ...op, wallet }));
}
