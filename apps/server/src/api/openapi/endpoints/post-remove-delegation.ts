import {
	authorizationSchema,
	removeDelegationRequestSchema,
	removeDelegationResponseSchema,
} from "@geoswap/protocol";
import { zeroAddress } from "viem";
import type { RouteDoc } from "../route-doc.ts";
import { exampleAuthorization, exampleSignature, exampleWallet } from "./example-swap.ts";

export const postRemoveDelegationDoc: RouteDoc = {
	id: "removeDelegation",
	summary: "Remove a wallet's delegation",
	description: `Removes the wallet's delegation on a chain at the service's cost. The wallet signs an EIP-7702 authorization
for the zero address, with the chain's id and the wallet's current nonce, and needs no gas token.

It also signs \`RevokeMandates(address wallet,uint64 epoch)\` as EIP-712 data, with \`mandateEpoch\` of
[the delegation](#getDelegation), in the domain of \`mandateEscrow\` (name \`Geoswap\`, version \`1\`). The service sends that
first: mandates would be good again after the wallet's next delegation.

The service refuses while the wallet has a swap from this chain that has not ended, and if the wallet is delegated to another
provider. Each account has a number of removals per day.

**Next:** poll [the delegation](#getDelegation) until \`delegated\` is false and \`mandateEpoch\` has risen, usually after a block or two. If it is still true
after a minute, the wallet has sent a transaction of its own meanwhile: sign again with its new nonce.

Without the service, a transaction of any wallet that carries the same authorization does the same.`,
	body: removeDelegationRequestSchema.extend({
		authorization: authorizationSchema.describe(
			"The wallet's signed EIP-7702 authorization for the zero address, at its current nonce.",
		),
	}),
	response: removeDelegationResponseSchema,
	errors: ["UNSUPPORTED_DELEGATION", "INVALID_AUTHORIZATION", "INVALID_SIGNATURE", "WALLET_BUSY"],
	example: {
		body: {
			chainId: 8453,
			walletAddress: exampleWallet,
			authorization: { ...exampleAuthorization, address: zeroAddress },
			revocation: exampleSignature,
		},
		response: { chainId: 8453, walletAddress: exampleWallet, removal: "queued" },
	},
};
