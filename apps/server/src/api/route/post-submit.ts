import {
	encodeMandate,
	fromWord,
	type Order,
	orderDigest,
	orderProof,
	type SignatureKind,
	type SignedMandate,
	SwapError,
	submitRequestSchema,
	submitResponseSchema,
	unpackDeadlines,
} from "@geoswap/protocol";
import { type Address, type Hex, isAddressEqual } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readWasOpened } from "../../chain/evm/read/read-deposit.ts";
import { checkOpSignature } from "../../chain/evm/wallet/check-op-signature.ts";
import { normalizeSignature } from "../../chain/evm/wallet/normalize-signature.ts";
import { signedAuthorization } from "../../chain/evm/wallet/signed-authorization.ts";
import { simulateSigned } from "../../chain/evm/wallet/simulate-open.ts";
import { requestChain } from "../../chain/request-chain.ts";
import type { SignedOp } from "../../swap/facts/swap-record.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { exampleOpToken, exampleSignature, exampleSwapId } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { checkMandate, checkMandateUse, simulationError } from "../origin/check-mandate.ts";
import { checkBalance, checkOrigin } from "../origin/check-origin.ts";
import { originChain, readOrigin } from "../origin/read-origin.ts";
import type { SealedOp } from "../seal/seal-token.ts";
import { type OriginSubmit, type SubmitDeps, submitRoute } from "../submit/submit-route.ts";

/** The fields of a submit about the signature, as they are in the request. */
type GivenSignature = {
	signature: string;
	signatureKind: SignatureKind | undefined;
	mandate: SignedMandate | undefined;
};

const otherMandate =
	"The mandate is not the one of the quote. Send the same mandate with both, or neither; its gas is part of the price.";

/** POST /swap/submit. */
export function postSubmit({
	chains,
	...deps
}: SubmitDeps & { chains: ReadonlyMap<number, EvmChain> }): Route {
	const origin: OriginSubmit<SealedOp, GivenSignature> = {
		path: "/swap/submit",
		doc: postSubmitDoc,
		purpose: "op:evm",
		parse(body) {
			const { geoOpToken, ...signed } = parseRequest(submitRequestSchema, body);
			return { geoOpToken, signed };
		},
		async check({ quote, authorization, ...op }, order, given) {
			const chain = originChain(chains, order);
			const { signature, signatureKind, mandate } = checkSignature({
				order,
				delegate: op.delegate,
				typedDelegate: chain.deployment.contracts.typedDelegate,
				quotedMandate: quote.mandate?.digest,
				given,
			});
			return {
				stored: {
					...op,
					signature,
					signatureKind,
					...(mandate && { mandate }),
					...(authorization && { authorization: signedAuthorization(authorization) }),
				},
				expiresAtMs: quote.opExpiresAtMs,
				wasOpened: async () => ((await readWasOpened(chain, order)) ? "opened" : "never"),
				async mayLand() {
					const { chainId, client } = chain;
					const { timestamp } = await requestChain(chainId, client.getBlock({ blockTag: "finalized" }));
					return timestamp <= unpackDeadlines(order.deadlines).openDeadline;
				},
				async look(unopened) {
					const [read, simulation] = await Promise.all([
						readOrigin({ chain, order, authorization, unopened }),
						simulateSigned({
							chain,
							order,
							proof: orderProof({ kind: signatureKind, signature, mandate: mandate?.encoded }),
							authorization,
						}),
					]);
					return {
						isOpened: read.reading.isOpened,
						async check() {
							await checkOrigin(read, { targets: [op.delegate] });
							if (!simulation.opens) throw simulationError(simulation);
							if (quote.mandate) {
								await checkMandateUse(chain, quote.mandate, { order, unopened, nowMs: deps.nowMs() });
							}
						},
						checkBalance: (claimed) => checkBalance(order, read.reading.available - claimed),
					};
				},
			};
		},
	};
	return submitRoute(origin, deps);
}

/** Throws if the signature or the mandate is not what the quote and the wallet's account accept. */
function checkSignature({
	order,
	delegate,
	typedDelegate,
	quotedMandate,
	given,
}: {
	order: Order;
	delegate: Address;
	typedDelegate: Address;
	quotedMandate: Hex | undefined;
	given: GivenSignature;
}): Pick<SignedOp, "signature" | "signatureKind" | "mandate"> {
	const digest = given.mandate && checkMandate(given.mandate, order);
	// The mandate's gas is part of the price.
	if (digest !== quotedMandate) {
		const options = { message: otherMandate, next: "fix_request" } as const;
		throw new SwapError("INVALID_MANDATE", { reason: "quote" }, options);
	}
	const mandate = given.mandate && digest && { digest, encoded: encodeMandate(given.mandate) };
	const wallet = given.mandate?.mandate.agent ?? fromWord(order.wallet);
	const signature = normalizeSignature(given.signature, { wallet });
	const byAccount: SignatureKind[] = isAddressEqual(delegate, typedDelegate)
		? ["typed"]
		: ["personal", "typed"];
	const accepted = byAccount.filter((kind) => kind === (given.signatureKind ?? kind));
	const signatureKind = checkOpSignature({ opHash: orderDigest(order), signature, wallet, accepted });
	return { signature, signatureKind, ...(mandate && { mandate }) };
}

const postSubmitDoc: RouteDoc = {
	id: "submit",
	summary: "Submit a swap from an EVM chain",
	description: `Takes the signature and starts the swap. The price is checked once more and the output reserved.

**Once per quote.** All op tokens of one quote lead to one swap. Sending the same request again, at any time, returns that swap
with its current status, so a retry is always safe. After a timeout or a 5xx, send the **same body** again; a new quote would
start a second swap. A 4xx means that this call started no swap.

Only the op's \`expiresAt\` counts: the quote may have expired meanwhile.

**Next:** [poll the status](#getStatus) until it is terminal.`,
	body: submitRequestSchema,
	response: submitResponseSchema,
	errors: [
		...(["INVALID_SIGNATURE", "INVALID_TOKEN", "OP_EXPIRED", "UNSUPPORTED_DELEGATION"] as const),
		...(["NEEDS_DELEGATION", "INVALID_AUTHORIZATION", "INSUFFICIENT_BALANCE"] as const),
		...(["SIMULATION_FAILED", "LIQUIDITY_CHANGED", "NO_ROUTE"] as const),
		...(["INVALID_MANDATE", "MANDATE_ENDED", "OUTSIDE_MANDATE", "MANDATE_EXCEEDED"] as const),
	],
	example: {
		body: { geoOpToken: exampleOpToken, signature: exampleSignature },
		response: { swapId: exampleSwapId, status: "pending" },
	},
};
