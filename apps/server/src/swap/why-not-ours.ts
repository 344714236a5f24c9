import {
	addressOfWord,
	fromSwapKey,
	isSolana,
	type Order,
	orderId,
	swapUuidTimeMs,
	toChainId,
	toSolanaWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { ourContracts } from "../chain/evm/our-contracts.ts";
import type { Config } from "../config.ts";
import { attesterSetOf } from "./swap-policy.ts";

/** No order of ours can be opened for longer after its quote. */
const longestOpenMs = 86_400_000;

/**
 * Why an order that is open in an escrow of ours cannot be one that we quoted; undefined where it can. Anyone may open an
 * order of any terms there: only contracts, attesters and assets of ours make it one that we can see to.
 */
export function whyNotOurs(
	{ orderId: id, order }: { orderId: Hex; order: Order },
	config: Pick<Config, "chains" | "solana" | "deployment" | "earlierAttesterSets">,
): string | undefined {
	if (orderId(order) !== id) return "its id is not its terms'";
	const origin = contractsOf(config, order.originChainId);
	const destination = contractsOf(config, order.destinationChainId);
	if (!origin || !destination) return "a chain is not ours";
	const escrow = addressOfWord(order.originChainId, order.escrow);
	if (!isAmong(origin.escrows, escrow)) return "the escrow is not ours";
	if (!isAmong(origin.vaults, addressOfWord(order.originChainId, order.originVault))) {
		return "the origin vault is not ours";
	}
	if (!isAmong(destination.vaults, addressOfWord(order.destinationChainId, order.destinationVault))) {
		return "the destination vault is not ours";
	}
	if (!attesterSetOf(config, order.attesterSet)) return "the attester set is not ours";
	if (!isAmong(origin.assets, addressOfWord(order.originChainId, order.inputToken))) {
		return "the input is no asset of ours";
	}
	if (!isAmong(destination.assets, addressOfWord(order.destinationChainId, order.outputToken))) {
		return "the output is no asset of ours";
	}
	return isQuoted(order) ? undefined : "its key is not that of a quote";
}

/** Its id was made when it was quoted, shortly before it could be opened at the latest. */
function isQuoted({ swapKey, deadlines }: Order): boolean {
	if (BigInt(swapKey) >> 128n !== 0n) return false;
	const openForMs =
		Number(unpackDeadlines(deadlines).openDeadline) * 1_000 - swapUuidTimeMs(fromSwapKey(swapKey));
	return openForMs >= 0 && openForMs <= longestOpenMs;
}

type Contracts = { escrows: readonly Hex[]; vaults: readonly Hex[]; assets: readonly Hex[] };

function contractsOf(
	{ chains, solana }: Pick<Config, "chains" | "solana">,
	chainId: bigint,
): Contracts | undefined {
	if (isSolana(chainId)) {
		// Nothing is opened there that a contract tells of.
		return (
			solana && {
				escrows: [],
				vaults: [toSolanaWord(solana.deployment.vault)],
				assets: solana.deployment.assets.map(({ address }) => toSolanaWord(address)),
			}
		);
	}
	const chain = chains.find((candidate) => candidate.chainId === toChainId(chainId));
	return (
		chain && {
			...ourContracts(chain.deployment),
			assets: chain.deployment.assets.map(({ address }) => address),
		}
	);
}

function isAmong(ours: readonly Hex[], address: Hex): boolean {
	return ours.some((one) => one.toLowerCase() === address.toLowerCase());
}
