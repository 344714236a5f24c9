import {
	fromSwapKey,
	leavesTimeToSettle,
	type Order,
	orderId,
	ourContracts,
	swapUuidTimeMs,
	toSolanaWord,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import { type Hex, zeroHash } from "viem";
import { type ChainConfig, chainOf } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { attesterSetOf } from "../../swap/decide/swap-policy.ts";

/** Bounds of the time after its quote during which an order can be opened, in any configuration. */
const openSeconds = { least: 60, most: 900 };
const uuidV7 = /^.{14}7.{4}[89ab]/;

/** The terms of an order that was opened, or that is claimed to have been opened. */
export type OpenedOrder = { orderId: Hex; order: Order };

/**
 * Returns why an order that is open in one of our escrows cannot be one that the service quoted; undefined if it can.
 * Anyone may open an order with any terms there. The service can handle only orders with contracts, attesters and
 * assets of its own. Words are compared as they are, because a stranger's need not be addresses, nor the ids of chains.
 */
export function whyNotOurs(
	{ orderId: id, order }: OpenedOrder,
	config: Pick<Config, "chains" | "deployment" | "earlierAttesterSets">,
): string | undefined {
	if (orderId(order) !== id) return "its id does not match its terms";
	const origin = chainOf(config, order.originChainId);
	const destination = chainOf(config, order.destinationChainId);
	if (!origin || !destination) return "one of its chains is not the service's";
	const [here, there] = [wordsOf(origin), wordsOf(destination)];
	if (!isAmong(here.escrows, order.escrow)) return "the escrow is not the service's";
	if (!isAmong(here.vaults, order.originVault)) return "the origin vault is not the service's";
	if (!isAmong(there.vaults, order.destinationVault)) return "the destination vault is not the service's";
	if (!attesterSetOf(config, order.attesterSet)) return "the attester set is not the service's";
	if (!isAmong(here.assets, order.inputToken)) return "the input is not an asset of the service";
	if (!isAmong(there.assets, order.outputToken)) return "the output is not an asset of the service";
	// The native token has the same word on every chain.
	const hasNative = isAmong(there.assets, zeroHash);
	if (order.topUp !== 0n && !hasNative) return "its top-up is not in an asset of the service";
	if (!isQuoted(order)) return "its swap key is not one of a quote";
	const finalitySeconds = BigInt(origin.finalitySeconds + destination.finalitySeconds);
	return leavesTimeToSettle(unpackDeadlines(order.deadlines), finalitySeconds)
		? undefined
		: "its deadlines are not those of a quote";
}

/** Returns whether its id was made when it was quoted, and it could be opened for some minutes from then on. */
function isQuoted({ swapKey, deadlines }: Order): boolean {
	if (BigInt(swapKey) >> 128n !== 0n) return false;
	const uuid = fromSwapKey(swapKey);
	const quotedAt = Math.floor(swapUuidTimeMs(uuid) / 1_000);
	const openFor = Number(unpackDeadlines(deadlines).openDeadline) - quotedAt;
	return uuidV7.test(uuid) && openFor >= openSeconds.least && openFor <= openSeconds.most;
}

/** Returns the contracts and assets that an order of the service can name on a chain, each as its word. */
function wordsOf(chain: ChainConfig): Record<"escrows" | "vaults" | "assets", readonly Hex[]> {
	if (chain.kind === "solana") {
		const { program, assets } = chain.deployment;
		return {
			escrows: [toSolanaWord(program.address)],
			vaults: [toSolanaWord(program.vault)],
			assets: assets.map(({ address }) => toSolanaWord(address)),
		};
	}
	const { escrows, vaults } = ourContracts(chain.deployment);
	return {
		escrows: escrows.map((address) => toWord(address)),
		vaults: vaults.map((address) => toWord(address)),
		assets: chain.deployment.assets.map(({ address }) => toWord(address)),
	};
}

function isAmong(ours: readonly Hex[], word: Hex): boolean {
	return ours.some((one) => one.toLowerCase() === word.toLowerCase());
}
