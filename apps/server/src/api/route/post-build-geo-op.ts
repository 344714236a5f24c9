import {
	authorizationSchema,
	type BuildResponse,
	buildRequestSchema,
	buildResponseSchema,
	fromWord,
	type GeoOp,
	geoOpSchema,
	type Milliseconds,
	type Order,
	orderDigest,
	orderId,
	orderSchema,
	orderToJson,
	orderTypedDataToJson,
	SwapError,
	toChainId,
} from "@geoswap/protocol";
import * as z from "zod";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { openGas, simulateUnsigned } from "../../chain/evm/wallet/simulate-open.ts";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { Database } from "../../database/database.ts";
import type { SealedQuote } from "../../desk/sealed-quote.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import {
	exampleAuthorization,
	exampleGeoOp,
	exampleGeoOpHash,
	exampleOpToken,
	exampleQuoteToken,
} from "../openapi/examples/example-swap.ts";
import { orderFieldsSchema } from "../openapi/order-fields.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { checkMandateUse } from "../origin/check-mandate.ts";
import { checkContracts, checkOrigin } from "../origin/check-origin.ts";
import type { DelegatedWallets } from "../origin/delegated-wallets.ts";
import { originChain, readOrigin } from "../origin/read-origin.ts";
import { walletUnopened } from "../origin/wallet-unopened.ts";
import { openToken } from "../seal/open-token.ts";
import { type SealedOp, sealToken } from "../seal/seal-token.ts";
import { anyCaseAddressSchema } from "./any-case-address-schema.ts";

const withAuthorizationSchema = z.object({
	authorization: authorizationSchema.extend({ address: anyCaseAddressSchema }),
});

/** POST /swap/build-geo-op. */
export function postBuildGeoOp({
	chains,
	delegated,
	db,
	sealKeys,
	nowMs,
}: {
	chains: ReadonlyMap<number, EvmChain>;
	delegated: Pick<DelegatedWallets, "learn">;
	db: Database;
	sealKeys: SealKeys;
	nowMs: () => Milliseconds;
}): Route {
	return {
		method: "POST",
		path: "/swap/build-geo-op",
		operation: "build",
		doc: postBuildGeoOpDoc,
		async handle({ body, account: { accountId } }): Promise<BuildResponse> {
			const { geoQuoteToken, authorization: given } = parseRequest(buildRequestSchema, body);
			const quote = await openToken<SealedQuote>(sealKeys, geoQuoteToken, {
				purpose: "quote:evm",
				accountId,
			});
			const attached =
				given === undefined ? undefined : parseRequest(withAuthorizationSchema, { authorization: given });
			// The open deadline may leave an op less time than a quote has.
			const expiresAtMs = Math.min(quote.expiresAtMs, quote.opExpiresAtMs);
			if (nowMs() > expiresAtMs) {
				throw new SwapError("QUOTE_EXPIRED", { expiredAt: new Date(expiresAtMs).toISOString() });
			}
			const order = orderSchema.parse(quote.order);
			const chain = originChain(chains, order);
			checkContracts(order, (chainId) => chains.get(Number(chainId))?.deployment.contracts);
			const authorization = attached?.authorization;
			const { delegate: target, typedDelegate } = chain.deployment.contracts;
			const unopened = await walletUnopened(db, { order, nowMs: nowMs() });
			// The wallet and the order's simulation are read in one request.
			const simulating = simulateUnsigned({ chain, order });
			// Not awaited if the wallet cannot open the order anyway.
			simulating.catch(() => {});
			const origin = await readOrigin({ chain, order, authorization, unopened });
			const delegation = await checkOrigin(origin, { targets: [target, typedDelegate] });
			delegated.learn({
				chainId: chain.chainId,
				address: fromWord(order.wallet),
				isDelegated: delegation.authorization === undefined,
			});
			const { mandate } = quote;
			if (mandate) await checkMandateUse(chain, mandate, { order, unopened, nowMs: nowMs() });
			const simulation = await simulating;
			if (!simulation.opens) throw new SwapError("SIMULATION_FAILED", { reason: simulation.reason });
			const gasUsed = simulation.gasUsed + (mandate?.gas ?? 0n);
			const op: SealedOp = { quote, ...delegation, gas: openGas(gasUsed) };
			return {
				geoOpHash: orderDigest(order),
				geoOpToken: sealToken(sealKeys, { purpose: "op:evm", accountId, payload: op }),
				expiresAt: new Date(quote.opExpiresAtMs).toISOString(),
				geoOp: readableOp(order, delegation),
			};
		},
	};
}

function readableOp(order: Order, { delegate }: Pick<SealedOp, "delegate">): GeoOp {
	return {
		chainId: toChainId(order.originChainId),
		orderId: orderId(order),
		order: orderToJson(order),
		delegate,
		typedData: orderTypedDataToJson(order),
	};
}

const postBuildGeoOpDoc: RouteDoc = {
	id: "buildGeoOp",
	summary: "Build a swap from an EVM chain",
	description: `Turns a quote into the 32 bytes to sign. The service reads the wallet and simulates the op. An op that would fail
is refused here, before anything is signed.

\`geoOp\` holds everything that the hash is computed from. The SDK's \`verifyAndSign\` computes the hash
again, and compares the order with what you asked for.

**Next:** sign \`geoOp.typedData\` with \`eth_signTypedData_v4\`, or \`geoOpHash\` with \`personal_sign\` over its raw 32 bytes, and
[submit](#submit) the signature before \`expiresAt\`. A wallet that signs typed data can show what it signs.
After \`NEEDS_DELEGATION\` or \`INVALID_AUTHORIZATION\` the same quote can be built again until it expires.`,
	body: buildRequestSchema.extend({
		authorization: authorizationSchema
			.nullish()
			.describe(
				"A signed EIP-7702 authorization, for a wallet that is not delegated yet, or that is to be delegated to the other of our two contracts. Ignored if the wallet has that delegation. Numbers may be JSON numbers, or decimal or `0x` strings. Other fields, such as `v`, are ignored.",
			),
	}),
	response: buildResponseSchema.extend({
		geoOp: geoOpSchema
			.extend({ order: orderFieldsSchema })
			.describe("Everything that the hash is computed from. Check it before signing."),
	}),
	errors: [
		...(["INVALID_TOKEN", "QUOTE_EXPIRED", "UNSUPPORTED_DELEGATION", "NEEDS_DELEGATION"] as const),
		...(["INVALID_AUTHORIZATION", "INSUFFICIENT_BALANCE", "SIMULATION_FAILED", "NO_ROUTE"] as const),
		...(["MANDATE_ENDED", "MANDATE_EXCEEDED"] as const),
	],
	example: {
		body: { geoQuoteToken: exampleQuoteToken, authorization: exampleAuthorization },
		response: {
			geoOpHash: exampleGeoOpHash,
			geoOpToken: exampleOpToken,
			expiresAt: "2026-06-01T12:01:30.000Z",
			geoOp: exampleGeoOp,
		},
	},
};
