import type { TestChain, TestChains } from "@geoswap/devnet";
import {
	type AttestationKind,
	attestationMessage,
	attestationTypedData,
	type Order,
} from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

export type Attestation = { threshold: bigint; attesters: readonly Address[]; signatures: Hex[] };

/** Returns the attesters' signatures for orders of this chain, as many as the threshold requires. */
export async function attest({
	chain,
	keys,
	kind,
	orders,
}: {
	chain: TestChain;
	keys: TestChains["keys"];
	kind: AttestationKind;
	orders: Order[];
}): Promise<Attestation> {
	const { attesterSet } = chain.deployment;
	const typedData = attestationTypedData(attestationMessage(kind, orders));
	const signers = keys.attesters
		.map((key) => privateKeyToAccount(key))
		.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
		.slice(0, attesterSet.threshold);
	return {
		threshold: BigInt(attesterSet.threshold),
		attesters: attesterSet.attesters,
		signatures: await Promise.all(signers.map((signer) => signer.signTypedData(typedData))),
	};
}
