import {
	authorizationSchema,
	type Milliseconds,
	type RemoveDelegationResponse,
	removeDelegationRequestSchema,
	SwapError,
} from "@geoswap/protocol";
import { zeroAddress } from "viem";
import * as z from "zod";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { authorizationProblem } from "../../chain/evm/wallet/check-delegation.ts";
import { readAccountNonces } from "../../chain/evm/wallet/read-account-nonces.ts";
import { readDelegation } from "../../chain/evm/wallet/read-delegation.ts";
import type { Config } from "../../config/config.ts";
import type { DatabasePool } from "../../database/database.ts";
import { queueRemoval } from "../../job/delegation-removals.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { postRemoveDelegationDoc } from "../openapi/endpoints/post-remove-delegation.ts";
import { unendedSwaps } from "../origin/unended-swaps.ts";
import { anyCaseAddressSchema } from "./any-case-address-schema.ts";

const removalSchema = z.object({
	walletAddress: anyCaseAddressSchema,
	authorization: authorizationSchema.extend({ address: anyCaseAddressSchema }),
});
const hourSeconds = 3_600;

/** POST /delegation/remove. A lane sends the authorization at the service's cost. */
export function postRemoveDelegation({
	chains,
	db,
	limits,
	nowMs,
}: {
	chains: ReadonlyMap<number, EvmChain>;
	db: DatabasePool;
	limits: Pick<Config["limits"], "delegationRemovalsPerDay">;
	nowMs: () => Milliseconds;
}): Route {
	return {
		method: "POST",
		path: "/delegation/remove",
		operation: "build",
		doc: postRemoveDelegationDoc,
		async handle({ body, account: { accountId } }): Promise<RemoveDelegationResponse> {
			const { chainId } = parseRequest(removeDelegationRequestSchema, body);
			const chain = chains.get(chainId);
			if (!chain) {
				const message = `not a chain on which wallets are delegated; those are: ${[...chains.keys()].join(", ")}`;
				throw new SwapError("INVALID_REQUEST", { issues: [{ path: "chainId", message }] });
			}
			const { walletAddress: wallet, authorization } = parseRequest(removalSchema, body);
			const about = { chainId, walletAddress: wallet };
			const [delegation, nonces, unended] = await Promise.all([
				readDelegation(chain, wallet),
				readAccountNonces(chain, wallet),
				unendedSwaps(db, { accountId, chainId, wallet, nowMs: nowMs() }),
			]);
			if (delegation.kind === "none") return { ...about, removal: "none" };
			if (delegation.kind === "other") {
				throw new SwapError("UNSUPPORTED_DELEGATION", { delegatedTo: delegation.delegate });
			}
			if (delegation.kind === "contract") throw new SwapError("UNSUPPORTED_DELEGATION", {});
			const problem = authorizationProblem(authorization, { chainId, wallet, target: zeroAddress, nonces });
			if (problem) throw problem.error;
			if (unended.own.length > 0 || unended.hasUnopened) {
				throw new SwapError("WALLET_BUSY", { swapIds: unended.own });
			}
			const spent = await queueRemoval(db, {
				accountId,
				chainId,
				wallet,
				authorization,
				perDay: limits.delegationRemovalsPerDay,
			});
			if (spent) throw overBudget(spent);
			return { ...about, removal: "queued" };
		},
	};
}

function overBudget(whose: "account" | "chain"): SwapError {
	return new SwapError(
		"RATE_LIMITED",
		{ reason: "removals", retryAfterSeconds: hourSeconds },
		{
			message: `The service removes no more delegations today for this ${whose}. Send the request again later, or remove the delegation by a transaction of your own.`,
		},
	);
}
