import { fromSwapId, type SwapUuid, swapUuidTimeMs } from "@geoswap/protocol";
import type { Address } from "viem";
import { CliError } from "./cli-error.ts";
import type { LoadedConfig } from "./config.ts";
import type { Context } from "./context.ts";
import { type Intents, openIntents } from "./intents.ts";
import { findChain, type PinnedChain } from "./pinned-assets.ts";
import { checkAddress, readWallet } from "./wallet.ts";

/** The orders that `rescue` searches for, and their chain. */
export type Search = {
	chain: PinnedChain;
	wallet: Address;
	sinceMs: number;
	swap?: { id: string; uuid: SwapUuid };
};

const dayMs = 86_400_000;
/** The time in a quote's id is from the service's clock, and a block's time from the chain's. */
const clockToleranceMs = 120_000;

export async function readSearch(
	{ config, keys }: { config: LoadedConfig; keys: Context["keys"] },
	{
		id,
		chain: chainText,
		wallet: walletText,
		days,
	}: { id?: string; chain?: string; wallet?: string; days: string },
): Promise<Search> {
	const intents = openIntents(config.home);
	const intentId = id?.startsWith("swp_") ? (await intents.idsBySwap()).get(id) : id;
	const intent = intentId === undefined ? undefined : await intents.find(intentId);
	if (id !== undefined && !id.startsWith("swp_") && !intent) {
		throw rescueUsage(
			`${id} was not started on this machine. Pass its swap id (swp_…), or --wallet and --chain.`,
		);
	}
	const chainName = chainText ?? (intent && String(intent.originChain));
	if (chainName === undefined) throw rescueUsage("Pass the chain that the input was on, with --chain.");
	const chain = findChain(config.pins, chainName);
	const wallet = (
		walletText === undefined && intent
			? checkAddress("--wallet", chain, intent.walletAddress)
			: await readWallet(keys, chain, walletText)
	) as Address;
	const swapId = id?.startsWith("swp_") ? id : await swapIdOf(intents, intentId);
	const uuid = swapId === undefined ? undefined : fromSwapId(swapId);
	if (id?.startsWith("swp_") && uuid === undefined) throw rescueUsage(`${id} is not a swap's id.`);
	if (!/^[1-9]\d{0,4}$/.test(days)) throw rescueUsage("--days must be a number of days, such as 30.");
	const sinceMs = Math.min(
		uuid ? swapUuidTimeMs(uuid) - clockToleranceMs : Date.now() - Number(days) * dayMs,
		Date.now(),
	);
	return { chain, wallet, sinceMs, ...(uuid && swapId !== undefined && { swap: { id: swapId, uuid } }) };
}

async function swapIdOf(intents: Intents, intentId: string | undefined): Promise<string | undefined> {
	if (intentId === undefined) return undefined;
	const state = await intents.recordOf(intentId);
	return "swapId" in state ? state.swapId : undefined;
}

export function rescueUsage(message: string): CliError {
	return new CliError(`${message} See geoswap rescue --help.`, { code: "USAGE", section: "exit-codes" });
}
