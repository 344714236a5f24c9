import {
	type BuildSolanaResponse,
	buildRequestSchema,
	buildSolanaResponseSchema,
	fromSolanaWord,
	type Milliseconds,
	type Order,
	openTransaction,
	orderId,
	orderSchema,
	orderToJson,
	type SolanaAddress,
	type SolanaDeployment,
	type SolanaOp,
	SwapError,
	type SwapUuid,
	solanaOpSchema,
} from "@geoswap/protocol";
import * as z from "zod";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readBlockhash, readHeight } from "../../chain/solana/read/read-slots.ts";
import { simulateTransaction, toBase64 } from "../../chain/solana/send/simulate-transaction.ts";
import { solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { Database } from "../../database/database.ts";
import { solanaTransactions } from "../../desk/network-cost.ts";
import type { SealedQuote } from "../../desk/sealed-quote.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import {
	exampleSolanaOp,
	exampleSolanaOpToken,
	exampleSolanaQuoteToken,
	exampleUnsignedTransaction,
} from "../openapi/examples/example-solana-swap.ts";
import { orderFieldsSchema } from "../openapi/order-fields.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { checkSimulation, checkSolanaBalance } from "../origin/check-origin.ts";
import { readSolanaAvailable, servedSolana } from "../origin/read-origin.ts";
import { walletUnopened } from "../origin/wallet-unopened.ts";
import { openToken } from "../seal/open-token.ts";
import { type SealedSolanaOp, sealToken } from "../seal/seal-token.ts";

/** POST /swap/build-solana-tx. There is nothing to delegate on Solana, so any authorization is ignored. */
export function postBuildSolanaTx({
	solana,
	config,
	db,
	sealKeys,
	nowMs,
}: {
	solana: SolanaChain | undefined;
	config: Pick<Config, "chains">;
	db: Database;
	sealKeys: SealKeys;
	nowMs: () => Milliseconds;
}): Route {
	return {
		method: "POST",
		path: "/swap/build-solana-tx",
		operation: "build",
		doc: postBuildSolanaTxDoc,
		async handle({ body, account: { accountId } }): Promise<BuildSolanaResponse> {
			const { geoQuoteToken } = parseRequest(buildRequestSchema, body);
			const quote = await openToken<SealedQuote>(sealKeys, geoQuoteToken, {
				purpose: "quote:solana",
				accountId,
			});
			const builtAtMs = nowMs();
			// The open deadline may leave an op less time than a quote has.
			const quoteExpiresAtMs = Math.min(quote.expiresAtMs, quote.opExpiresAtMs);
			if (builtAtMs > quoteExpiresAtMs) {
				throw new SwapError("QUOTE_EXPIRED", { expiredAt: new Date(quoteExpiresAtMs).toISOString() });
			}
			const order = orderSchema.parse(quote.order);
			const chain = servedSolana(solana, order.inputToken);
			const terms = solanaChain(config);
			if (!terms) throw new SwapError("NO_ROUTE", { reason: "chain" });
			const { blockhashSeconds, computePriceMicroLamports } = terms;
			const unopened = await walletUnopened(db, { order, nowMs: builtAtMs });
			const [available, recent, height] = await Promise.all([
				readSolanaAvailable({ chain, order, unopened }),
				readBlockhash(chain),
				readHeight(chain),
			]);
			checkSolanaBalance(order, available);

			const op: SealedSolanaOp = {
				quote,
				feePayer: feePayerOf(chain.deployment, quote.uuid),
				...recent,
				compute: {
					unitLimit: Number(solanaTransactions.open.units),
					microLamportsPerUnit: BigInt(computePriceMicroLamports),
				},
				expiresAtMs: Math.min(
					builtAtMs + lifeMs({ ...recent, height, minMs: blockhashSeconds.least * 1_000 }),
					quote.opExpiresAtMs,
				),
			};
			const { unsigned, message } = await openTransaction(chain.deployment, order, op);
			const simulation = await simulateTransaction(chain, unsigned);
			checkSimulation(chain, simulation);
			return {
				unsignedTransaction: toBase64(unsigned),
				geoOpToken: sealToken(sealKeys, { purpose: "op:solana", accountId, payload: op }),
				expiresAt: new Date(op.expiresAtMs).toISOString(),
				geoOp: readableOp(order, op, message),
			};
		},
	};
}

/** Blocks for which a blockhash is valid, counted from the one that made it. */
const blockhashBlocks = 150n;

/**
 * Returns how long a blockhash is certainly valid. It is at least as old as the request for it, and older if a lagging
 * node returned it.
 */
function lifeMs({
	lastValidBlockHeight,
	height,
	minMs,
}: {
	lastValidBlockHeight: bigint;
	height: bigint;
	/** The minimum time that all its blocks take. */
	minMs: Milliseconds;
}): number {
	const blocks = lastValidBlockHeight - height;
	if (blocks <= 0n) return 0;
	return blocks < blockhashBlocks ? Math.floor((minMs * Number(blocks)) / Number(blockhashBlocks)) : minMs;
}

/** Returns the same fee payer for every build of a quote, and spreads swaps about evenly over the fee payers. */
function feePayerOf({ feePayers }: SolanaDeployment, uuid: SwapUuid): SolanaAddress {
	// The last digits of an id are random.
	const feePayer = feePayers[Number.parseInt(uuid.slice(-8), 16) % feePayers.length];
	if (!feePayer) throw new Error("a deployment has at least one fee payer");
	return feePayer;
}

function readableOp(order: Order, op: SealedSolanaOp, message: Uint8Array): SolanaOp {
	return {
		chainId: Number(order.originChainId),
		orderId: orderId(order),
		order: orderToJson(order),
		feePayer: op.feePayer,
		escrow: fromSolanaWord(order.escrow),
		blockhash: op.blockhash,
		lastValidBlockHeight: String(op.lastValidBlockHeight),
		compute: {
			unitLimit: op.compute.unitLimit,
			microLamportsPerUnit: String(op.compute.microLamportsPerUnit),
		},
		message: toBase64(message),
	};
}

const postBuildSolanaTxDoc: RouteDoc = {
	id: "buildSolanaTx",
	summary: "Build a swap from Solana",
	description: `Turns a quote into an unsigned v0 transaction. The service pays its fee and signs it first; the wallet is its
second signer. There is nothing to delegate on Solana.

\`geoOp\` holds everything that the transaction is built from. The SDK's \`verifyAndSignSolana\` rebuilds its bytes before it
signs.

**Next:** sign the bytes unchanged with the wallet's key, and [submit-solana](#submitSolana) the transaction
before \`expiresAt\`: a blockhash lives about a minute.`,
	body: buildRequestSchema.extend({
		authorization: z.unknown().optional().describe("Ignored."),
	}),
	response: buildSolanaResponseSchema.extend({
		geoOp: solanaOpSchema
			.extend({ order: orderFieldsSchema })
			.describe("Everything that the transaction is built from. Check it before signing."),
	}),
	errors: ["INVALID_TOKEN", "QUOTE_EXPIRED", "INSUFFICIENT_BALANCE", "SIMULATION_FAILED", "NO_ROUTE"],
	example: {
		body: { geoQuoteToken: exampleSolanaQuoteToken },
		response: {
			unsignedTransaction: exampleUnsignedTransaction,
			geoOpToken: exampleSolanaOpToken,
			expiresAt: "2026-06-01T12:00:52.310Z",
			geoOp: exampleSolanaOp,
		},
	},
};
