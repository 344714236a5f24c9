import { createClient, type EndedSwap, GeoswapError, waitForSwap } from "@geoswap/sdk";
import { signSwap, submitSigned } from "../caller/do-swap.ts";
import { joinEnvironment } from "../environment/environment.ts";
import { keepPace, type Run, type SwapsResult } from "./keep-pace.ts";
import type { Reach, SwapsLoad } from "./load.ts";
import { swapWallets } from "./swap-wallets.ts";
import { usdcIntent } from "./usdc-intent.ts";

const preparedAtOnce = 8;

/** Quotes, builds and signs swaps, each with its own wallet, and submits them at the parent's request. */
export async function timeSwaps(
	{ environment: address, count, amount, pace }: SwapsLoad,
	reach: Reach,
): Promise<SwapsResult> {
	const environment = joinEnvironment(address);
	const { origin, deployment: pins, baseUrl, apiKey } = environment;
	const client = createClient({ baseUrl, apiKey });
	const accounts = await swapWallets(origin, { count, amount: BigInt(amount) });
	await reach("funded");

	const runs: Run[] = [];
	const left = accounts.values();
	const preparer = async () => {
		for (const account of left) {
			const caller = { client, pins, account };
			const intent = usdcIntent(environment, { account, amount: BigInt(amount) });
			const signed = await unlessRefused(() => signSwap(caller, intent));
			runs.push(async () => {
				const submitted = signed && (await unlessRefused(() => submitSigned(caller, signed)));
				if (!submitted) return "refused";
				const { swapId } = submitted;
				let ended: EndedSwap | undefined;
				while (!ended) ended = await unlessRefused(() => waitForSwap(client, swapId));
				if (ended.status !== "settled") throw new Error(`swap ${swapId} is ${ended.status}`);
				return "settled";
			});
		}
	};
	await Promise.all(Array.from({ length: preparedAtOnce }, preparer));
	await reach("prepared");
	return keepPace(runs, pace);
}

async function unlessRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
	try {
		return await ask();
	} catch (error) {
		if (error instanceof GeoswapError) return undefined;
		throw error;
	}
}
