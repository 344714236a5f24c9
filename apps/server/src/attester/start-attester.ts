import { type Milliseconds, orderSchema } from "@geoswap/protocol";
import { getBase58Encoder, isSignature } from "@solana/kit";
import Fastify from "fastify";
import { bytesToHex, type Hex, hexToBytes, isHex } from "viem";
import * as z from "zod";
import type { EvmSigner } from "../signer/signer.ts";
import { SignerError } from "../signer/signer-error.ts";
import type { Log } from "../telemetry/log.ts";
import type { AttesterConfig } from "./attester-config.ts";
import { createAttester } from "./create-attester.ts";
import { createCodeWatch } from "./create-code-watch.ts";

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
	 * The transaction that is said to have paid each order on Solana, by order id: nothing leads from an order to its
	 * payment there. It is a hint where to look, and is not trusted.
	 */
	deliveries: z
		.record(z.string().regex(/^0x[0-9a-f]{64}$/i), signatureSchema)
		.refine((deliveries) => Object.keys(deliveries).length <= maxOrders, "too many")
		.default({}),
});

/** Interval at which a chain is checked until it is known to have the published code; after that, once a day. */
const codeCheckMs = 1_000;

/** More bytes than fifty orders take. */
const bodyLimit = 256 * 1024;

/**
 * Serves an attester: it signs what it saw itself, at finality, on endpoints of its own. It keeps no state and trusts
 * nobody; anyone who can reach it may ask.
 */
export async function startAttester({
	config,
	signer,
	nowMs,
	log,
}: {
	config: Omit<AttesterConfig, "keys">;
	signer: EvmSigner;
	nowMs: () => Milliseconds;
	log: Log;
}): Promise<{ url: string; close: () => Promise<void> }> {
	const { chains, earlierRouters, earlierSettlementTokens } = config;
	const code = createCodeWatch({ chains, earlierRouters, earlierSettlementTokens, nowMs, log });
	await code.check();
	const checking = setInterval(() => void code.check(), codeCheckMs);
	checking.unref();
	const attester = createAttester({ config, codeStateOf: code.stateOf, signer, nowMs, log });
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
			return reply.code(400).send({ message: "the orders of an attestation must belong to one escrow" });
		}
		const answer = await attester.attest({ kind, orders, deliveries }).catch((err: unknown) => {
			if (!(err instanceof SignerError)) throw err;
			log.error({ err }, "the attester's signer does not sign");
			return undefined;
		});
		// The service asks again, and other attesters may be enough.
		if (!answer) return reply.code(503).send({ message: "the attester's signer does not answer" });
		if ("refused" in answer) return reply.code(409).send(answer);
		return { attester: signer.address, ...answer };
	});

	app.get("/heartbeat", () => attester.heartbeats());

	app.get("/health", () => ({ attester: signer.address, chains: code.report() }));

	const url = await app.listen({ host: config.host, port: config.port });
	return {
		url,
		close: async () => {
			clearInterval(checking);
			await app.close();
		},
	};
}

function bytesOf(text: string): Uint8Array | undefined {
	if (isHex(text)) return text.length === 130 ? hexToBytes(text) : undefined;
	return isSignature(text) ? new Uint8Array(getBase58Encoder().encode(text)) : undefined;
}
