import {
	type Authorization,
	fromWord,
	orderUserOp,
	SwapError,
	submitRequestSchema,
	unpackDeadlines,
} from "@geoswap/protocol";
import { askChain } from "../chain/ask-chain.ts";
import type { EvmChain } from "../chain/evm/chain-client.ts";
import { checkOpSignature } from "../chain/evm/check-op-signature.ts";
import { normalizeSignature } from "../chain/evm/normalize-signature.ts";
import { readWasOpened } from "../chain/evm/read-was-opened.ts";
import { simulateOp } from "../chain/evm/simulate-open.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { postSubmitDoc } from "../openapi/endpoints/post-submit.ts";
import type { SignedAuthorization } from "../store/swap-record.ts";
import { checkOrigin } from "./check-origin.ts";
import { originChain, readOrigin } from "./read-origin.ts";
import type { SealedOp } from "./sealed-op.ts";
import { type OriginSubmit, type SubmitDeps, submitRoute } from "./submit-route.ts";

/** POST /swap/submit. */
export function postSubmit({
	chains,
	...deps
}: SubmitDeps & { chains: ReadonlyMap<number, EvmChain> }): Route {
	const { pool, nowMs } = deps;
	const origin: OriginSubmit<SealedOp> = {
		path: "/swap/submit",
		doc: postSubmitDoc,
		purpose: "op:evm",
		parse(body) {
			const { geoOpToken, signature } = parseRequest(submitRequestSchema, body);
			return { geoOpToken, signed: signature };
		},
		async checkSignature(op, order, signed) {
			const wallet = fromWord(order.wallet);
			const signature = normalizeSignature(signed, { wallet });
			await checkOpSignature({ opHash: orderUserOp({ order, ...op }).hash, signature, wallet });
			return signature;
		},
		expiresAtMs: ({ quote }) => quote.opExpiresAtMs,
		wasOpened: async (_, order) =>
			(await readWasOpened(originChain(chains, order), order)) ? "opened" : "never",
		async mayLand(_, order) {
			const { chainId, client } = originChain(chains, order);
			const { timestamp } = await askChain(chainId, client.getBlock({ blockTag: "finalized" }));
			return timestamp <= unpackDeadlines(order.deadlines).openDeadline;
		},
		async look({ quote: _, ...op }, order, signature) {
			const chain = originChain(chains, order);
			const [reading, simulation] = await Promise.all([
				readOrigin({ chain, db: pool, order, authorization: op.authorization, nowMs: nowMs() }),
				simulateOp({ chain, order, op: { ...op, signature } }),
			]);
			return {
				isOpened: reading.reading.isOpened,
				async check() {
					await checkOrigin(reading, { target: op.delegate });
					if (!simulation.opens) throw new SwapError("SIMULATION_FAILED", { reason: simulation.reason });
				},
			};
		},
		signedOp: ({ quote: _, authorization, ...op }, signature) => ({
			...op,
			signature,
			...(authorization && { authorization: toSignedAuthorization(authorization) }),
		}),
	};
	return submitRoute(origin, deps);
}

function toSignedAuthorization(authorization: Authorization): SignedAuthorization {
	return {
		...authorization,
		chainId: Number(authorization.chainId),
		nonce: Number(authorization.nonce),
		yParity: Number(authorization.yParity),
	};
}
