import { fromWord, orderUserOp, SwapError, submitRequestSchema, unpackDeadlines } from "@geoswap/protocol";
import type { PackedUserOperation } from "viem/account-abstraction";
import { askChain } from "../../chain/ask-chain.ts";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { readWasOpened } from "../../chain/evm/read/read-was-opened.ts";
import { checkOpSignature } from "../../chain/evm/wallet/check-op-signature.ts";
import { normalizeSignature } from "../../chain/evm/wallet/normalize-signature.ts";
import { signedAuthorization } from "../../chain/evm/wallet/signed-authorization.ts";
import { simulateOp } from "../../chain/evm/wallet/simulate-open.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { postSubmitDoc } from "../openapi/endpoints/post-submit.ts";
import { checkBalance } from "../origin/check-balance.ts";
import { checkOrigin } from "../origin/check-origin.ts";
import { originChain, readOrigin } from "../origin/read-origin.ts";
import type { SealedOp } from "../seal/sealed-op.ts";
import { type OriginSubmit, type SubmitDeps, submitRoute } from "../submit/submit-route.ts";

/** POST /swap/submit. */
export function postSubmit({
	chains,
	...deps
}: SubmitDeps & { chains: ReadonlyMap<number, EvmChain> }): Route {
	const origin: OriginSubmit<SealedOp, PackedUserOperation> = {
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
			const { hash, userOp } = orderUserOp({ order, ...op });
			checkOpSignature({ opHash: hash, signature, wallet });
			return { ...userOp, signature };
		},
		expiresAtMs: ({ quote }) => quote.opExpiresAtMs,
		wasOpened: async (_, order) =>
			(await readWasOpened(originChain(chains, order), order)) ? "opened" : "never",
		async mayLand(_, order) {
			const { chainId, client } = originChain(chains, order);
			const { timestamp } = await askChain(chainId, client.getBlock({ blockTag: "finalized" }));
			return timestamp <= unpackDeadlines(order.deadlines).openDeadline;
		},
		async look({ delegate, authorization }, order, userOp, unopened) {
			const chain = originChain(chains, order);
			const [origin, simulation] = await Promise.all([
				readOrigin({ chain, order, authorization, unopened }),
				simulateOp({ chain, order, userOp, authorization }),
			]);
			return {
				isOpened: origin.reading.isOpened,
				async check() {
					await checkOrigin(origin, { target: delegate });
					if (!simulation.opens) throw new SwapError("SIMULATION_FAILED", { reason: simulation.reason });
				},
				checkBalance: (claimed) => checkBalance(order, origin.reading.available - claimed),
			};
		},
		signedOp: ({ quote: _, authorization, ...op }, signature) => ({
			...op,
			signature,
			...(authorization && { authorization: signedAuthorization(authorization) }),
		}),
	};
	return submitRoute(origin, deps);
}
