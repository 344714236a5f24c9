import type { Hex, PrivateKeyAccount } from "viem";
import type { Authorization, Delegation, GeoOpBuild } from "./swap-api.ts";

/** Signs with EIP-191 over the raw 32 bytes of the hash. */
export function signGeoOp(account: PrivateKeyAccount, { geoOpHash }: GeoOpBuild): Promise<string> {
	return account.signMessage({ message: { raw: geoOpHash as Hex } });
}

/** Signs with EIP-7702, over exactly the two fields of the service's response. */
export async function signAuthorization(
	account: PrivateKeyAccount,
	{ chainId, delegation }: { chainId: number; delegation: Delegation },
): Promise<Authorization> {
	const { delegationTarget, accountNonce } = delegation;
	if (delegationTarget === undefined || accountNonce === undefined) throw new Error("nothing to sign");
	const signed = await account.signAuthorization({
		chainId,
		address: delegationTarget as Hex,
		nonce: accountNonce,
	});
	return {
		chainId,
		address: delegationTarget,
		nonce: accountNonce,
		yParity: signed.yParity ?? 0,
		r: signed.r,
		s: signed.s,
	};
}
