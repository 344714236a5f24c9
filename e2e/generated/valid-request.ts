import { errorCodes, isSolana } from "@geoswap/protocol";
import fc from "fast-check";
import { zeroAddress } from "viem";
import { arbitraryOf } from "./arbitrary-of.ts";
import { type Draft, keyPlace } from "./draft-request.ts";
import type { DocumentedOperation, OpenapiJson } from "./interface-document.ts";
import type { LiveValues } from "./live-values.ts";

/** Generates a request that the document allows, with values that exist. */
export function validRequest(
	document: OpenapiJson,
	operation: DocumentedOperation,
	live: LiveValues,
): fc.Arbitrary<Draft> {
	const { parameters, body } = operation;
	const fromSchema = fc.record(
		Object.fromEntries(parameters.map(({ name, schema }) => [name, arbitraryOf(document, schema)])),
		{ requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name) },
	);
	const existing = existingValues(operation.id, live);
	return fc
		.record({ named: fromSchema, json: body ? arbitraryOf(document, body) : fc.constant({}), existing })
		.map(({ named, json, existing: known }): Draft => {
			const values: Record<string, unknown> = { ...named, ...known };
			const isParameter = (field: string) => parameters.some(({ name }) => name === field);
			const inBody = Object.fromEntries(Object.entries(known).filter(([field]) => !isParameter(field)));
			const segment = (_: string, name: string) => encodeURIComponent(String(values[name]));
			return {
				operation,
				class: "valid",
				twist: "",
				isReaching: true,
				version: "HTTP/1.1",
				framing: "length",
				method: operation.method,
				path: operation.path.replace(/\{(\w+)\}/g, segment),
				query: parameters
					.filter(({ name, in: place }) => place === "query" && values[name] !== undefined)
					.map(({ name }) => `${name}=${encodeURIComponent(String(values[name]))}`),
				headers: [
					...(operation.needsKey ? [["x-api-key", keyPlace] as [string, string]] : []),
					...(body ? [["content-type", "application/json"] as [string, string]] : []),
				],
				body: body && { json: { ...(json as object), ...inBody } },
			};
		});
}

/** Generates existing values for the fields for which the document also allows values that do not exist. */
function existingValues(id: string, live: LiveValues): fc.Arbitrary<Record<string, unknown>> {
	const dice = fc.nat();
	const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length];
	switch (id) {
		case "quote":
			return fc.oneof(
				fc.tuple(dice, dice).map(([a, b]) => ({ ...payersQuote(live, a, b), ...mandateOf(a) })),
				fc
					.record({ from: dice, to: dice, wallet: dice, whole: fc.integer({ min: 1, max: 500 }) })
					.map((dices) => ({ ...strangersQuote(live, dices), ...mandateOf(dices.from) })),
			);
		case "getDelegation":
			return fc.tuple(dice, dice).map(([a, b]) => {
				const { chainId = 0, address } = pick(live.assets, a) ?? {};
				return { chainId, walletAddress: live.stranger(chainId, b), token: b % 2 ? address : undefined };
			});
		case "getTokens":
			return fc.option(
				dice.map((n) => ({ chainId: pick(live.assets, n)?.chainId })),
				{ nil: { chainId: undefined } },
			);
		case "buildGeoOp":
		case "buildSolanaTx":
			return dice.map((n) => ({
				// An authorization that the schema allows seldom fits a wallet.
				...(id === "buildGeoOp" && { authorization: undefined }),
				geoQuoteToken: newest(live.quoteTokens[id === "buildGeoOp" ? "evm" : "solana"], n) ?? "none yet",
			}));
		case "submit":
		case "submitSolana":
			return dice.map((n) => {
				const { geoOpToken = "none yet", signed = "0x" } =
					newest(live.ops[id === "submit" ? "evm" : "solana"], n) ?? {};
				return {
					geoOpToken,
					...(id === "submit" ? { signature: signed, ...mandateOf(n) } : { signedTransaction: signed }),
				};
			});
		case "getStatus":
			return fc.tuple(dice, fc.boolean()).map(([n, isSubmitted]) => ({
				swapId: pick(live.swapIds[isSubmitted ? "submitted" : "quoted"], n) ?? "swp_x",
				// Waits are rare, because a sender can do nothing else during a held call.
				wait: isSubmitted && n % 20 === 0 ? "1" : "0",
			}));
		case "listSwaps":
			return dice.map((n) => {
				const cursor = n % 2 ? pick(live.cursors, n) : undefined;
				// A time and a wallet that the schema allows need not exist.
				const none = { wallet: undefined, from: undefined, to: undefined };
				return { cursor, ...none, ...(cursor !== undefined && { status: undefined }) };
			});
		case "getReceipt":
		case "shareSwap":
		case "revokeShares":
		case "getSwapEvents":
			return dice.map((n) => ({ swapId: pick(live.swapIds.submitted, n) ?? "swp_x" }));
		case "removeDelegation":
			return fc.tuple(dice, dice).map(([a, b]) => {
				const chainId =
					pick(
						live.assets.filter((asset) => !isSolana(asset.chainId)),
						a,
					)?.chainId ?? 0;
				const authorization = { chainId, address: zeroAddress, nonce: 0, yParity: 0, r: "0x1", s: "0x1" };
				return { chainId, walletAddress: live.stranger(chainId, b), authorization };
			});
		case "addWebhook":
			// No process listens there.
			return dice.map((n) => ({ url: `http://127.0.0.1:9/${n}` }));
		case "removeWebhook":
		case "rotateWebhook":
			return fc.constant({ webhookId: "wh_0198f3a1c2d47e5f8a9b0c1d2e3f4a5b" });
		case "getSharePage":
		case "getShareEvents":
		case "getShareReceipt":
			return fc.constant({ share: "Yk3xwT9vQmZ2r0aLc8NfUe1B" });
		case "getErrorPage":
			return fc.constantFrom(...errorCodes).map((code) => ({ code }));
		default:
			return fc.constant({});
	}
}

/**
 * Leaves out most mandates, because a mandate that the schema allows fits no wallet, so its request gets no further.
 */
function mandateOf(n: number): { mandate?: undefined } {
	return n % 8 === 0 ? {} : { mandate: undefined };
}

/** Prefers newer tokens, which still open. */
function newest<T>(list: readonly T[], n: number): T | undefined {
	return list.at(-1 - (n % Math.max(1, n % 4 === 0 ? list.length : Math.min(list.length, 5))));
}

/** Returns the quote of a wallet that can pay, so it can be built and submitted. */
function payersQuote(live: LiveValues, a: number, b: number): Record<string, unknown> {
	const payer = live.payers[a % live.payers.length];
	const others = live.assets.filter(({ address }) => address !== payer?.token);
	const to = others[b % others.length];
	return {
		originChain: payer?.chainId,
		inputToken: payer?.token,
		amount: payer?.amount,
		outputAmount: undefined,
		slippageBps: undefined,
		topUp: undefined,
		topUpUsd: b % 4 === 0 ? "0.50" : undefined,
		destinationChain: to?.chainId,
		outputToken: to?.address,
		walletAddress: payer?.address,
		recipient: live.recipient(to?.chainId ?? 0),
	};
}

/** Returns a quote between any two assets, because a wallet without a balance is quoted too. */
function strangersQuote(
	live: LiveValues,
	{ from, to, wallet, whole }: { from: number; to: number; wallet: number; whole: number },
): Record<string, unknown> {
	const input = live.assets[from % live.assets.length];
	const output = live.assets[to % live.assets.length];
	const { chainId = 0 } = input ?? {};
	const unitsOf = (asset: typeof input) => {
		const { decimals = 0, kind } = asset ?? {};
		return String(BigInt(whole) * 10n ** BigInt(Math.max(decimals - (kind === "stable" ? 0 : 3), 0)));
	};
	const sameForm = isSolana(chainId) === isSolana(output?.chainId ?? 0);
	return {
		originChain: chainId,
		inputToken: input?.address,
		amount: wallet % 3 ? unitsOf(input) : undefined,
		outputAmount: wallet % 3 ? undefined : unitsOf(output),
		slippageBps: whole % 2 ? whole : undefined,
		topUp: undefined,
		topUpUsd: whole % 3 === 0 ? "0.50" : undefined,
		destinationChain: String(output?.chainId),
		outputToken: output?.address,
		walletAddress: live.stranger(chainId, wallet),
		recipient: sameForm && wallet % 2 ? null : live.recipient(output?.chainId ?? 0),
	};
}
