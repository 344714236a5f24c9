import {
	authorizationSchema,
	type BuildResponse,
	buildRequestSchema,
	fromWord,
	type GeoOp,
	type Milliseconds,
	type Order,
	type OrderExecution,
	type OrderUserOp,
	orderExecution,
	orderId,
	orderSchema,
	orderToJson,
	orderUserOp,
	SwapError,
} from "@geoswap/protocol";
import * as z from "zod";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { openGas } from "../../chain/evm/wallet/open-gas.ts";
import { simulateCalls } from "../../chain/evm/wallet/simulate-open.ts";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { Database } from "../../database/database.ts";
import { openedQuote, type SealedQuote } from "../../desk/sealed-quote.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { postBuildGeoOpDoc } from "../openapi/endpoints/post-build-geo-op.ts";
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
			const quote = openedQuote(
				await openToken<SealedQuote>(sealKeys, geoQuoteToken, { purpose: "quote:evm", accountId }),
			);
			const attached =
				given === undefined ? undefined : parseRequest(withAuthorizationSchema, { authorization: given });
			// The open deadline may leave an op less time than a quote has.
			const expiresAtMs = Math.min(quote.expiresAtMs, quote.opExpiresAtMs);
			if (nowMs() > expiresAtMs) {
				throw new SwapError("QUOTE_EXPIRED", { expiredAt: new Date(expiresAtMs).toISOString() });
			}
			const order = orderSchema.parse(quote.order);
			const chain = originChain(chains, order);
			const authorization = attached?.authorization;
			const { delegate: target } = chain.deployment.contracts;
			const unopened = await walletUnopened(db, { order, nowMs: nowMs() });
			// Allowance and delegate are nearly always these: assuming so, everything is read from the chain in one request.
			let execution = orderExecution({ order, allowance: 0n });
			let simulating = simulateCalls({ chain, order, delegate: target, ...execution });
			// Nobody awaits it if the wallet cannot open the order anyway.
			simulating.catch(() => {});
			const origin = await readOrigin({ chain, order, authorization, unopened });
			const delegation = await checkOrigin(origin, { target });
			const { allowance } = origin.reading;
			const { delegate } = delegation;
			delegated.learn({
				chainId: chain.chainId,
				address: fromWord(order.wallet),
				isDelegated: delegation.authorization === undefined,
			});
			if (allowance !== 0n || delegate !== target) {
				execution = orderExecution({ order, allowance });
				simulating = simulateCalls({ chain, order, delegate, ...execution });
			}
			const simulation = await simulating;
			if (!simulation.opens) throw new SwapError("SIMULATION_FAILED", { reason: simulation.reason });
			const gas = openGas(simulation.gasUsed);
			const op: SealedOp = { quote, ...delegation, allowance, gas };
			const { hash, userOp } = orderUserOp({ order, delegate, allowance, gas, execution });
			return {
				geoOpHash: hash,
				geoOpToken: sealToken(sealKeys, { purpose: "op:evm", accountId, payload: op }),
				expiresAt: new Date(quote.opExpiresAtMs).toISOString(),
				geoOp: readableOp(chain, order, { ...op, calls: execution.calls, userOp }),
			};
		},
	};
}

function readableOp(
	{ chainId, deployment }: EvmChain,
	order: Order,
	{
		delegate,
		allowance,
		gas,
		calls,
		userOp,
	}: SealedOp & Pick<OrderExecution, "calls"> & Pick<OrderUserOp, "userOp">,
): GeoOp {
	return {
		entryPoint: deployment.contracts.entryPoint,
		chainId,
		orderId: orderId(order),
		order: orderToJson(order),
		delegate,
		allowance: String(allowance),
		gas: {
			verificationGasLimit: String(gas.verificationGasLimit),
			callGasLimit: String(gas.callGasLimit),
		},
		calls: calls.map((call) => ({ ...call, value: String(call.value) })),
		userOp: {
			sender: userOp.sender,
			nonce: String(userOp.nonce),
			initCode: userOp.initCode,
			callData: userOp.callData,
			accountGasLimits: userOp.accountGasLimits,
			preVerificationGas: String(userOp.preVerificationGas),
			gasFees: userOp.gasFees,
			paymasterAndData: userOp.paymasterAndData,
		},
	};
}
