import { addressOfWord, type Order } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { DenyMetrics, DenyPlace, Party } from "../telemetry/deny-metrics.ts";

/** The addresses of a swap that are looked up, each in the internal form of its chain. */
export type Parties = Record<Party, Hex>;

/** The operator's list of addresses that the service does not swap for. */
export type DenyList = {
	/**
	 * Returns the party that is denied, `silent` if that could not be found out in time, or undefined if both parties
	 * are served. Reads only memory if the list is a file, or if both answers are cached. Never rejects.
	 */
	findDenied: (parties: Parties, place: DenyPlace) => Promise<Party | "silent" | undefined>;
	close: () => Promise<void>;
};

/** A place that the list is kept at. */
export type DenySource = {
	/** Returns whether an address is denied; undefined if that could not be found out in time. */
	isDenied: (address: Hex) => boolean | undefined | Promise<boolean | undefined>;
	close: () => Promise<void>;
};

export function partiesOf({ originChainId, destinationChainId, wallet, recipient }: Order): Parties {
	return {
		wallet: addressOfWord(originChainId, wallet),
		recipient: addressOfWord(destinationChainId, recipient),
	};
}

export function createDenyList(source: DenySource, metrics?: DenyMetrics): DenyList {
	return {
		async findDenied({ wallet, recipient }, place) {
			const answers = await Promise.all([source.isDenied(keyOf(wallet)), source.isDenied(keyOf(recipient))]);
			const [isWalletDenied, isRecipientDenied] = answers;
			const denied = isWalletDenied ? "wallet" : isRecipientDenied ? "recipient" : undefined;
			if (denied) metrics?.refused(place, denied);
			return denied ?? (answers.includes(undefined) ? "silent" : undefined);
		},
		close: () => source.close(),
	};
}

/** Addresses are compared in lower case. An EVM address has 20 bytes, and a Solana address has 32. */
function keyOf(address: Hex): Hex {
	return address.toLowerCase() as Hex;
}
