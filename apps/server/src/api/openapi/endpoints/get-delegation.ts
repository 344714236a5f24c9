import { delegationQuerySchema, delegationResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleAuthorization, exampleWallet } from "./example-swap.ts";

export const getDelegationDoc: RouteDoc = {
	id: "getDelegation",
	summary: "Read a wallet's delegation",
	description: `Whether the wallet can swap from this chain as it is. Ask before the first swap of a wallet on a chain;
afterwards it stays delegated.

Branch on \`originReady\`, not on \`delegated\`: a wallet on Solana is never delegated and always ready.

| \`originReady\` | then |
|---|---|
| \`true\` | build without an authorization |
| \`false\`, with \`delegationTarget\` and \`accountNonce\` | sign an EIP-7702 authorization over exactly these two and the chain's id, and attach it to the build |
| \`false\`, with \`blocked\` | the wallet is delegated to another provider or is a contract: use a different one |

\`note\` says the same in a sentence wherever there is nothing to sign.

The wallet pays nothing for it: the authorization travels with its first swap.`,
	query: delegationQuerySchema,
	response: delegationResponseSchema,
	errors: [],
	example: {
		query: { chainId: "8453", walletAddress: exampleWallet },
		response: {
			chainId: 8453,
			walletAddress: exampleWallet,
			delegated: false,
			originReady: false,
			delegationTarget: exampleAuthorization.address,
			accountNonce: exampleAuthorization.nonce,
		},
	},
};
