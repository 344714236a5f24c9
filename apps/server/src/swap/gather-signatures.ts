import {
	type AttestationKind,
	type AttesterSet,
	attestationMessage,
	attestationTypedData,
	type Order,
	orderId,
} from "@geoswap/protocol";
import { type Address, type Hex, recoverTypedDataAddress } from "viem";
import type { Log } from "../log.ts";
import type { AttesterClient } from "./attester-client.ts";

export type Gathered = { orders: readonly Order[]; signatures: Hex[] };

/**
 * Signatures of enough attesters over one list of orders, in the order in which the escrow wants them; undefined where
 * too few sign. Orders that they refuse are left out of the list.
 */
export async function gatherSignatures({
	attesters,
	set,
	kind,
	orders,
	log,
}: {
	attesters: readonly AttesterClient[];
	set: AttesterSet;
	kind: AttestationKind;
	orders: readonly Order[];
	log: Log;
}): Promise<Gathered | undefined> {
	const first = await askAll({ attesters, set, kind, orders, log });
	if (first.signatures.length >= set.threshold) return { orders, signatures: first.signatures };

	// One that refuses everything must not hold up the others: listen to those who refuse least.
	const willing = [...first.refusals, ...first.signatures.map(() => [])]
		.toSorted((a, b) => a.length - b.length)
		.slice(0, set.threshold);
	if (willing.length < set.threshold) return undefined;
	const refused = new Set<Hex>(willing.flat());
	const rest = orders.filter((order) => !refused.has(orderId(order)));
	if (rest.length === 0 || rest.length === orders.length) return undefined;
	const second = await askAll({ attesters, set, kind, orders: rest, log });
	return second.signatures.length >= set.threshold
		? { orders: rest, signatures: second.signatures }
		: undefined;
}

async function askAll({
	attesters,
	set,
	kind,
	orders,
	log,
}: {
	attesters: readonly AttesterClient[];
	set: AttesterSet;
	kind: AttestationKind;
	orders: readonly Order[];
	log: Log;
}): Promise<{ signatures: Hex[]; refusals: Hex[][] }> {
	const typedData = attestationTypedData(attestationMessage(kind, orders));
	const signed = new Map<Address, Hex>();
	const refusals: Hex[][] = [];
	await Promise.all(
		attesters.map(async ({ url, attest }) => {
			try {
				const answer = await attest(kind, orders);
				if ("refused" in answer) {
					log.info({ attester: url, kind, refused: answer.refused }, "attester refused");
					refusals.push(answer.refused.map((refusal) => refusal.orderId.toLowerCase() as Hex));
					return;
				}
				const signer = await recoverTypedDataAddress({ ...typedData, signature: answer.signature });
				if (set.attesters.includes(signer)) signed.set(signer, answer.signature);
				else log.error({ attester: url, signer }, "the signature is of no attester of the set");
			} catch (error) {
				log.warn({ attester: url, problem: (error as Error).message }, "attester did not answer");
			}
		}),
	);
	// In the set's own order, which is ascending; no more than needed, for each costs gas.
	const signatures = set.attesters.flatMap((attester) => signed.get(attester) ?? []).slice(0, set.threshold);
	return { signatures, refusals };
}
