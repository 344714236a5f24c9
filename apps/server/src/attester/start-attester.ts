import type { EvmSigner } from "@geoswap/keys/signer";
import { SignerError } from "@geoswap/keys/signer-error";
import { type Milliseconds, orderSchema } from "@geoswap/protocol";
import Fastify from "fastify";
import * as z from "zod";
import type { Log } from "../telemetry/log.ts";
import type { AttesterConfig } from "./attester-config.ts";
import { createAttester } from "./create-attester.ts";
import { createCodeWatch } from "./create-code-watch.ts";

const maxOrders = 50;
const attestRequestSchema = z.strictObject({
	kind: z.enum(["Release", "Refund"]),
	orders: z.array(orderSchema).min(1).max(maxOrders),
});

/** Interval at which a chain is checked until it is known to have the published code; after that, once a day. */
const codeCheckMs = 1_000;

/** More bytes than fifty orders take. */
const bodyLimit = 256 * 1024;

/**
 * Serves an attester, which signs what it has itself read at finality from its own endpoints. It keeps no state and
 * trusts no other process. Any client that can reach it may send requests.
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
		const [first] = orders;
		if (
			orders.some((order) => order.escrow !== first?.escrow || order.originChainId !== first.originChainId)
		) {
			return reply.code(400).send({ message: "the orders of an attestation must belong to one escrow" });
		}
		const answer = await attester.attest({ kind, orders }).catch((err: unknown) => {
			if (!(err instanceof SignerError)) throw err;
			log.error({ err }, "the attester's signer does not sign");
			return undefined;
		});
		// The service retries, and other attesters may be enough.
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
