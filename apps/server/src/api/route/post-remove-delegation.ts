import { isSignedBy } from "@geoswap/keys/signature/is-signed-by";
import { recoverAddress } from "@geoswap/keys/signature/recover-address";
import {
	authorizationSchema,
	type Milliseconds,
	orderProof,
	type RemoveDelegationResponse,
	removeDelegationRequestSchema,
	removeDelegationResponseSchema,
	revocationTypedData,
	SwapError,
	type SwapId,
	type SwapUuid,
	toSwapId,
	toWord,
} from "@geoswap/protocol";
import { type Address, type Hex, hashTypedData, zeroAddress } from "viem";
import * as z from "zod";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { authorizationProblem } from "../../chain/evm/wallet/check-delegation.ts";
import { normalizeSignature } from "../../chain/evm/wallet/normalize-signature.ts";
import { readAccountEscrow, readAccountNonces, readEpoch } from "../../chain/evm/wallet/read-wallet.ts";
import { readDelegation } from "../../chain/evm/wallet/wallet-delegation.ts";
import type { Config } from "../../config/config.ts";
import type { Database, DatabasePool } from "../../database/database.ts";
import { queueRemoval } from "../../job/delegation-removals.ts";
import { recentSwapIds } from "../../swap/record/read-swap.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { exampleAuthorization, exampleSignature, exampleWallet } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
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

const postRemoveDelegationDoc: RouteDoc = {
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
after a minute, the wallet has sent another transaction meanwhile: sign again with its new nonce.

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

/**
 * Returns whether a wallet has swaps from a chain that have not ended. Those of the account are returned by id.
 * `hasUnopened` is true if any account has one that is not open yet, because opening it needs the wallet's
 * delegation.
 */
async function unendedSwaps(
	db: Database,
	{
		accountId,
		chainId,
		wallet,
		nowMs,
	}: { accountId: string; chainId: number; wallet: Address; nowMs: Milliseconds },
): Promise<{ own: SwapId[]; hasUnopened: boolean }> {
	const [first, last] = recentSwapIds(nowMs);
	const { rows } = await db.query<{ own: SwapUuid[]; has_unopened: boolean }>(
		`select array(
				select id from swaps where account_id = $1 and order_terms->>'wallet' = $2 and status = 'pending'
					and order_terms->>'originChainId' = $3 order by id desc limit 10
			) as own, exists (
				select from swaps where order_terms->>'wallet' = $2 and status = 'pending' and stage = 'opening'
					and id between $4 and $5 and order_terms->>'originChainId' = $3
			) as has_unopened`,
		[accountId, toWord(wallet), String(chainId), first, last],
	);
	const [row] = rows;
	return { own: (row?.own ?? []).map(toSwapId), hasUnopened: row?.has_unopened ?? false };
}
