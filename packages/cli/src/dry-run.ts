import { buildOp, GeoswapError, getDelegation, getQuote, stableFloor, verifyOp } from "@geoswap/sdk";
import type { Address } from "viem";
import { compareDelegation } from "./compare-delegation.ts";
import type { Context } from "./context.ts";
import { acceptanceLines, assetJson, costLines, getLines, giveLines, quoteJson } from "./cost-lines.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import type { Intent } from "./intents.ts";
import type { Line } from "./output.ts";
import { belowMinOutput } from "./price-not-accepted.ts";
import { amountsOf, expectWithinMaxSpend, type Terms, topUpOf } from "./read-terms.ts";

/** Does everything of a swap except signing. The service's build is compared as it would be before signing. */
export async function dryRun(
	{ config, client, output }: Context,
	{ from, to, minOutput, intent }: Pick<Terms, "from" | "to" | "minOutput"> & { intent: Intent },
): Promise<ExitCode> {
	const { pins } = config;
	const { walletAddress: wallet, originChain, destinationChain, inputToken, outputToken } = intent;
	const receive = intent.outputAmount === undefined ? undefined : BigInt(intent.outputAmount);
	const limit = BigInt(intent.amount);
	const asked = {
		originChain,
		destinationChain,
		inputToken,
		outputToken,
		...amountsOf(limit, receive),
		walletAddress: wallet,
		...(intent.recipient !== undefined && { recipient: intent.recipient }),
		...(intent.slippageBps !== undefined && { slippageBps: intent.slippageBps }),
		...topUpOf(intent),
		...(intent.mandate && { mandate: intent.mandate }),
	};
	const quote = await getQuote(client, asked);
	const amount = receive === undefined ? limit : quote.amount;
	expectWithinMaxSpend({ from, maxSpend: limit }, amount);
	if (minOutput !== undefined && quote.minOutput < minOutput) {
		throw belowMinOutput(to, { quoted: String(quote.minOutput), minOutput: String(minOutput) });
	}
	// Nothing is signed here. Only the real swap requests approval of a low minimum.
	const limits = { minOutput: minOutput ?? quote.minOutput, maxInput: limit };
	const terms = { intent: asked, quote, pins, limits, wallet };

	let verified:
		| { isVerified: true; what: string; delegation?: { chainId: number; delegate: string } }
		| { isVerified: false; why: string; delegation: { chainId: number; delegate: string } };
	if (from.chain.kind === "solana") {
		const { buildSolanaTx } = await import("@geoswap/sdk");
		const { verifySolanaOp } = await import("@geoswap/sdk/solana");
		const build = await buildSolanaTx(client, { geoQuoteToken: quote.geoQuoteToken });
		await verifySolanaOp({ ...terms, build });
		verified = { isVerified: true, what: `the transaction of order ${build.geoOp.orderId}` };
	} else {
		try {
			const build = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken });
			const op = verifyOp({ ...terms, build, wallet: wallet as Address });
			const { typedDelegate } = pins.chains.find(({ chainId }) => chainId === originChain)?.contracts ?? {};
			const isSwitch = intent.isTypedOnly && !op.isTypedOnly;
			verified = {
				isVerified: true,
				what: `the op ${op.hash}`,
				...(isSwitch && typedDelegate && { delegation: { chainId: originChain, delegate: typedDelegate } }),
			};
		} catch (error) {
			if (!(error instanceof GeoswapError) || error.next !== "reauthorize") throw error;
			// The service builds only with an authorization. None is sent, because a signed one could be used.
			const state = await getDelegation(client, { chainId: originChain, walletAddress: wallet });
			const { delegate } = compareDelegation(pins, originChain, state, intent);
			verified = {
				isVerified: false,
				why: `the wallet needs a delegation on ${from.chain.name}; the op can be built and verified only after it is signed`,
				delegation: { chainId: originChain, delegate },
			};
		}
	}

	const { isVerified, ...rest } = verified;
	const verdict: Line[] = [
		verified.isVerified
			? ["verified", `${verified.what} is what was requested`]
			: ["not built", verified.why],
	];
	if (verified.delegation) {
		verdict.push(["would sign", `first a delegation to ${verified.delegation.delegate}, as pinned`]);
		verdict.push(["", "then the op, after comparing it with the terms above"]);
	}
	await output.result(
		{
			dryRun: true,
			verified: isVerified,
			...rest,
			from: { ...assetJson(from), amount, wallet },
			to: assetJson(to),
			quote: quoteJson(quote),
		},
		[
			...giveLines({ from, amount, wallet }),
			...getLines({ to, quote }),
			...costLines(quote),
			...acceptanceLines({
				to,
				quote,
				floor: stableFloor(pins, { ...asked, amount }),
				minOutput: minOutput ?? receive,
			}),
			...verdict,
			"Nothing was signed or sent.",
		],
	);
	return exitCode.done;
}
