import {
	type AttestationKind,
	attestationMessage,
	attestationTypedData,
	heartbeatTypedData,
	type Order,
	orderId,
	orderSchema,
} from "@geoswap/protocol";
import Fastify from "fastify";
import type { Hex, LocalAccount } from "viem";
import * as z from "zod";
import { readBlock } from "../chain/evm/read-block.ts";
import type { Log } from "../log.ts";
import type { AttesterConfig } from "./attester-config.ts";
import { checkOutcomes, type OutcomeRefusal } from "./check-outcomes.ts";
import { checkTerms, type TermsRefusal } from "./check-terms.ts";

const attestRequestSchema = z.strictObject({
	kind: z.enum(["Release", "Refund"]),
	orders: z.array(orderSchema).min(1).max(50),
});

export type Refusal = {
	orderId: Hex;
	reason:
		| TermsRefusal
		| OutcomeRefusal
		/** The destination does not answer this attester: of other chains it still speaks. */
		| "chain_unavailable";
};

/** More than fifty orders take. */
const bodyLimit = 256 * 1024;

/**
 * Serves an attester: it says of orders what it saw itself, at finality, on endpoints of its own. It remembers nothing
 * and believes nobody; whoever can reach it may ask.
 */
export async function startAttester({
	config,
	account,
	nowMs,
	log,
}: {
	config: AttesterConfig;
	account: LocalAccount;
	nowMs: () => number;
	log: Log;
}): Promise<{ url: string; close: () => Promise<void> }> {
	const app = Fastify({ bodyLimit });

	app.post("/attest", async (request, reply) => {
		const parsed = attestRequestSchema.safeParse(request.body);
		if (!parsed.success) return reply.code(400).send({ message: z.prettifyError(parsed.error) });
		const { kind, orders } = parsed.data;
		const [first] = orders;
		if (
			orders.some((order) => order.escrow !== first?.escrow || order.originChainId !== first.originChainId)
		) {
			return reply.code(400).send({ message: "the orders of one attestation must be of one escrow" });
		}
		const refused = await refusals(config, { kind, orders, log });
		if (refused.length > 0) return reply.code(409).send({ refused });
		const message = attestationMessage(kind, orders);
		const signature = await account.signTypedData(attestationTypedData(message));
		log.info({ kind, chainId: message.originChainId, orderIds: message.orderIds }, "signed");
		return { attester: account.address, signature };
	});

	app.get("/heartbeat", async () => {
		const signedAtUnixSeconds = Math.floor(nowMs() / 1_000);
		const beats = await Promise.allSettled(
			config.chains.map(async (chain) => {
				const { number: finalizedNumber } = await readBlock(chain, "finalized");
				const beat = { chainId: chain.chainId, finalizedNumber, signedAtUnixSeconds };
				return { ...beat, signature: await account.signTypedData(heartbeatTypedData(beat)) };
			}),
		);
		// A chain that this attester cannot see is one that it cannot sign for.
		return beats.flatMap((beat) => (beat.status === "fulfilled" ? [beat.value] : []));
	});

	app.get("/health", () => ({ attester: account.address }));

	const url = await app.listen({ host: config.host, port: config.port });
	return { url, close: () => app.close() };
}

/** Which orders cannot be signed for, and why: all of them at once, so that whoever asks can ask for the rest. */
async function refusals(
	config: AttesterConfig,
	{ kind, orders, log }: { kind: AttestationKind; orders: readonly Order[]; log: Log },
): Promise<Refusal[]> {
	const reasons = new Map<Order, Refusal["reason"] | undefined>(
		orders.map((order) => [order, checkTerms(config, { kind, order })]),
	);
	await Promise.all(
		config.chains.map(async (chain) => {
			const there = orders.filter(
				(order) => order.destinationChainId === BigInt(chain.chainId) && !reasons.get(order),
			);
			if (there.length === 0) return;
			try {
				const outcomes = await checkOutcomes(chain, { kind, orders: there });
				for (const [i, order] of there.entries()) reasons.set(order, outcomes[i]);
			} catch (error) {
				log.warn({ err: error, chainId: chain.chainId }, "a chain does not answer");
				for (const order of there) reasons.set(order, "chain_unavailable");
			}
		}),
	);
	return orders.flatMap((order): Refusal[] => {
		const reason = reasons.get(order);
		return reason ? [{ orderId: orderId(order), reason }] : [];
	});
}
