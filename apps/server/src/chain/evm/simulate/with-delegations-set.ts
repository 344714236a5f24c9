import { authorizationSigner } from "@geoswap/keys/signature/authorization-signer";
import { concat, type SignedAuthorization } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { delegationPrefix } from "../wallet/wallet-delegation.ts";
import type { AccountCode, Simulate } from "./simulation.ts";

type Node = Pick<EvmChain, "chainId" | "client">;

/** EIP-7702: the gas of one authorization. */
const authorizationGas = 25_000n;

/**
 * Wraps the simulations of a node that may leave authorizations out of them. Instead, sets the code that the chain
 * would give to the signers of the authorizations.
 */
export function withDelegationsSet(node: Node, simulate: Simulate): Simulate {
	return async ({ authorizationList, ...call }) => {
		if (!authorizationList) return simulate(call);
		const codes = [...(call.codes ?? []), ...(await delegatedCodes(node, authorizationList))];
		const simulation = await simulate({ ...call, codes });
		if (!simulation.succeeds) return simulation;
		return {
			...simulation,
			gasUsed: simulation.gasUsed + authorizationGas * BigInt(authorizationList.length),
		};
	};
}

/**
 * Makes the checks of a chain, on which an authorization for another chain, or with a spent nonce or a bad signature,
 * sets no code.
 */
async function delegatedCodes(
	{ chainId, client }: Node,
	authorizations: readonly SignedAuthorization[],
): Promise<AccountCode[]> {
	const codes = await Promise.all(
		authorizations.map(async ({ yParity = -1, ...authorization }): Promise<AccountCode[]> => {
			const signer = authorizationSigner({ ...authorization, yParity });
			if (!signer || ![0, chainId].includes(authorization.chainId)) return [];
			const nonce = await client.getTransactionCount({ address: signer });
			if (nonce !== authorization.nonce) return [];
			return [{ address: signer, code: concat([delegationPrefix, authorization.address]) }];
		}),
	);
	return codes.flat();
}
