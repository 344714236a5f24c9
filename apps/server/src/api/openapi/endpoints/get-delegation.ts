import { delegationQuerySchema, delegationResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleAuthorization, exampleTypedDelegate, exampleWallet } from "./example-swap.ts";

export const getDelegationDoc: RouteDoc = {
	id: "getDelegation",
	summary: "Read a wallet's delegation",
	description: `Says whether the wallet is ready to swap from this chain. Ask before the first swap of a wallet from a
chain; after that swap it stays delegated.

Branch on \`originReady\`, not on \`delegated\`: a wallet on Solana is never delegated and always ready.

| \`originReady\` | then |
|---|---|
| \`true\` | build without an authorization |
| \`false\`, with \`delegationTarget\` and \`accountNonce\` | sign an EIP-7702 authorization over exactly these two and the chain's id, and attach it to the build |
| \`false\`, with \`blocked\` | the wallet is delegated to another provider or is a contract: use a different one |

To have the wallet accept typed data only, and refuse \`personal_sign\`, sign \`typedDelegationTarget\` in place of
\`delegationTarget\`. \`accepts\` says what a wallet that is ready accepts. A wallet that is delegated to a contract that we
offered before needs a new delegation.

If there is nothing to sign, \`note\` says in a sentence what to do.

The delegation costs the wallet nothing: the authorization is sent with its first swap. [It can be removed](#removeDelegation)
at no cost too.`,
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
			typedDelegationTarget: exampleTypedDelegate,
			accountNonce: exampleAuthorization.nonce,
			mandateEpoch: 0,
		},
	},
};
