import { devnetKeys } from "@geoswap/contracts";
import type { Address, Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";

/** Development private keys. Everyone can derive them. */
export type DevnetKeys = {
	deployer: Hex;
	guardian: Hex;
	treasury: Hex;
	/** May have the vault trade, send and bridge, within its caps. */
	treasurer: Hex;
	relayers: Hex[];
	/** In ascending order of their addresses, as the attester set lists them. */
	attesters: Hex[];
	/** Wallets that hold tokens and not one wei. */
	wallets: Hex[];
	/** The key that signs receipts. It owns nothing. */
	receipt: Hex;
};

/**
 * The market trades against the pools and provides their liquidity; the feed keeper posts to the feeds. Their calls are
 * sent without a signature.
 */
export type DevnetActors = { market: Address; feedKeeper: Address };

const relayerCount = 4;
const attesterCount = 3;
const walletCount = 10;

let derived: (DevnetKeys & { actors: DevnetActors }) | undefined;

export function deriveDevnetKeys(): DevnetKeys & { actors: DevnetActors } {
	derived ??= derive();
	return derived;
}

function derive(): DevnetKeys & { actors: DevnetActors } {
	const count = 7 + relayerCount + attesterCount + walletCount;
	const all = devnetKeys(Array.from({ length: count }, (_, i) => i));
	const take = (n: number) => all.splice(0, n);
	const [deployer, guardian, treasury, market, feedKeeper] = take(5) as [Hex, Hex, Hex, Hex, Hex];
	const keys = {
		deployer,
		guardian,
		treasury,
		relayers: take(relayerCount),
		attesters: take(attesterCount).sort((a, b) =>
			BigInt(privateKeyToAddress(a)) < BigInt(privateKeyToAddress(b)) ? -1 : 1,
		),
		wallets: take(walletCount),
		actors: { market: privateKeyToAddress(market), feedKeeper: privateKeyToAddress(feedKeeper) },
	};
	const [receipt, treasurer] = take(2) as [Hex, Hex];
	return { ...keys, receipt, treasurer };
}
