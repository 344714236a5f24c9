import { isSignedBy } from "@geoswap/keys/signature/is-signed-by";
import type { Opening } from "@geoswap/protocol";
import {
	decodeMandate,
	encodeMandate,
	mandateDigest,
	mandateProblem,
	type Order,
	type OrderSignature,
	orderDigest,
	readOrderProof,
	toWord,
} from "@geoswap/protocol";
import { type Address, type Hex, hashMessage } from "viem";
import { refuse } from "./refusal.ts";

/**
 * Returns the order that an item of a batch opens. Refuses an item whose wallet, or an agent within a mandate of the
 * wallet's owner, has not signed exactly this order.
 */
export function decodeOpening(
	{ wallet, terms, proof }: Opening,
	{ chainId, escrow }: { chainId: number; escrow: Address },
): Order {
	const order: Order = {
		...terms,
		wallet: toWord(wallet),
		originChainId: BigInt(chainId),
		escrow: toWord(escrow),
	};
	const signed = readOrderProof(proof);
	if (!signed) return refuse("malformed", "a proof is none that a lane makes");
	const signer =
		signed.mandate === undefined ? wallet : agentOf(signed.mandate, { order, wallet, chainId, escrow });
	const { kind, signature } = signed;
	if (!isSignedBy(signer, { hash: hashOf(kind, orderDigest(order)), signature })) {
		refuse("bad-signature", "an order is not signed by its wallet, or by an agent of its wallet");
	}
	return order;
}

/** Returns the agent of a mandate. Refuses a mandate that the wallet's owner did not sign, or that forbids the order. */
function agentOf(
	encoded: Hex,
	{ order, wallet, ...domain }: { order: Order; wallet: Address; chainId: number; escrow: Address },
): Address {
	const signed = { ...readMandate(encoded), ...domain };
	const problem = mandateProblem(signed, order);
	if (problem) refuse("bad-mandate", `a mandate does not allow its order: ${problem}`);
	if (!isSignedBy(wallet, { hash: mandateDigest(signed), signature: signed.signature })) {
		refuse("bad-mandate", "a mandate is not signed by its wallet");
	}
	return signed.mandate.agent;
}

function readMandate(encoded: Hex): ReturnType<typeof decodeMandate> {
	try {
		const signed = decodeMandate(encoded);
		// Other bytes with the same meaning would only cost more gas.
		if (encodeMandate(signed) === encoded) return signed;
	} catch {
		// The same refusal follows.
	}
	return refuse("malformed", "a mandate is none that a lane sends");
}

function hashOf(kind: OrderSignature["kind"], digest: Hex): Hex {
	return kind === "typed" ? digest : hashMessage({ raw: digest });
}
