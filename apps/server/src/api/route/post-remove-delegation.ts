import {
	authorizationSchema,
	type Milliseconds,
	orderProof,
	type RemoveDelegationResponse,
	removeDelegationRequestSchema,
	revocationTypedData,
	SwapError,
} from "@geoswap/protocol";
import { type Address, type Hex, hashTypedData, zeroAddress } from "viem";
import * as z from "zod";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { recoverAddress } from "../../chain/evm/recover-address.ts";
import { authorizationProblem } from "../../chain/evm/wallet/check-delegation.ts";
import { isSignedBy } from "../../chain/evm/wallet/is-signed-by.ts";
import { normalizeSignature } from "../../chain/evm/wallet/normalize-signature.ts";
import { readAccountNonces } from "../../chain/evm/wallet/read-account-nonces.ts";
import { readDelegation } from "../../chain/evm/wallet/read-delegation.ts";
import { readAccountEscrow, readEpoch } from "../../chain/evm/wallet/read-epoch.ts";
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

/** POST /delegation/remove. A lane sends the revocation and the authorization at the service's cost. */
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
			const { chainId, revocation } = parseRequest(removeDelegationRequestSchema, body);
			const chain = chains.get(chainId);
			if (!chain) {
				const message = `not a chain on which wallets are delegated; those are: ${[...chains.keys()].join(", ")}`;
				throw new SwapError("INVALID_REQUEST", { issues: [{ path: "chainId", message }] });
			}
			const { walletAddress: wallet, authorization } = parseRequest(removalSchema, body);
			const about = { chainId, walletAddress: wallet };
			const [delegation, nonces, epoch, unended] = await Promise.all([
				readDelegation(chain, wallet),
				readAccountNonces(chain, wallet),
				readEpoch(chain, wallet),
				unendedSwaps(db, { accountId, chainId, wallet, nowMs: nowMs() }),
			]);
			if (delegation.kind === "none") return { ...about, removal: "none" };
			if (delegation.kind === "other") {
				throw new SwapError("UNSUPPORTED_DELEGATION", { delegatedTo: delegation.delegate });
			}
			if (delegation.kind === "contract") throw new SwapError("UNSUPPORTED_DELEGATION", {});
			const problem = authorizationProblem(authorization, { chainId, wallet, target: zeroAddress, nonces });
			if (problem) throw problem.error;
			const escrow = await readAccountEscrow(chain, wallet, delegation);
			const proof = checkRevocation(revocation, { chainId, escrow, wallet, epoch });
			if (unended.own.length > 0 || unended.hasUnopened) {
				throw new SwapError("WALLET_BUSY", { swapIds: unended.own });
			}
			const spent = await queueRemoval(db, {
				accountId,
				chainId,
				wallet,
				authorization,
				revocation: proof,
				perDay: limits.delegationRemovalsPerDay,
			});
			if (spent) throw overBudget(spent);
			return { ...about, removal: "queued" };
		},
	};
}

/** Returns the proof with which the wallet's account revokes its mandates. Throws unless the wallet signed it. */
function checkRevocation(
	text: string,
	about: { chainId: number; escrow: Address; wallet: Address; epoch: bigint },
): Hex {
	const { wallet } = about;
	const signature = normalizeSignature(text, { wallet, path: "revocation" });
	const hash = hashTypedData(revocationTypedData(about));
	if (isSignedBy(wallet, { hash, signature })) return orderProof({ kind: "typed", signature });
	const recovered = recoverAddress({ hash, signature });
	throw new SwapError(
		"INVALID_SIGNATURE",
		{ expected: wallet, ...(recovered && { recovered }) },
		{
			message:
				"The revocation is not the wallet's signature of its mandates' current epoch. Read GET /swap/delegation again, and sign RevokeMandates as typed data.",
		},
	);
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
