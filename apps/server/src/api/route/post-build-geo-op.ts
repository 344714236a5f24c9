import {
	authorizationSchema,
	type BuildResponse,
	buildRequestSchema,
	fromWord,
	type GeoOp,
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
import { openGas } from "../../chain/evm/wallet/open-gas.ts";
import { simulateUnsigned } from "../../chain/evm/wallet/simulate-open.ts";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { Database } from "../../database/database.ts";
import type { SealedQuote } from "../../desk/sealed-quote.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { postBuildGeoOpDoc } from "../openapi/endpoints/post-build-geo-op.ts";
import { checkContracts } from "../origin/check-contracts.ts";
import { checkMandateUse } from "../origin/check-mandate.ts";
import { checkOrigin } from "../origin/check-origin.ts";
import type { DelegatedWallets } from "../origin/delegated-wallets.ts";
import { originChain, readOrigin } from "../origin/read-origin.ts";
import { walletUnopened } from "../origin/wallet-unopened.ts";
import { openToken } from "../seal/open-token.ts";
import { sealToken } from "../seal/seal-token.ts";
import type { SealedOp } from "../seal/sealed-op.ts";
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
			// Nobody awaits it if the wallet cannot open the order anyway.
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
