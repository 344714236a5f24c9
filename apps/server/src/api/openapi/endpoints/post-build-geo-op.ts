import { authorizationSchema, buildRequestSchema, buildResponseSchema, geoOpSchema } from "@geoswap/protocol";
import { orderFieldsSchema } from "../order-fields.ts";
import type { RouteDoc } from "../route-doc.ts";
import {
	exampleAuthorization,
	exampleGeoOp,
	exampleGeoOpHash,
	exampleOpToken,
	exampleQuoteToken,
} from "./example-swap.ts";

export const postBuildGeoOpDoc: RouteDoc = {
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
