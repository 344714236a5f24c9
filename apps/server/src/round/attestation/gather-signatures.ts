import { recoverAddress } from "@geoswap/keys/signature/recover-address";
import {
	type AttestationKind,
	type AttesterSet,
	attestationMessage,
	attestationTypedData,
	type Order,
	orderId,
} from "@geoswap/protocol";
import { type Address, type Hex, hashTypedData, zeroAddress } from "viem";
import { normalizeSignature } from "../../chain/evm/wallet/normalize-signature.ts";
import type { Log } from "../../telemetry/log.ts";
import type { AttesterClient } from "./attester-client.ts";

export type Gathered = { orders: readonly Order[]; signatures: Hex[] };

type Question = {
	attesters: readonly AttesterClient[];
	set: AttesterSet;
	kind: AttestationKind;
	orders: readonly Order[];
	log: Log;
};

/** `refusals`: the orders that each attester that answered does not sign for; none if it signed. */
type Answers = { signatures: Hex[]; refusals: Map<AttesterClient, ReadonlySet<Hex>> };

/**
 * Returns signatures of enough attesters over one list of orders, in the order that the escrow requires; undefined if
 * too few sign. If attesters refuse an order, it is left out of the list.
 */
export async function gatherSignatures(question: Question): Promise<Gathered | undefined> {
	const { set } = question;
	let { attesters, orders } = question;
	let before: Answers["refusals"] = new Map();
	// Every round leaves out an order or an attester, and honest attesters name all their refusals in the first.
	for (let round = 0; round < question.attesters.length + 2 && orders.length > 0; round++) {
		const { signatures, refusals } = await askAll({ ...question, attesters, orders });
		if (signatures.length >= set.threshold) return { orders, signatures };
		const fickle = attesters.filter((attester) =>
			isInconsistent(before.get(attester), refusals.get(attester)),
		);
		attesters = attesters.filter((attester) => !fickle.includes(attester));
		// An attester that refuses everything must not hold up the others, so only those with the fewest refusals count.
		const willing = attesters
			.flatMap((attester) => refusals.get(attester) ?? [])
			.toSorted((a, b) => a.size - b.size)
			.slice(0, set.threshold);
		if (willing.length < set.threshold) return undefined;
		const rest = orders.filter((order) => willing.every((refused) => !refused.has(orderId(order))));
		if (rest.length === orders.length && fickle.length === 0) return undefined;
		orders = rest;
		before = refusals;
	}
	return undefined;
}

/** Returns whether an attester refuses an order that it accepted before. One by one, it could hold up all of them. */
function isInconsistent(before: ReadonlySet<Hex> | undefined, now: ReadonlySet<Hex> | undefined): boolean {
	return before !== undefined && now !== undefined && [...now].some((id) => !before.has(id));
}

async function askAll({ attesters, set, kind, orders, log }: Question): Promise<Answers> {
	const typedData = attestationTypedData(attestationMessage(kind, orders));
	const signed = new Map<Address, Hex>();
	const refusals: Answers["refusals"] = new Map();
	await Promise.all(
		attesters.map(async (attester) => {
			const { url, attest } = attester;
			try {
				const answer = await attest(kind, orders);
				if ("refused" in answer) {
					log.info({ attester: url, kind, refused: answer.refused }, "attester refused");
					const refused = new Set(answer.refused.map((refusal) => refusal.orderId.toLowerCase() as Hex));
					if (!orders.some((order) => refused.has(orderId(order))))
						throw new Error("it neither signed nor refused");
					refusals.set(attester, refused);
					return;
				}
				// The escrow refuses a whole transaction for one signature in another form.
				const signature = normalizeSignature(answer.signature, { wallet: zeroAddress });
				const signer = recoverAddress({ hash: hashTypedData(typedData), signature });
				if (!signer || !set.attesters.includes(signer)) {
					log.error({ attester: url, signer }, "the signature is not from an attester of the set");
					return;
				}
				signed.set(signer, signature);
				refusals.set(attester, new Set());
			} catch (error) {
				log.warn({ attester: url, problem: (error as Error).message }, "attester did not answer");
			}
		}),
	);
	// The signatures are in the set's own order, which is ascending, and no more than needed, since each costs gas.
	const signatures = set.attesters.flatMap((attester) => signed.get(attester) ?? []).slice(0, set.threshold);
	return { signatures, refusals };
}
