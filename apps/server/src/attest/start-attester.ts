import {
	type AttestationKind,
	attestationMessage,
	attestationTypedData,
	heartbeatTypedData,
	type Order,
	orderId,
	orderSchema,
} from "@geoswap/protocol";
import { getBase58Encoder, isSignature } from "@solana/kit";
import Fastify from "fastify";
import { bytesToHex, type Hex, hexToBytes, isHex, type LocalAccount } from "viem";
import * as z from "zod";
import { readBlock } from "../chain/evm/read-block.ts";
import { readSlots } from "../chain/solana/read-slots.ts";
import type { Log } from "../log.ts";
import type { AttesterConfig } from "./attester-config.ts";
import { checkOutcomes, type OutcomeRefusal } from "./check-outcomes.ts";
import { checkSolanaOutcomes, type SolanaOutcomeRefusal } from "./check-solana-outcomes.ts";
import { checkTerms, type TermsRefusal } from "./check-terms.ts";

const maxOrders = 50;
/** A Solana transaction's first signature, as hex or in base58. */
const signatureSchema = z.string().transform((text, context): Hex => {
	const bytes = bytesOf(text);
	if (bytes?.length === 64) return bytesToHex(bytes);
	context.addIssue("not a signature of 64 bytes");
	return z.NEVER;
});

const attestRequestSchema = z.strictObject({
	kind: z.enum(["Release", "Refund"]),
	orders: z.array(orderSchema).min(1).max(maxOrders),
	/**
	 * By order id: the transaction that is said to have paid it on Solana, where nothing leads from an order to its
	 * payment. It is a hint of where to look, and not believed.
	 */
	deliveries: z
		.record(z.string().regex(/^0x[0-9a-f]{64}$/i), signatureSchema)
		.refine((deliveries) => Object.keys(deliveries).length <= maxOrders, "too many")
		.default({}),
});

export type Refusal = {
	orderId: Hex;
	reason:
		| TermsRefusal
		| OutcomeRefusal
		| SolanaOutcomeRefusal
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
		const deliveries = new Map(
			Object.entries(parsed.data.deliveries).map(([id, signature]) => [id.toLowerCase() as Hex, signature]),
		);
		const [first] = orders;
		if (
			orders.some((order) => order.escrow !== first?.escrow || order.originChainId !== first.originChainId)
		) {
			return reply.code(400).send({ message: "the orders of one attestation must be of one escrow" });
		}
		const refused = await refusals(config, { kind, orders, deliveries, log });
		if (refused.length > 0) return reply.code(409).send({ refused });
		const message = attestationMessage(kind, orders);
		const signature = await account.signTypedData(attestationTypedData(message));
		log.info({ kind, chainId: message.originChainId, orderIds: message.orderIds }, "signed");
		return { attester: account.address, signature };
	});

	app.get("/heartbeat", async () => {
		const signedAtUnixSeconds = Math.floor(nowMs() / 1_000);
		const { solana } = config;
		const sights = [
			...config.chains.map(async (chain) => {
				const { number: finalizedNumber } = await readBlock(chain, "finalized");
				return { chainId: chain.chainId, finalizedNumber };
			}),
			...(solana
				? [
						readSlots(solana).then(({ finalized }) => ({
							chainId: solana.chainId,
							finalizedNumber: finalized.slot,
						})),
					]
				: []),
		];
		const beats = await Promise.allSettled(
			sights.map(async (seeing) => {
				const beat = { ...(await seeing), signedAtUnixSeconds };
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

type Question = {
	kind: AttestationKind;
	orders: readonly Order[];
	deliveries: ReadonlyMap<Hex, Hex>;
	log: Log;
};

/** Which orders cannot be signed for, and why: all of them at once, so that whoever asks can ask for the rest. */
async function refusals(
	config: AttesterConfig,
	{ kind, orders, deliveries, log }: Question,
): Promise<Refusal[]> {
	const reasons = new Map<Order, Refusal["reason"] | undefined>(
		orders.map((order) => [order, checkTerms(config, { kind, order })]),
	);
	const { solana } = config;
	const destinations = [
		...config.chains.map((chain) => ({
			chainId: chain.chainId,
			check: (there: readonly Order[]) => checkOutcomes(chain, { kind, orders: there }),
		})),
		...(solana
			? [
					{
						chainId: solana.chainId,
						check: (there: readonly Order[]) =>
							checkSolanaOutcomes(solana, { kind, orders: there, deliveries }),
					},
				]
			: []),
	];
	await Promise.all(
		destinations.map(async ({ chainId, check }) => {
			const there = orders.filter(
				(order) => order.destinationChainId === BigInt(chainId) && !reasons.get(order),
			);
			if (there.length === 0) return;
			try {
				const outcomes: (Refusal["reason"] | undefined)[] = await check(there);
				for (const [i, order] of there.entries()) reasons.set(order, outcomes[i]);
			} catch (error) {
				log.warn({ err: error, chainId }, "a chain does not answer");
				for (const order of there) reasons.set(order, "chain_unavailable");
			}
		}),
	);
	return orders.flatMap((order): Refusal[] => {
		const reason = reasons.get(order);
		return reason ? [{ orderId: orderId(order), reason }] : [];
	});
}

function bytesOf(text: string): Uint8Array | undefined {
	if (isHex(text)) return text.length === 130 ? hexToBytes(text) : undefined;
	return isSignature(text) ? new Uint8Array(getBase58Encoder().encode(text)) : undefined;
}
